import { argumentsOf, DESCRIPTION, PROMPT, type Contestant } from "./contestant.ts"

interface AiSdk {
  generateText(options: object): Promise<object>
  tool(options: object): unknown
  stepCountIs?(count: number): unknown
  isStepCount?(count: number): unknown
  jsonSchema(schema: object): unknown
}

/** AI SDK: `generateText` with a mock language model of the given specification version. */
export function aiSdk(specifier: string, specificationVersion: string): Contestant {
  return {
    async prepare(load) {
      const ai = await load<AiSdk>(specifier)
      const stop = ai.stepCountIs ?? ai.isStepCount
      return async (steps) => {
        let calls = 0
        const model = mockLanguageModel(specificationVersion, () => calls, steps)
        const add = ai.tool({
          description: DESCRIPTION,
          inputSchema: ai.jsonSchema({
            type: "object",
            properties: { a: { type: "number" }, b: { type: "number" } },
            required: ["a", "b"],
          }),
          execute: async ({ a, b }: { a: number; b: number }) => {
            calls++
            return a + b
          },
        })
        const held = await ai.generateText({ model, tools: { add }, prompt: PROMPT, stopWhen: stop!(steps + 1) })
        return { calls, held }
      }
    },
  }
}

/** A language model of the AI SDK's provider specification; streaming and not. */
export function mockLanguageModel(specificationVersion: string, calls: () => number, steps: number): object {
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  }
  const reply = () => {
    const step = calls()
    return step >= steps
      ? { content: [{ type: "text", text: "Done." }], finishReason: { unified: "stop", raw: "stop" } }
      : {
          content: [
            { type: "tool-call", toolCallId: `c${step}`, toolName: "add", input: JSON.stringify(argumentsOf(step)) },
          ],
          finishReason: { unified: "tool-calls", raw: "tool_calls" },
        }
  }
  return {
    specificationVersion,
    provider: "mock",
    modelId: "mock",
    supportedUrls: {},
    doGenerate: async () => ({ ...reply(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = reply()
      const [part] = content as [{ type: string; text?: string }]
      const parts =
        part.type === "text"
          ? [
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: part.text },
              { type: "text-end", id: "t" },
            ]
          : [part]
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const each of [
              { type: "stream-start", warnings: [] },
              ...parts,
              { type: "finish", finishReason, usage },
            ])
              controller.enqueue(each)
            controller.close()
          },
        }),
      }
    },
  }
}
