import { createOpenAICompatibleBackend, createScriptedBackend, serveBackend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes, type GatewayOptions } from "../../index.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]
type Body = Record<string, unknown>

function askerOf(backend: GatewayOptions["backend"]) {
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  return async (path: string, body?: object) => {
    const response = await app.request(`http://localhost${path}`, {
      headers: { host: "localhost", "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Body]))
    return { status: response.status, headers: response.headers, lines, body: lines[0]! }
  }
}

function gateway(steps: Steps) {
  const backend = createScriptedBackend({ model: "qwen2.5-7b", abilities: { nativeTools: false }, chunks: 3, steps })
  return { backend, ask: askerOf(backend) }
}

const parameters = { type: "object", properties: { days: { type: "integer" } }, required: ["days"] }
const tools = [{ type: "function", function: { name: "get_weather", description: "The weather", parameters } }]
const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"days": "2"}}\n</tool_call>'
const user = { role: "user", content: "Weather?" }

test("a request that is not said to be JSON is read, as Ollama's own examples send it, but from no page", async () => {
  const backend = createScriptedBackend({ model: "m", steps: [{ reply: "Hello" }] })
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const status = async (path: string, headers: Record<string, string> = {}) => {
    const typed = { host: "localhost", "content-type": "application/x-www-form-urlencoded", ...headers }
    const body = JSON.stringify({ model: "m", stream: false, messages: [user] })
    return (await app.request(`http://localhost${path}`, { method: "POST", headers: typed, body })).status
  }
  expect(await status("/api/chat")).toBe(200)
  expect(await status("/api/show")).toBe(200)
  expect(await status("/api/chat", { "sec-fetch-site": "cross-site" })).toBe(415)
  expect(await status("/api/chat", { origin: "http://localhost" })).toBe(415)
  expect(await status("/v1/chat/completions")).toBe(415)
  expect(backend.requests).toHaveLength(1)
})

describe("/api/chat", () => {
  test("streams unless told not to, with calls whole, and takes their results back", async () => {
    const { ask, backend } = gateway([
      { reply: `<think>Where?</think>I look.\n${CALL}` },
      { expect: { last: "sunny" }, reply: "Sunny." },
    ])
    const { lines, headers } = await ask("/api/chat", { model: "any", messages: [user], tools })
    expect(headers.get("content-type")).toBe("application/x-ndjson")
    const said = lines.map(({ message }) => message as { content: string; thinking?: string; tool_calls?: Body[] })
    expect(said.map(({ content }) => content).join("")).toMatch(/^I look\.\s*$/)
    expect(said.map(({ thinking = "" }) => thinking).join("")).toBe("Where?")
    const calls = said.flatMap(({ tool_calls: called = [] }) => called)
    expect(calls).toMatchObject([{ function: { name: "get_weather", arguments: { days: 2 } } }])
    expect(lines.map(({ done }) => done).filter(Boolean)).toHaveLength(1)
    expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "stop" })
    // Older clients send neither ids nor names back.
    const called = { role: "assistant", content: "", tool_calls: [{ function: calls[0]!.function }] }
    const messages = [user, called, { role: "tool", content: "sunny" }]
    const { body } = await ask("/api/chat", { model: "any", messages, tools, stream: false })
    expect(body).toMatchObject({ message: { role: "assistant", content: "Sunny." }, done: true })
    expect(backend.requests[1]!.messages.at(-1)!.content).toContain("sunny")
  })

  test("a cut call is text, once, and the reason is that it was cut", async () => {
    const { ask } = gateway([{ reply: { text: CALL.slice(0, 40), finish: "length" } }])
    const { body } = await ask("/api/chat", { model: "any", messages: [user], tools, stream: false })
    expect(body).toMatchObject({ message: { content: CALL.slice(0, 40) }, done_reason: "length" })
    expect(body.message).not.toHaveProperty("tool_calls")
  })

  test("options, a schema and pictures reach the model; what cannot is named", async () => {
    const { ask, backend } = gateway([{ reply: '{"days": 1}' }])
    const picture = Buffer.from("GIF89a").toString("base64")
    const { headers } = await ask("/api/chat", {
      model: "any",
      messages: [{ ...user, images: [picture] }],
      format: parameters,
      options: { temperature: 0.5, num_predict: 10, top_k: 4, num_ctx: 8192, mirostat: 1 },
      stream: false,
    })
    const [asked] = backend.requests
    expect(asked!.sampling).toMatchObject({ temperature: 0.5, maxTokens: 10, topK: 4 })
    expect(asked!.messages.at(-1)).toMatchObject({ media: [{ mimeType: "image/gif", base64: picture }] })
    expect(headers.get("x-toolwright-left-out")).toMatch(/options\.num_ctx, options\.mirostat/)
    expect(JSON.stringify(asked)).toContain("days")
  })
})

