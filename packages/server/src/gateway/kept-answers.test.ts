import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createOpenAICompatibleBackend, createScriptedBackend, type Backend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"

type Body = Record<string, unknown>

const steps = ["One.", "Two.", "Three."].map((text) => ({ reply: text }))

function asking(backend: Backend) {
  const tokens = [{ token: "token-of-one" }, { token: "token-of-two" }]
  const app = createApp({ tools: new ToolRegistry(), tokens }, (one) => gatewayRoutes(one, { backend }))
  return async (method: string, path: string, body?: Body, token = "token-of-one") => {
    const response = await app.request(`http://localhost${path}`, {
      method,
      headers: { host: "localhost", authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
  }
}

const scripted = () => asking(createScriptedBackend({ model: "qwen2.5-7b", abilities: { nativeTools: false }, steps }))

describe("an answer of Responses that is kept", () => {
  test.each([false, true])("is got again by its id as its client got it, streamed %s", async (stream) => {
    const backend = createScriptedBackend({ model: "m", abilities: { nativeTools: false }, steps })
    const app = createApp({ tools: new ToolRegistry() }, (one) => gatewayRoutes(one, { backend }))
    const told = await app.request("http://localhost/v1/responses", {
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "Hi", stream }),
    })
    const text = await told.text()
    const last = stream
      ? (JSON.parse(/^data: (.*"type":"response.completed".*)$/m.exec(text)![1]!) as Body).response
      : JSON.parse(text)
    const got = await app.request(`http://localhost/v1/responses/${(last as { id: string }).id}`, {
      headers: { host: "localhost" },
    })
    expect(await got.json()).toEqual(last)
  })

  test("tells what it was asked, page by page, with what it went on from", async () => {
    const ask = scripted()
    const first = await ask("POST", "/v1/responses", { model: "m", input: "Hi" })
    const next = await ask("POST", "/v1/responses", { model: "m", input: "And?", previous_response_id: first.body.id })
    const path = `/v1/responses/${String(next.body.id)}/input_items`
    const texts = ({ body }: { body: Body }) =>
      (body.data as { content: { text: string }[] }[]).map(({ content }) => content[0]!.text)
    const all = await ask("GET", `${path}?order=asc`)
    expect([texts(all), all.body.has_more, all.body.object]).toEqual([["Hi", "One.", "And?"], false, "list"])
    const page = await ask("GET", `${path}?limit=2`)
    expect([texts(page), page.body.has_more]).toEqual([["And?", "One."], true])
    const rest = await ask("GET", `${path}?limit=2&after=${String(page.body.last_id)}`)
    expect([texts(rest), rest.body.has_more]).toEqual([["Hi"], false])
    expect((await ask("GET", `${path}?limit=0`)).body).toMatchObject({ error: { param: "limit" } })
    expect((await ask("GET", `${path}?after=none`)).status).toBe(400)
  })

  test("is nobody else's, and nobody's once it is deleted", async () => {
    const ask = scripted()
    const { body } = await ask("POST", "/v1/responses", { model: "m", input: "Hi" })
    const path = `/v1/responses/${String(body.id)}`
    const gone = { status: 404, body: { error: { code: "not_found", type: "invalid_request_error" } } }
    for (const [method, place] of [
      ["GET", path],
      ["GET", `${path}/input_items`],
      ["DELETE", path],
      ["POST", `${path}/cancel`],
    ] as const)
      expect(await ask(method, place, undefined, "token-of-two"), `${method} ${place}`).toMatchObject(gone)
    expect((await ask("POST", `${path}/cancel`)).status).toBe(400)
    expect((await ask("DELETE", path)).body).toEqual({ id: body.id, object: "response", deleted: true })
    expect(await ask("GET", path)).toMatchObject(gone)
    expect(await ask("DELETE", path)).toMatchObject(gone)
    const after = await ask("POST", "/v1/responses", { model: "m", input: "x", previous_response_id: body.id })
    expect(after).toMatchObject({ status: 400, body: { error: { param: "previous_response_id" } } })
  })

  test("is not there where its client wanted none to be kept", async () => {
    const ask = scripted()
    const { body } = await ask("POST", "/v1/responses", { model: "m", input: "Hi", store: false })
    expect((await ask("GET", `/v1/responses/${String(body.id)}`)).status).toBe(404)
  })

  test("has its tokens estimated before it is asked", async () => {
    const { body } = await scripted()("POST", "/v1/responses/input_tokens", { model: "m", input: "x".repeat(400) })
    expect(body).toEqual({ object: "response.input_tokens", input_tokens: 104 })
  })
})

/** A model's server with OpenAI's page for embeddings, which tells them in any order. */
async function embeddingServer() {
  const asked: Body[] = []
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = []
    incoming.on("data", (piece: Buffer) => pieces.push(piece))
    incoming.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Body
      asked.push({ path: incoming.url, ...body })
      if (body.model === "none") return response.writeHead(404).end(`{"error":{"message":"no such model"}}`)
      const texts = [body.input].flat()
      const data = texts.map((text, index) => ({ index, embedding: [index, String(text).length] })).toReversed()
      response.setHeader("content-type", "application/json").end(JSON.stringify({ data, usage: { prompt_tokens: 5 } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { asked, ask: asking(createOpenAICompatibleBackend({ baseUrl, modelName: "m" })) }
}

describe("embeddings in Ollama's form", () => {
  test("are those of the model's server, in the order of the texts", async () => {
    const { ask, asked } = await embeddingServer()
    const many = await ask("POST", "/api/embed", { model: "e", input: ["a", "bcd"], options: {}, dimensions: 2 })
    expect(many.body).toMatchObject({
      model: "e",
      embeddings: [
        [0, 1],
        [1, 3],
      ],
      prompt_eval_count: 5,
    })
    expect(many.headers.get("x-toolwright-left-out")).toBe("options")
    expect((await ask("POST", "/api/embed", { model: "e", input: "ab" })).body.embeddings).toEqual([[0, 2]])
    expect((await ask("POST", "/api/embeddings", { model: "e", prompt: "ab" })).body).toEqual({ embedding: [0, 2] })
    expect(asked[0]).toEqual({
      path: "/v1/embeddings",
      model: "e",
      input: ["a", "bcd"],
      encoding_format: "float",
      dimensions: 2,
    })
  })

  test("fail in Ollama's form", async () => {
    const { ask, asked } = await embeddingServer()
    expect(await ask("POST", "/api/embed", { model: "e", input: 5 })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("'input'") },
    })
    expect(await ask("POST", "/api/embed", { model: "none", input: "a" })).toMatchObject({
      status: 404,
      body: {
        error: expect.stringMatching(
          /has no embeddings, or not of a model 'none' .* no such model Ask for a model that this server has for emb/,
        ),
      },
    })
    expect((await ask("POST", "/api/embed", { model: "e", input: "" })).body).toEqual({ model: "e", embeddings: [] })
    expect((await ask("POST", "/api/embeddings", { model: "e" })).body).toEqual({ embedding: [] })
    expect(asked).toHaveLength(1)
  })
})

test("embeddings that a model's server does not end are left, and the next are answered", async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? "")
    request.resume()
    response.writeHead(200, { "content-type": "application/json" })
    if (asked.length > 1) return void response.end('{"data":[{"index":0,"embedding":[1]}]}')
    const piece = Buffer.alloc(1024 * 1024, " ")
    const more = (): void => void (response.destroyed || response.write(piece, () => setImmediate(more)))
    more()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const ask = asking(createOpenAICompatibleBackend({ baseUrl, modelName: "e" }))
  const endless = await ask("POST", "/api/embed", { model: "e", input: "ab" })
  expect(endless.status).toBe(502)
  expect(JSON.stringify(endless.body)).toContain("does not end its answer")
  expect((await ask("POST", "/api/embed", { model: "e", input: "ab" })).body.embeddings).toEqual([[1]])
})
