import { createScriptedBackend, wrapBackend, type Backend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"

/** What a client's wish for a long reply comes to, in front of a model with this window. */
async function wished(path: string, field: object, window: number | undefined, said = "Hi") {
  const scripted = createScriptedBackend({ model: "m", steps: [{ reply: "ok" }] })
  const known = window === undefined ? {} : { contextTokens: window }
  const backend = wrapBackend(scripted, known satisfies Partial<Backend>)
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const content = path === "/v1/responses" ? { input: said } : { messages: [{ role: "user", content: said }] }
  const response = await app.request(`http://localhost${path}`, {
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream: false, ...content, ...field }),
  })
  expect(response.status).toBe(200)
  return [scripted.requests[0]!.sampling?.maxTokens, response.headers.get("x-toolwright-max-tokens")]
}

test.each([
  ["/v1/chat/completions", { max_tokens: 32_000 }],
  ["/v1/chat/completions", { max_completion_tokens: 32_000 }],
  ["/v1/messages", { max_tokens: 32_000 }],
  ["/v1/responses", { max_output_tokens: 32_000 }],
  ["/api/chat", { options: { num_predict: 32_000 } }],
])("%s with %j gets what the window has room for, and is told", async (path, field) => {
  const [most, told] = await wished(path, field, 8192)
  expect(most).toBeGreaterThan(8000)
  expect(most).toBeLessThan(8192)
  expect(told).toBe(String(most))
})

test("a reply gets less the more was said, and never nothing", async () => {
  const field = { max_tokens: 8000 }
  const [most] = await wished("/v1/chat/completions", field, 8192, "word ".repeat(4000))
  expect(most).toBeLessThan(2000)
  expect(await wished("/v1/chat/completions", field, 8192, "word ".repeat(9000))).toEqual([256, "256"])
})

test.each([
  [{ max_tokens: 100 }, 8192, 100],
  [{}, 8192, undefined],
  [{ max_tokens: 32_000 }, undefined, 32_000],
])("%j with a window of %s stays as it is", async (field, window, most) => {
  expect(await wished("/v1/chat/completions", field, window)).toEqual([most, null])
})
