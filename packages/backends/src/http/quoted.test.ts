import { expect, test } from "vitest"
import { createAnthropicBackend } from "../anthropic/backend.ts"
import { createLlamaServerBackend } from "../llama-server/backend.ts"
import type { Backend } from "../model/backend.ts"
import { createOllamaBackend } from "../ollama/backend.ts"
import { createOpenAICompatibleBackend } from "../openai-compatible/backend.ts"
import { createResponsesBackend } from "../openai-responses/backend.ts"
import { startServer } from "../testing/raw-server.ts"
import { quoted } from "./quoted.ts"

const KEY = "sk-that-nobody-may-read"

type Make = (baseUrl: string) => Backend
const settings = (baseUrl: string) => ({ baseUrl, modelName: "m", apiKey: KEY, retryDelaysMs: [] })
const own = (baseUrl: string) => ({ ...settings(baseUrl), apiKey: "", headers: { "x-api-key": KEY } })
const BACKENDS: Readonly<Record<string, Make>> = {
  anthropic: (url) => createAnthropicBackend(settings(url)),
  "openai-responses": (url) => createResponsesBackend(settings(url)),
  ollama: (url) => createOllamaBackend({ ...settings(url), contextTokens: 4096 }),
  "llama-server": (url) => createLlamaServerBackend(settings(url)),
  "openai-compatible": (url) => createOpenAICompatibleBackend(settings(url)),
  "a header of one's own": (url) => createOpenAICompatibleBackend(own(url)),
}

/** Ways in which a server sends back what it was sent, with what clears a screen. */
const ECHOES: Readonly<Record<string, (sent: string) => { status?: number; type: string; body: string }>> = {
  "an error's status": (sent) => ({ status: 401, type: "application/json", body: JSON.stringify({ error: sent }) }),
  "a body that is no JSON": (sent) => ({ type: "application/json", body: sent }),
  "a body that is no reply": (sent) => ({ type: "application/json", body: JSON.stringify({ sent }) }),
  "an event that is no JSON": (sent) => ({ type: "text/event-stream", body: `data: ${sent}\n\n` }),
  "an error in a stream": (sent) => {
    const error = { type: "error", message: sent, error: { type: "authentication_error", message: sent } }
    return { type: "text/event-stream", body: `data: ${JSON.stringify(error)}\n\n` }
  },
  "an error that is tried again": (sent) => {
    const error = { type: "error", error: { type: "overloaded_error", message: sent } }
    return { type: "text/event-stream", body: `data: ${JSON.stringify(error)}\n\n` }
  },
}

test.each(Object.keys(BACKENDS).flatMap((name) => Object.keys(ECHOES).map((echo) => [name, echo] as const)))(
  "%s: no message has the key that a server quotes in %s",
  async (name, echo) => {
    const server = await startServer((response, request) => {
      const sent = Object.values(request.headers).join(" ")
      const { status = 200, type, body } = ECHOES[echo]!(`\u001B[2J${sent}`)
      response.writeHead(status, { "content-type": type }).end(body)
    })
    const told: unknown[] = []
    try {
      const request = { messages: [{ role: "user", content: "Hello" }] } as const
      for await (const event of BACKENDS[name]!(server.baseUrl).infer(request)) told.push(JSON.stringify(event))
    } catch (thrown) {
      for (let error = thrown as Error | undefined; error !== undefined; error = error.cause as Error | undefined)
        told.push(error.message)
    }
    expect(told.join("\n")).toMatch(/The (reply of the )?model server/)
    expect(told.join("\n")).not.toContain(KEY)
    expect(told.join("\n")).not.toContain("\u001B")
  },
)

test("a key is hidden before a text is cut, so that no part of it is left", () => {
  expect(quoted(`${"x".repeat(990)}${KEY}`, [KEY])).toBe(`${"x".repeat(990)}•••`)
})
