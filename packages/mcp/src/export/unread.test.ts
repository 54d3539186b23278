import { PassThrough } from "node:stream"
import { CallGate, defineTool, ToolRegistry } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { mcpOverStdio } from "./stdio.ts"

const CALLS = 250
const LENGTH = 100_000
const DESCRIPTION = "d".repeat(10_000)

interface Answer {
  id?: unknown
  result?: { isError?: boolean; content?: { text: string }[] }
}

/** A registry, and what its tools have been asked to do. */
function toolsAtWork() {
  const seen = { begun: 0, aborted: [] as unknown[] }
  const registry = new ToolRegistry()
  const add = (name: string, effects: object, execute: (args: object, signal: AbortSignal) => unknown): void => {
    const parameters = { type: "object", properties: { who: {} } } as const
    const run = (args: object, { signal }: { signal: AbortSignal }): unknown => {
      seen.begun++
      return execute(args, signal)
    }
    registry.register(defineTool({ name, description: DESCRIPTION, parameters, effects, execute: run as never }))
  }
  add("read", { readOnly: true }, () => "x".repeat(LENGTH))
  add("write", { readOnly: false }, async () => {
    await turns(1)
    return "x".repeat(LENGTH)
  })
  add("quick", {}, () => turns(1))
  add("hang", {}, ({ who }: { who?: unknown }, signal) => {
    return new Promise(() => signal.addEventListener("abort", () => seen.aborted.push(who)))
  })
  return { registry, seen }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Far more than they take while others fill all cores; what never comes is told after it. */
const PATIENCE_MS = 30_000

/** Waits for the server to end, and says so where it does not. */
async function over(ended: Promise<void>): Promise<void> {
  let has = false
  void ended.then(() => (has = true))
  await expect.poll(() => has, { timeout: PATIENCE_MS, message: "the server has ended" }).toBe(true)
}

/** A host that has greeted the server, and reads what it is answered where it is let. */
async function host(gate = new CallGate()) {
  const { registry, seen } = toolsAtWork()
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = mcpOverStdio({ tools: registry, gate, streams: { input, output } }, new AbortController().signal)
  const answers = new Map<unknown, Answer>()
  let text = ""
  output.on("data", (piece: Buffer) => {
    const lines = (text + piece.toString()).split("\n")
    text = lines.pop()!
    for (const message of lines.map((line) => JSON.parse(line) as Answer)) answers.set(message.id, message)
  })
  onTestFinished(() => {
    output.resume()
    input.end()
    return over(ended)
  }, PATIENCE_MS + 5000)
  const send = (message: object): boolean => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const call = (id: unknown, name: string, more: object = {}): boolean =>
    send({ id, method: "tools/call", params: { name, arguments: { who: id }, ...more } })
  const answered = async (count: number): Promise<void> => {
    await expect.poll(() => answers.size, { timeout: PATIENCE_MS, message: "answers" }).toBe(count)
  }
  const clientInfo = { name: "host", version: "1" }
  send({ id: "hello", method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } })
  await answered(1)
  send({ method: "notifications/initialized" })
  send({ id: "ping", method: "ping" })
  await answered(2)
  answers.clear()
  return { input, output, send, call, answers, answered, seen, ended }
}

const sizes = (answers: ReadonlyMap<unknown, Answer>) =>
  [...answers.values()].map(({ result }) => (result?.isError === true ? result : result?.content?.[0]?.text.length))

test.each([
  ["reads", "read", {}],
  ["other calls", "write", {}],
  ["reads that the protocol's library answers", "read", { unknown: true }],
  ["other calls that the protocol's library answers", "write", { unknown: true }],
])("a host that reads nothing has its %s wait in bounded memory, and all are answered later", async (_, name, more) => {
  const { output, call, answers, answered, seen } = await host()
  output.pause()
  for (let id = 0; id < CALLS; id++) call(id, name, more)
  // Far more turns than they take where nothing holds them up.
  await turns(2000)
  expect(output.writableLength).toBeGreaterThan(4 * 1024 * 1024)
  expect(output.writableLength).toBeLessThan(4 * 1024 * 1024 + 66 * LENGTH)
  expect(seen.begun).toBeLessThan(CALLS / 2)
  output.resume()
  await answered(CALLS)
  expect(new Set(sizes(answers))).toEqual(new Set([LENGTH]))
})

test("other requests of a host that reads nothing are not answered without end either", async () => {
  const { output, send, answers, answered } = await host()
  output.pause()
  for (let id = 0; id < 400; id++) send({ id, method: "tools/list" })
  await turns(2000)
  expect(output.writableLength).toBeLessThan(4 * 1024 * 1024 + 70 * 5 * DESCRIPTION.length)
  output.resume()
  await answered(400)
  expect(answers.get(399)?.result).toHaveProperty("tools")
})

test("nor are short ones, of which each keeps more than its text", async () => {
  const { output, send, answers, answered } = await host()
  output.pause()
  for (let id = 0; id < 8000; id++) send({ id, method: "ping" })
  await turns(2000)
  expect(output.listenerCount("drain")).toBeLessThan(2000 + 70)
  output.resume()
  await answered(8000)
  expect(answers.get(7999)?.result).toEqual({})
})

test.each([
  ["those that are answered here", {}],
  ["those of the protocol's library", { unknown: true }],
])("more calls than run at once wait for their turn and are not refused: %s", async (_, more) => {
  const { call, answers, answered } = await host(new CallGate({ maxCalls: 8 }))
  for (let id = 0; id < 400; id++) call(id, "quick", more)
  await answered(400)
  expect([...answers.values()].filter(({ result }) => result?.isError === true)).toEqual([])
})

test("what waits can be broken off, what runs too, and others are heard meanwhile", async () => {
  const { input, send, call, answered, answers, seen, ended } = await host(new CallGate({ maxCalls: 8 }))
  for (let id = 0; id < 400; id++) call(id, "hang")
  const cancel = (requestId: number) => send({ method: "notifications/cancelled", params: { requestId } })
  // One runs, one waits to run, one was not begun at all.
  for (const id of [0, 100, 399]) cancel(id)
  send({ id: "still there?", method: "ping" })
  await answered(1)
  for (let id = 1; id < 399; id++) cancel(id)
  call("last", "read")
  await answered(2)
  expect([...answers.keys()]).toEqual(["still there?", "last"])
  expect(seen.aborted).not.toContain(399)
  input.end()
  await over(ended)
})

test("what a host breaks off while it reads nothing is broken off", async () => {
  const { output, send, call, answers, answered, seen } = await host()
  call("running", "hang")
  output.pause()
  for (let id = 0; id < CALLS; id++) call(id, "read")
  await turns(500)
  send({ method: "notifications/cancelled", params: { requestId: "running" } })
  send({ method: "notifications/cancelled", params: { requestId: CALLS - 1 } })
  await turns(500)
  expect(seen.aborted).toEqual(["running"])
  output.resume()
  await answered(CALLS - 1)
  expect(answers.has(CALLS - 1)).toBe(false)
})

test.each(["sends no more", "reads no more"])("a host that reads nothing and then %s is left", async (how) => {
  const { input, output, call, ended } = await host()
  output.pause()
  for (let id = 0; id < 20_000; id++) call(id, "read")
  await turns(500)
  // So much of it is not read that its end could not be seen.
  expect(input.readableLength + input.writableLength).toBeGreaterThan(0)
  if (how === "reads no more") output.destroy()
  else input.destroy()
  await over(ended)
})
