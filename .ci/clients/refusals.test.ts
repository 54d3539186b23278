import { ToolRegistry } from "@toolwright/toolbox"
import { createScriptedBackend } from "@toolwright/backends"
import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "@toolwright/server"

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
    ["wrong", messages, 401, "authentication_error", "UNAUTHORIZED"],
    ["narrow-token", messages, 403, "permission_error", "TOKEN_TOO_NARROW"],
    [TOKEN, long, 413, "invalid_request_error", "BODY_TOO_LARGE"],
  ] as const)("to the openai client with the token %s: %#", async (apiKey, said, status, type, code) => {
    await using server = await serve()
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 })
    const wanted = { status, type, code, message: expect.stringMatching(/\w+ .*\w/) }
    await expect(client.chat.completions.create({ model: "m", messages: [...said] })).rejects.toMatchObject(wanted)
    await expect(client.responses.create({ model: "m", input: said[0]!.content })).rejects.toMatchObject({
      status,
      code,
    })
  })

  test.each([
    ["wrong", messages, 401, "authentication_error"],
    ["narrow-token", messages, 403, "permission_error"],
    [TOKEN, long, 413, "request_too_large"],
  ] as const)("to Anthropic's client with the token %s: %#", async (apiKey, said, status, type) => {
    await using server = await serve()
    const client = new Anthropic({ baseURL: server.url, apiKey, maxRetries: 0 })
    const error = { type: "error", error: { type, message: expect.any(String) } }
    const asked = { model: "m", max_tokens: 9, messages: [...said] }
    await expect(client.messages.create(asked)).rejects.toMatchObject({ status, error })
    await expect(client.messages.stream(asked).finalMessage()).rejects.toMatchObject({ status, error })
    if (status < 413) await expect(client.models.list()).rejects.toMatchObject({ status, error })
  })
})
