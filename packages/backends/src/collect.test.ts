import { expect, test } from "vitest"
import { infer } from "./collect.ts"
import { createScriptedBackend } from "./scripted/backend.ts"

test("two prompts become a whole reply", async () => {
  const backend = createScriptedBackend({
    steps: [{ reply: { reasoning: "hm", text: "Blue", chunks: 1, usage: { inputTokens: 2, outputTokens: 1 } } }],
  })
  expect(await infer(backend, { systemPrompt: "Be brief.", userPrompt: "Why?" })).toEqual({
    text: "Blue",
    reasoning: "hm",
    calls: [],
    finishReason: "stop",
    usage: { inputTokens: 2, outputTokens: 1 },
  })
  expect(backend.requests[0]!.messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Why?" },
  ])
})

test("native calls are put together", async () => {
  const backend = createScriptedBackend({
    steps: [
      {
        reply: {
          calls: [
            { name: "a", arguments: { x: 1 }, id: "1" },
            { name: "b", id: "2" },
          ],
          chunks: 2,
        },
      },
    ],
  })
  const tools = [{ type: "function", function: { name: "a", description: "", parameters: {} } } as const]
  expect(await infer(backend, { userPrompt: "Go", tools })).toMatchObject({
    calls: [
      { id: "1", name: "a", arguments: '{"x":1}' },
      { id: "2", name: "b", arguments: "{}" },
    ],
    finishReason: "tool-calls",
  })
})
