import { argumentsOf, DESCRIPTION, PROMPT, type Contestant } from "./contestant.ts"

interface Agents {
  Agent: new (options: object) => object
  Usage: new (fields: object) => object
  tool(options: object): unknown
  run(agent: object, prompt: string, options: object): Promise<object>
  setTracingDisabled(disabled: boolean): void
}

/** OpenAI Agents: `run` with a model of our own, tracing off. */
export const contestant: Contestant = {
  async prepare(load) {
    const { Agent, Usage, tool, run, setTracingDisabled } = await load<Agents>("@openai/agents")
    const { z } = await load<{ z: { object(shape: object): object; number(): object } }>("zod")
    setTracingDisabled(true)
    return async (steps) => {
      let calls = 0
      const model = {
        async getResponse() {
          const output =
            calls >= steps
              ? [
                  {
                    type: "message",
                    role: "assistant",
                    status: "completed",
                    content: [{ type: "output_text", text: "Done." }],
                  },
                ]
              : [
                  {
                    type: "function_call",
                    callId: `c${calls}`,
                    name: "add",
                    status: "completed",
                    arguments: JSON.stringify(argumentsOf(calls)),
                  },
                ]
          return { usage: new Usage({ inputTokens: 10, outputTokens: 5, totalTokens: 15, requests: 1 }), output }
        },
        getStreamedResponse() {
          throw new Error("not streamed")
        },
      }
      const add = tool({
        name: "add",
        description: DESCRIPTION,
        parameters: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }: { a: number; b: number }) => {
          calls++
          return String(a + b)
        },
      })
      const held = await run(new Agent({ name: "adder", instructions: PROMPT, model, tools: [add] }), PROMPT, {
        maxTurns: steps + 2,
      })
      return { calls, held }
    }
  },
}
