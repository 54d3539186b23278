import { PassThrough } from "node:stream"
import { defineTool, executeCall, success, ToolRegistry } from "@toolwright/toolbox"
import { expect, onTestFinished, test, vi } from "vitest"
import { mcpOverStdio, type McpStdioOptions } from "./stdio.ts"

type Message = Record<string, unknown> & { id?: unknown; params?: Record<string, unknown> }

const aborted: string[] = []
const registry = new ToolRegistry()
registry.register(
  defineTool({
    name: "greet",
    description: "Greets",
    parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
    outputSchema: { type: "object", properties: { text: { type: "string" }, key: {} } },
    execute: ({ who }, { progress, idempotencyKey }) => {
      progress({ message: `thinking of ${String(who)}` })
      return { text: `Hello ${String(who)}`, key: String(idempotencyKey).endsWith("/once") }
    },
  }),
)
registry.register(
  defineTool({
    name: "pictures",
    description: "",
    parameters: { type: "object" },
    execute: () =>
      success({ output: "two", metadata: { mcpContent: [{ type: "image", data: "AAAA", mimeType: "image/png" }] } }),
  }),
)
registry.register(
  defineTool({
    name: "fail",
    description: "",
    parameters: { type: "object" },
    execute: () => {
      throw new Error("It broke.")
    },
  }),
)
registry.register(
  defineTool({
    name: "hang",
    description: "",
    parameters: { type: "object", properties: { who: {} } },
    execute: ({ who }, { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => aborted.push(String(who)))),
  }),
)

/** A host that has greeted the server, and what it heard. */
async function host({ greets = true, ...more }: { greets?: boolean } & Partial<McpStdioOptions> = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = mcpOverStdio({ tools: registry, streams: { input, output }, ...more }, new AbortController().signal)
  const heard: Message[] = []
  let text = ""
  output.on("data", (piece: Buffer) => {
    text += piece.toString()
    const lines = text.split("\n")
    text = lines.pop()!
    heard.push(...lines.map((line) => JSON.parse(line) as Message))
  })
  onTestFinished(() => {
    input.end()
    return ended
  })
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const answerTo = async (id: unknown): Promise<Message> => {
    await vi.waitFor(() => expect(heard.some((message) => message.id === id)).toBe(true), { timeout: 10_000 })
    return heard.find((message) => message.id === id)!
  }
  if (greets) {
    const clientInfo = { name: "host", version: "1" }
    send({
      id: "hello",
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
    })
    await answerTo("hello")
    send({ method: "notifications/initialized" })
    send({ id: "ping", method: "ping" })
    await answerTo("ping")
  }
  return { input, heard, send, answerTo, ended }
}

const CALLS: readonly [string, object][] = [
  ["a success", { name: "greet", arguments: { who: "Ann" } }],
  ["one that tells of its progress", { name: "greet", arguments: { who: "Ann" }, _meta: { progressToken: "p" } }],
  ["one under a key", { name: "greet", arguments: { who: "Ann" }, _meta: { "toolwright/idempotencyKey": "once" } }],
  ["content of another server", { name: "pictures" }],
  ["a failure", { name: "fail", arguments: {} }],
  ["arguments that are missing", { name: "greet" }],
  ["a tool that is not there", { name: "greed", arguments: { who: "Ann" } }],
]

test.each(CALLS)("of %s a host hears what the protocol's library would tell it", async (_, params) => {
  const heardOf = async (more: object): Promise<unknown[]> => {
    const { heard, send, answerTo } = await host()
    const before = heard.length
    send({ id: 7, method: "tools/call", params: { ...params, ...more } })
    await answerTo(7)
    return heard.slice(before)
  }
  // A field that is not the protocol's leaves a call to the library.
  expect(await heardOf({})).toEqual(await heardOf({ unknown: true }))
})

