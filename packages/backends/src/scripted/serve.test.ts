import { createCallAssembler } from "@toolwright/toolformat"
import { expect, onTestFinished, test } from "vitest"
import { infer } from "../collect.ts"
import { createOpenAICompatibleBackend } from "../openai-compatible/backend.ts"
import { createScriptedBackend } from "./backend.ts"
import type { ScreenplayStep } from "./screenplay.ts"
import { serveBackend, type ServeBackendOptions } from "./serve.ts"

const tool = { type: "function", function: { name: "search", description: "Finds text", parameters: {} } } as const

async function served(steps: ScreenplayStep[], options: ServeBackendOptions = {}) {
  const scripted = createScriptedBackend({ model: "m", steps })
  const { baseUrl, close } = await serveBackend(scripted, options)
  onTestFinished(close)
  return { scripted, baseUrl }
}

test.each([true, false])("a screenplay is the same over HTTP as within the process (streaming: %s)", async (stream) => {
  const steps: ScreenplayStep[] = [
    {
      reply: {
        reasoning: "hm",
        text: "Grüße 👋",
        calls: [{ name: "search", arguments: { q: "ü}" } }],
        chunks: 2,
        usage: { inputTokens: 3, outputTokens: 4 },
      },
    },
    { expect: { result: "3 matches", tools: { exactly: ["search"] } }, reply: "done" },
  ]
  const { baseUrl, scripted } = await served(steps, { cutBytes: 3 })
  const backend = createOpenAICompatibleBackend({ baseUrl, modelName: "m", stream })
  const first = { messages: [{ role: "user", content: "Find ü" }], tools: [tool] } as const
  const local = await infer(createScriptedBackend({ steps }), first)
  expect(await infer(backend, first)).toEqual(local)
  const call = createCallAssembler()
  const [made] = [...call.push({ index: 0, ...local.calls[0] }), ...call.end()].flatMap((event) =>
    event.type === "call-end" ? [event.call] : [],
  )
  const second = await infer(backend, {
    messages: [
      ...first.messages,
      { role: "assistant", content: local.text, toolCalls: [made!] },
      { role: "tool", content: "3 matches", callId: made!.id, name: "search", success: true },
    ],
    tools: [tool],
  })
  expect(second.text).toBe("done")
  expect(scripted.requests[1]!.messages[1]).toMatchObject({ toolCalls: [made] })
})

test.each<[ScreenplayStep["reply"], string]>([
  [{ error: { status: 404 } }, "MODEL_NOT_FOUND"],
  [{ error: { status: 400 } }, "MODEL_REQUEST_REJECTED"],
  [{ error: { status: 503 } }, "MODEL_SERVER_ERROR"],
])("a scripted failure %j arrives as %s", async (reply, code) => {
  const { baseUrl } = await served([{ reply, repeat: "always" }])
  const backend = createOpenAICompatibleBackend({ baseUrl, modelName: "m", retryDelaysMs: [] })
  await expect(infer(backend, { userPrompt: "Hello" })).rejects.toMatchObject({ code })
})

test("a failed expectation reaches the client with its message, and a wrong key is refused", async () => {
  const { baseUrl } = await served([{ expect: { user: "Bye" }, reply: "a" }], { apiKey: "right" })
  const ask = (apiKey: string) =>
    infer(createOpenAICompatibleBackend({ baseUrl, modelName: "m", apiKey }), { userPrompt: "Hello" })
  await expect(ask("wrong")).rejects.toMatchObject({ code: "MODEL_UNAUTHORIZED" })
  await expect(ask("right")).rejects.toMatchObject({
    code: "MODEL_REQUEST_REJECTED",
    message: expect.stringContaining('to contain "Bye"'),
  })
})
