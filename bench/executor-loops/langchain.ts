import { argumentsOf, DESCRIPTION, PROMPT, type Contestant } from "./contestant.ts"

interface Core {
  BaseChatModel: new (fields: object) => object
}

/** LangChain: `createAgent` over a chat model that always calls. */
export const contestant: Contestant = {
  async prepare(load) {
    const { createAgent, tool } = await load<{
      createAgent(options: object): { invoke(input: object, options: object): Promise<object> }
      tool(run: (args: { a: number; b: number }) => Promise<string>, options: object): unknown
    }>("langchain")
    const { BaseChatModel } = await load<Core>("@langchain/core/language_models/chat_models")
    const { AIMessage } = await load<{ AIMessage: new (fields: object) => object }>("@langchain/core/messages")
    const { z } = await load<{ z: { object(shape: object): object; number(): object } }>("zod")
    return async (steps) => {
      let calls = 0
      class MockModel extends BaseChatModel {
        _llmType(): string {
          return "mock"
        }
        bindTools(): this {
          return this
        }
        async _generate(): Promise<object> {
          const message =
            calls >= steps
              ? new AIMessage({ content: "Done." })
              : new AIMessage({
                  content: "",
                  tool_calls: [{ id: `c${calls}`, name: "add", args: argumentsOf(calls), type: "tool_call" }],
                })
          return { generations: [{ message, text: "" }] }
        }
      }
      const add = tool(
        async ({ a, b }) => {
          calls++
          return String(a + b)
        },
        { name: "add", description: DESCRIPTION, schema: z.object({ a: z.number(), b: z.number() }) },
      )
      const agent = createAgent({ model: new MockModel({}), tools: [add] })
      const held = await agent.invoke(
        { messages: [{ role: "user", content: PROMPT }] },
        { recursionLimit: steps * 4 + 10 },
      )
      return { calls, held }
    }
  },
}