test("calls are answered whatever pieces they come in, among other messages and noise", async () => {
  const { input, send, answerTo } = await host()
  const call = (id: number, who: string): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "greet", arguments: { who } } })}\n`
  const long = "x".repeat(300_000)
  const bytes = Buffer.from(`no message\n\n${call(1, "Ä€😀")}[]\nnull\n${call(2, "Ben")}`)
  for (let at = 0; at < bytes.length; at += 3) input.write(bytes.subarray(at, at + 3))
  input.write(`${call(3, long).slice(0, 200_000)}`)
  input.write(`${call(3, long).slice(200_000)}${call(4, "Dan")}`)
  send({ id: 5, method: "tools/list" })
  const said = async (id: number): Promise<unknown> =>
    ((await answerTo(id)).result as { structuredContent: { text: string } }).structuredContent.text
  expect(await said(1)).toBe("Hello Ä€😀")
  expect(await said(2)).toBe("Hello Ben")
  expect(await said(3)).toBe(`Hello ${long}`)
  expect(await said(4)).toBe("Hello Dan")
  expect((await answerTo(5)).result).toMatchObject({ tools: expect.any(Array) })
})

test("a call is broken off by its host, who hears no more of it, and by the host's end", async () => {
  aborted.length = 0
  const { input, heard, send, answerTo, ended } = await host()
  send({ id: 1, method: "tools/call", params: { name: "hang", arguments: { who: "first" } } })
  send({ id: "two", method: "tools/call", params: { name: "hang", arguments: { who: "second" } } })
  send({ id: 3, method: "ping" })
  await answerTo(3)
  send({ method: "notifications/cancelled", params: { requestId: 99 } })
  send({ method: "notifications/cancelled", params: { requestId: 1, reason: "no longer wanted" } })
  await vi.waitFor(() => expect(aborted).toEqual(["first"]), { timeout: 10_000 })
  send({ id: 4, method: "tools/call", params: { name: "greet", arguments: { who: "Ann" } } })
  await answerTo(4)
  input.end()
  await ended
  expect(aborted).toEqual(["first", "second"])
  expect(heard.filter(({ id }) => id === 1 || id === "two")).toEqual([])
})

test("calls that the host's end breaks off are waited for until they are on record, whoever answers them", async () => {
  const recorded: string[] = []
  const { input, send, answerTo, ended } = await host({
    executeCall: async (...call) => {
      const result = await executeCall(...call)
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      recorded.push(String(result.error?.code))
      return result
    },
  })
  send({ id: 1, method: "tools/call", params: { name: "hang", arguments: {} } })
  send({ id: 2, method: "tools/call", params: { name: "hang", arguments: { who: "x".repeat(300_000) } } })
  send({ id: 3, method: "ping" })
  await answerTo(3)
  input.end()
  await ended
  expect(recorded).toEqual(["CANCELLED", "CANCELLED"])
})

test("calls that come in the same breath as the greeting do not go the long way of the library", async () => {
  const { input, heard, answerTo, send } = await host({ greets: false })
  const clientInfo = { name: "host", version: "1" }
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }
  send({ id: "hello", method: "initialize", params })
  await answerTo("hello")
  const given = vi.spyOn(PassThrough.prototype, "write")
  onTestFinished(() => given.mockRestore())
  const calls = [1, 2, 3].map((id) => ({
    id,
    method: "tools/call",
    params: { name: "greet", arguments: { who: "Ann" } },
  }))
  const lines = [{ method: "notifications/initialized" }, ...calls].map((one) => ({ jsonrpc: "2.0", ...one }))
  input.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  for (const { id } of calls)
    expect(await answerTo(id)).toMatchObject({ result: { structuredContent: { text: "Hello Ann" } } })
  const toLibrary = given.mock.calls.map(([piece]) => String(piece)).filter((piece) => piece.endsWith("}\n"))
  expect(
    toLibrary.filter((piece) => piece.startsWith('{"jsonrpc":"2.0","id"') && piece.includes("tools/call")),
  ).toEqual([])
  expect(heard.filter(({ id }) => typeof id === "number").map(({ id }) => id)).toEqual([1, 2, 3])
})

test("calls after a greeting that is none are answered all the same", async () => {
  const { send, answerTo } = await host({ greets: false })
  send({ method: "notifications/initialized" })
  send({ id: 1, method: "tools/call", params: { name: "greet", arguments: { who: "Ann" } } })
  expect(await answerTo(1)).toMatchObject({ result: { structuredContent: { text: "Hello Ann" } } })
})

test("a host that calls before it greets is answered by the library", async () => {
  const { send, answerTo } = await host({ greets: false })
  send({ id: 1, method: "tools/call", params: { name: "greet", arguments: { who: "Ann" } } })
  expect(await answerTo(1)).toMatchObject({ result: { structuredContent: { text: "Hello Ann" } } })
})

test("what is no call by the protocol is told so", async () => {
  const { send, answerTo } = await host()
  send({ id: 1, method: "tools/call", params: { name: 5 } })
  send({ id: 2, method: "tools/call", params: { name: "greet", arguments: ["Ann"] } })
  for (const id of [1, 2]) expect(await answerTo(id)).toMatchObject({ error: { code: expect.any(Number) } })
})

test("a message that is too long is refused by its id, and what comes after it is served", async () => {
  const { input, heard, answerTo, send } = await host()
  const long = "x".repeat(11 * 1024 * 1024)
  const params = `"params":{"name":"greet","arguments":{"who":"${long}"}}`
  input.write(`{"jsonrpc":"2.0","id":"first","method":"tools/call",${params}}\n`)
  input.write(`{"method":"tools/call",${params},"jsonrpc":"2.0","id":77}\n`)
  input.write(`{"jsonrpc":"2.0","method":"notifications/nothing",${params}}\n`)
  send({ id: "after", method: "tools/call", params: { name: "greet", arguments: { who: "you" } } })
  await answerTo("after")
  const refusals = heard.filter(({ error }) => error !== undefined)
  expect(refusals.map(({ id }) => id)).toEqual(["first", 77, null])
  expect(refusals[0]).toMatchObject({ error: { code: -32600, message: expect.stringContaining("longer than 10 MB") } })
})

test("a line without an end is not kept, and the host is served behind it", async () => {
  const { input, answerTo, send } = await host()
  const piece = Buffer.alloc(1024 * 1024, "[")
  for (let megabytes = 0; megabytes < 40; megabytes++)
    if (!input.write(piece)) await new Promise((resolve) => input.once("drain", resolve))
  input.write("\n")
  send({ id: "behind", method: "ping" })
  expect(await answerTo("behind")).toMatchObject({ result: {} })
})