test("/api/generate answers in its own form, and refuses what a conversation cannot say", async () => {
  const { ask, backend } = gateway([{ reply: "Blue." }])
  const { lines } = await ask("/api/generate", { model: "any", prompt: "Why?", system: "Be brief." })
  expect(lines.map(({ response }) => response).join("")).toBe("Blue.")
  expect(backend.requests[0]!.messages).toMatchObject([{ content: "Be brief." }, { content: "Why?" }])
  const refused = await ask("/api/generate", { model: "any", prompt: "def", suffix: "return" })
  expect([refused.status, refused.body]).toEqual([400, { error: expect.stringContaining("suffix") }])
})

test("what there is, is listed and shown", async () => {
  const { ask } = gateway([])
  expect((await ask("/api/tags")).body).toMatchObject({ models: [{ name: "qwen2.5-7b" }] })
  expect((await ask("/api/version")).body).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  const shown = await ask("/api/show", { model: "qwen2.5-7b" })
  expect(shown.body.capabilities).toEqual(expect.arrayContaining(["completion", "tools"]))
  const missing = await ask("/api/show", { model: "other" })
  expect([missing.status, missing.body]).toEqual([404, { error: expect.stringContaining("'other' not found") }])
  expect((await ask("/v1/models/qwen2.5-7b")).body).toMatchObject({ id: "qwen2.5-7b", object: "model" })
  const unknown = await ask("/v1/models/some/other")
  expect([unknown.status, unknown.body]).toMatchObject([404, { error: { code: "model_not_found" } }])
})

describe("what the gateway has nothing to add to", () => {
  test("goes to the model's server as it is, and its answer back", async () => {
    const seen: Body[] = []
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Body
      seen.push({ path: request.url, key: request.headers.authorization, ...body })
      if (body.input === "wrong") return void response.writeHead(400).end('{"error":{"message":"not so"}}')
      if (body.stream === true)
        return void response.writeHead(200, { "content-type": "text/event-stream" }).end("data: [DONE]\n\n")
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"embedding":[1]}]}')
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    const ask = askerOf(createOpenAICompatibleBackend({ baseUrl, modelName: "m", apiKey: "secret-key" }))
    const embedded = await ask("/v1/embeddings", { model: "bge", input: "text" })
    expect(embedded.body).toEqual({ data: [{ embedding: [1] }] })
    const completed = await ask("/v1/completions", { prompt: "def", suffix: "end" })
    expect(completed.status).toBe(200)
    expect(seen).toMatchObject([
      { path: "/v1/embeddings", model: "bge", input: "text", key: "Bearer secret-key" },
      { path: "/v1/completions", model: "m", prompt: "def", suffix: "end" },
    ])
    const wrong = await ask("/v1/embeddings", { model: "bge", input: "wrong" })
    expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([400, expect.stringContaining("not so")])
  })

  test("is an error where the model has no such server", async () => {
    const { ask } = gateway([])
    const { status, body } = await ask("/v1/embeddings", { input: "x" })
    expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining("scripted")])
  })
})

test("a server that is away is told in Ollama's form", async () => {
  const served = await serveBackend(createScriptedBackend({ steps: [] }))
  await served.close()
  const backend = createOpenAICompatibleBackend({ baseUrl: served.baseUrl, modelName: "m", retryDelaysMs: [] })
  const { status, body } = await askerOf(backend)("/api/chat", { model: "m", messages: [user] })
  expect([status, body]).toEqual([502, { error: expect.stringContaining("model server") }])
})
