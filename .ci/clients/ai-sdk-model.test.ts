import { fromAiSdk } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { simulateReadableStream } from "ai-7"
import { MockLanguageModelV4 } from "ai-7/test"
import OpenAI from "openai"
import { expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "@toolwright/server"

const usage = {
  inputTokens: { total: 7, noCache: 7, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
}

async function clientOf(model: MockLanguageModelV4) {
  const backend = fromAiSdk(model)
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const server = await listen(app, { port: 0, secured: false })
  onTestFinished(() => server.close())
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 })
}

const parameters = { type: "object", properties: { days: { type: "integer" } } }
const tools = [{ type: "function" as const, function: { name: "look", description: "Looks", parameters } }]

test("any model of the AI SDK answers behind the gateway, with tools, pictures and settings", async () => {
  const model = new MockLanguageModelV4({
    modelId: "hosted",
    doStream: async () => ({
      stream: simulateReadableStream({
        initialDelayInMs: null,
        chunkDelayInMs: null,
        chunks: [
          { type: "stream-start" as const, warnings: [] },
          { type: "text-start" as const, id: "0" },
          { type: "text-delta" as const, id: "0", delta: "I look." },
          { type: "text-end" as const, id: "0" },
          { type: "tool-call" as const, toolCallId: "c1", toolName: "look", input: '{"days":"2"}' },
          { type: "finish" as const, finishReason: { unified: "tool-calls" as const, raw: "tool_use" }, usage },
        ],
      }),
    }),
  })
  const client = await clientOf(model)
  const { choices, usage: counted } = await client.chat.completions.create({
    model: "any",
    tools,
    temperature: 0.5,
    max_tokens: 9,
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
      { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "a", content: "seen" },
    ],
  })
  expect(choices[0]).toMatchObject({
    finish_reason: "tool_calls",
    message: { content: "I look.", tool_calls: [{ id: "c1", function: { name: "look", arguments: '{"days":2}' } }] },
  })
  expect(counted).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 })
  expect(model.doStreamCalls[0]).toMatchObject({
    temperature: 0.5,
    maxOutputTokens: 9,
    toolChoice: { type: "auto" },
    tools: [{ type: "function", name: "look", inputSchema: parameters }],
    prompt: [
      { role: "user", content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "look", input: {} }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "a", output: { type: "text", value: "seen" } }] },
    ],
  })
})

test("its failures keep their status", async () => {
  const model = new MockLanguageModelV4({
    doStream: () =>
      Promise.reject(
        Object.assign(new Error("slow down"), { statusCode: 429, responseHeaders: { "retry-after": "9" } }),
      ),
  })
  const client = await clientOf(model)
  const asked = client.chat.completions.create({ model: "any", messages: [{ role: "user", content: "x" }] })
  await expect(asked).rejects.toMatchObject({ status: 429, headers: expect.anything() })
  const headers = await asked.then(
    () => undefined,
    (thrown: { headers: Headers }) => thrown.headers,
  )
  expect(headers?.get("retry-after")).toBe("9")
})
