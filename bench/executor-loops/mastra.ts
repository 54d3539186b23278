import { mockLanguageModel } from "./ai-sdk.ts"
import { DESCRIPTION, PROMPT, type Contestant } from "./contestant.ts"

/** Mastra: `agent.generate`. */
export const contestant: Contestant = {
  async prepare(load) {
    const { Agent } = await load<{
      Agent: new (options: object) => { generate(prompt: string, options: object): Promise<object> }
    }>("@mastra/core/agent")
    const { createTool } = await load<{ createTool(options: object): unknown }>("@mastra/core/tools")
    const { z } = await load<{ z: { object(shape: object): object; number(): object } }>("zod")
    return async (steps) => {
      let calls = 0
      const add = createTool({
        id: "add",
        description: DESCRIPTION,
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }: { a: number; b: number }) => {
          calls++
          return { sum: a + b }
        },
      })
      const agent = new Agent({
        id: "adder",
        name: "adder",
        instructions: PROMPT,
        model: mockLanguageModel("v3", () => calls, steps),
        tools: { add },
      })
      const held = await agent.generate(PROMPT, { maxSteps: steps + 1 })
      return { calls, held }
    }
  },
}
