import { ToolRegistry } from "@toolwright/toolbox"
import { createScriptedBackend } from "@toolwright/backends"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "../index.ts"

const TOKEN = "a-long-token"

async function serve() {
  const backend = createScriptedBackend({ model: "qwen2.5-7b", abilities: { nativeTools: false }, steps: [] })
  const app = createApp(
    {
      tools: new ToolRegistry(),
      tokens: [{ token: TOKEN }, { token: "narrow-token", tags: ["git"] }],
      maxBodyBytes: 2000,
    },
    (application) => gatewayRoutes(application, { backend, maxBodyBytes: 2000 }),
  )
  return listen(app, { port: 0, secured: true })
}

const messages = [{ role: "user" as const, content: "Hi" }]
const long = [{ role: "user" as const, content: "x".repeat(5000) }]

describe("what is refused before the gateway is told in the client's own form", () => {
  test.each([
    ["wrong", messages, 401, "authentication_error", "UNAUTHORIZED", "A valid bearer token"],
    ["narrow-token", messages, 403, "permission_error", "TOKEN_TOO_NARROW", "A token for some tags"],
    [TOKEN, long, 413, "request_too_large", "BODY_TOO_LARGE", "at most 2000 bytes"],
  ] as const)("with the token %s: %#", async (token, said, status, type, code, text) => {
    await using server = await serve()
    const refused = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "m", max_tokens: 9, messages: said, input: said }),
      })
      expect(response.status).toBe(status)
      expect(response.headers.get("content-type")).toBe("application/json")
      return response.json()
    }
    const message = expect.stringContaining(text)
    const openai = { error: { message, type: expect.any(String), param: null, code } }
    expect(await refused("/v1/chat/completions")).toEqual(openai)
    expect(await refused("/v1/responses")).toEqual(openai)
    expect(await refused("/v1/embeddings")).toEqual(openai)
    const anthropic = { type: "error", error: { type, message, code } }
    expect(await refused("/v1/messages")).toEqual(anthropic)
    expect(await refused("/v1/messages/count_tokens")).toEqual(anthropic)
    expect(await refused("/api/chat")).toEqual({ error: message })
    expect(await refused("/api/show")).toEqual({ error: message })
  })

  test("of the list of models, to whoever asks as Anthropic's clients do", async () => {
    await using server = await serve()
    const asked = (headers: Record<string, string>) =>
      fetch(`${server.url}/v1/models`, { headers }).then((response) => response.json())
    expect(await asked({ "anthropic-version": "2023-06-01" })).toMatchObject({ type: "error" })
    expect(await asked({})).toMatchObject({ error: { type: "authentication_error" } })
  })

  test.each([
    ["/v1/nothing", { error: { code: "NOT_FOUND", type: "not_found_error", param: null } }],
    ["/v1/messages/batches", { type: "error", error: { type: "not_found_error" } }],
    ["/api/pull", { error: expect.stringContaining("nothing at /api/pull") }],
    ["/v1/images/generations", { error: { message: expect.stringContaining("POST /v1/chat/completions") } }],
    ["/v1/v1/messages", { error: { message: expect.stringContaining("Did you mean /v1/messages? Then /v1 is too") } }],
    ["/v1/api/chat", { error: { message: expect.stringContaining("Did you mean /api/chat? Then /v1 is too much") } }],
    [
      "/v1/embeddings",
      { error: { code: "not_found", message: expect.stringContaining("--backend openai-compatible") } },
    ],
    [
      "/v1/completions",
      { error: { code: "not_found", message: expect.stringContaining("Ask /v1/chat/completions,") } },
    ],
  ])("where there is nothing at %s", async (path, body) => {
    await using server = await serve()
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    })
    expect(response.status).toBe(404)
    expect(response.headers.get("content-type")).toBe("application/json")
    expect(await response.json()).toMatchObject(body)
  })

  test("where another method is asked for, which it takes", async () => {
    await using server = await serve()
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
    const response = await fetch(`${server.url}/v1/models`, { method: "POST", body: "{}", headers })
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"])
    const message = expect.stringContaining("nothing at /v1/models for POST. Ask with GET.")
    expect(await response.json()).toMatchObject({ error: { message } })
  })

  test("by an address that ends too early, with what is missing in it", async () => {
    await using server = await serve()
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
    const response = await fetch(`${server.url}/chat/completions`, { method: "POST", body: "{}", headers })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      error: {
        code: "NOT_FOUND",
        hint: "Did you mean /v1/chat/completions? Then the address that the client was given has to end in /v1.",
      },
    })
  })

  test("elsewhere, and its headers, stay as they are", async () => {
    await using server = await serve()
    const tools = await fetch(`${server.url}/tools/`)
    expect(tools.headers.get("content-type")).toBe("application/problem+json")
    const chat = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body: "{}" })
    expect(chat.headers.get("www-authenticate")).toBe("Bearer")
  })
})
