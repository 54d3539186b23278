import type { Transport } from "@modelcontextprotocol/client"
import { expect, test } from "vitest"
import { DirectRequests } from "./direct-requests.ts"

/** A transport that only notes what is sent, under the library that only notes what it hears. */
function stand(send: (message: object) => Promise<void> = async () => {}) {
  const sent: { id?: unknown; method?: string; params?: Record<string, unknown> }[] = []
  const library: unknown[] = []
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: (message) => {
      sent.push(message as never)
      return send(message)
    },
    onmessage: (message) => void library.push(message),
  }
  const steps: unknown[] = []
  const direct = new DirectRequests(transport)
  const call = (signal = new AbortController().signal, name = "a") =>
    direct.call({ name, arguments: {} }, { signal, onprogress: (step) => steps.push(step) })
  const hear = (message: object): void => transport.onmessage!({ jsonrpc: "2.0", ...message } as never)
  return { transport, sent, library, steps, call, hear }
}

test("answers and steps come to the calls that they belong to, and all else to the library", async () => {
  const { sent, library, steps, call, hear } = stand()
  const [first, second] = [call(), call(undefined, "b")]
  const [one, two] = sent.map(({ id }) => id)
  expect(sent[1]).toMatchObject({ method: "tools/call", params: { name: "b", _meta: { progressToken: two } } })
  const progress = { method: "notifications/progress", params: { progressToken: one, progress: 1, message: "half" } }
  const others = [
    { id: 3, result: {} },
    { id: String(one), result: {} },
    { method: "notifications/progress", params: { progressToken: 3, progress: 1 } },
    { id: one, result: "none" },
    { method: "notifications/tools/list_changed" },
    { id: 9, method: "ping" },
  ]
  for (const message of [progress, ...others]) hear(message)
  hear({ id: two, error: { code: -32602, message: "no such tool" } })
  hear({ id: one, result: { content: [] } })
  hear({ id: one, result: { content: ["again"] } })
  expect(await first).toEqual({ content: [] })
  await expect(second).rejects.toMatchObject({ message: "no such tool", code: -32602 })
  expect(steps).toEqual([{ progress: 1, message: "half" }])
  expect(library).toEqual([...others, { id: one, result: { content: ["again"] } }].map(withVersion))
})

const withVersion = (message: object): object => ({ jsonrpc: "2.0", ...message })

test("a call that its owner gives up is told to the server, and its late answer is nobody's", async () => {
  const { sent, library, call, hear } = stand()
  const controller = new AbortController()
  const calling = call(controller.signal)
  controller.abort("enough")
  await expect(calling).rejects.toThrow("enough")
  const [{ id } = {}] = sent
  expect(sent[1]).toMatchObject({
    method: "notifications/cancelled",
    params: { requestId: id, reason: "enough" },
  })
  hear({ id, result: {} })
  expect(library).toHaveLength(1)
  await expect(call(controller.signal)).rejects.toThrow("enough")
  expect(sent).toHaveLength(2)
})

test("calls end with their connection, and where they cannot be sent", async () => {
  const { transport, call } = stand()
  const calling = call()
  transport.onclose!()
  await expect(calling).rejects.toMatchObject({ name: "ConnectionLost" })
  await expect(call()).rejects.toMatchObject({ name: "ConnectionLost" })
  const deaf = stand(() => Promise.reject(new Error("The server process has ended.")))
  await expect(deaf.call()).rejects.toMatchObject({ message: "The server process has ended.", name: "ConnectionLost" })
})
