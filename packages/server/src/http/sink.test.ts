import { once } from "node:events"
import { connect } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { createScriptedBackend, wrapBackend, type InferEvent } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import { expect, onTestFinished, test, vi } from "vitest"
import { createApp, gatewayRoutes, listen } from "../index.ts"

const MESSAGES = [{ role: "user", content: "Go on" }]
const PARAMETERS = { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
const TOOL = { name: "write", description: "Writes", parameters: PARAMETERS }
const OPENAI_TOOLS = [{ type: "function", function: TOOL }]

/** How each wire asks for a stream. */
const WIRES: [string, object][] = [
  ["/v1/chat/completions", { messages: MESSAGES, tools: OPENAI_TOOLS }],
  ["/v1/responses", { input: "Go on", tools: [{ type: "function", ...TOOL }] }],
  ["/v1/messages", { messages: MESSAGES, max_tokens: 99, tools: [{ ...TOOL, input_schema: PARAMETERS }] }],
  ["/api/chat", { messages: MESSAGES, tools: OPENAI_TOOLS }],
]

/** A model that writes these pieces, each by itself; without end where it is told so. */
function serving(pieces: readonly string[], endless = false) {
  const state = { told: 0, over: 0 }
  const scripted = createScriptedBackend({ model: "qwen2.5-7b", abilities: { nativeTools: false }, steps: [] })
  const backend = wrapBackend(scripted, {
    async *infer(): AsyncGenerator<InferEvent> {
      try {
        const last = endless ? Number.POSITIVE_INFINITY : pieces.length
        for (let at = 0; at < last; at++) {
          await turn()
          state.told++
          yield { type: "text-delta", text: pieces[at % pieces.length]! }
        }
        yield { type: "end", finishReason: "stop" }
      } finally {
        state.over++
      }
    },
  })
  const app = createApp({ tools: new ToolRegistry() }, (one) => gatewayRoutes(one, { backend }))
  return { app, state }
}

function asked(path: string, body: object): [string, RequestInit] {
  const headers = { host: "localhost", "content-type": "application/json" }
  return [path, { method: "POST", headers, body: JSON.stringify({ model: "m", stream: true, ...body }) }]
}

/** A stream without what differs from answer to answer: ids and times. */
function plain(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|call_[0-9a-f]{24}/g, "ID")
    .replaceAll(/"(created|created_at|\w+_duration)":("[^"]*"|\d+)/g, '"$1":0')
}

test.each(WIRES)(
  "what a socket gets of %s is what the web's response is, however the model cuts it",
  async (path, body) => {
    const [call] = formatterById("hermes")
      .printCalls([{ id: "a", name: "write", arguments: { text: "grün" } }], [])
      .split("\0")
    const reply = `I write it.\n${call}`
    for (const size of [1, 7, reply.length]) {
      const pieces = Array.from({ length: Math.ceil(reply.length / size) }, (_, at) =>
        reply.slice(at * size, (at + 1) * size),
      )
      const { app } = serving(pieces)
      await using server = await listen(app, { port: 0, secured: false })
      const [page, init] = asked(path, body)
      const told = await fetch(server.url + page, { ...init, headers: { "content-type": "application/json" } })
      const inApp = await app.request(`http://localhost${page}`, init)
      const names = ["content-type", "cache-control", "x-accel-buffering", "x-routing-mode"]
      expect(names.map((name) => told.headers.get(name))).toEqual(names.map((name) => inApp.headers.get(name)))
      const text = plain(await told.text())
      expect(text).toBe(plain(await inApp.text()))
      expect(text).toContain("grün")
    }
  },
)

test("a client that leaves ends the answer, and one that reads nothing is not written to", async () => {
  const { app, state } = serving(["x".repeat(20_000)], true)
  const server = await listen(app, { port: 0, secured: false })
  onTestFinished(() => server.close())
  const silent = connect(server.port, "127.0.0.1")
  silent.on("error", () => {})
  silent.pause()
  await once(silent, "connect")
  const text = JSON.stringify({ model: "m", stream: true, messages: MESSAGES })
  silent.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ` +
      `${text.length}\r\n\r\n${text}`,
  )
  // What the model has told stops growing once what stands between is full.
  let before = -1
  await vi.waitFor(
    () => {
      const still = state.told === before && state.told > 0
      before = state.told
      expect(still).toBe(true)
    },
    { timeout: 30_000, interval: 300 },
  )
  expect(state.told * 20_000).toBeLessThan(64 * 1024 * 1024)
  silent.destroy()
  await vi.waitFor(() => expect(state.over).toBe(1), { timeout: 30_000 })
})

test("an answer that nobody takes for as long as was said ends, and others are told on meanwhile", async () => {
  const { app, state } = serving(["x".repeat(20_000)], true)
  const server = await listen(app, { port: 0, secured: false, stallMs: 1_500, drainMs: 10 })
  onTestFinished(() => server.close())
  const [path, { body }] = asked("/v1/chat/completions", { messages: MESSAGES })
  const silent = connect(server.port, "127.0.0.1")
  silent.on("error", () => {})
  silent.pause()
  await once(silent, "connect")
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: `
  silent.write(`${head}${(body as string).length}\r\n\r\n${body as string}`)
  await vi.waitFor(() => expect(state.told).toBeGreaterThan(0), { timeout: 30_000 })

  const leaving = new AbortController()
  const headers = { "content-type": "application/json" }
  const told = await fetch(server.url + path, { method: "POST", headers, body: body!, signal: leaving.signal })
  let bytes = 0
  // The first one is gone before the second, who reads on, has to be.
  for await (const piece of told.body!) {
    bytes += piece.length
    if (state.over > 0 && bytes > 4_000_000) break
  }
  expect(state.over).toBe(1)
  leaving.abort()
  await vi.waitFor(() => expect(state.over).toBe(2), { timeout: 30_000 })
  silent.destroy()
})
