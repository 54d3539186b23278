import { argumentsOf, DESCRIPTION, PROMPT, type Contestant } from "./contestant.ts"

interface EventStream {
  push(event: object): void
  end(): void
}

const USAGE = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

const MODEL = {
  id: "mock",
  name: "mock",
  api: "mock",
  provider: "mock",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1e6,
  maxTokens: 1e4,
}

/** pi: `runAgentLoop` with a stream function of our own. */
export const contestant: Contestant = {
  async prepare(load) {
    const { runAgentLoop } = await load<{
      runAgentLoop(
        prompts: object[],
        context: object,
        config: object,
        emit: (event: object) => void,
        signal: undefined,
        streamFn: () => object,
      ): Promise<object[]>
    }>("@earendil-works/pi-agent-core")
    const { createAssistantMessageEventStream } = await load<{
      createAssistantMessageEventStream(): EventStream
    }>("@earendil-works/pi-ai")
    return async (steps) => {
      let calls = 0
      const add = {
        name: "add",
        label: "add",
        description: DESCRIPTION,
        parameters: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        execute: async (_id: string, { a, b }: { a: number; b: number }) => {
          calls++
          return { content: [{ type: "text", text: String(a + b) }], details: {} }
        },
      }
      let events = 0
      const held = await runAgentLoop(
        [{ role: "user", content: PROMPT, timestamp: 0 }],
        { systemPrompt: "", messages: [], tools: [add] },
        { model: MODEL, convertToLlm: (messages: object[]) => messages },
        () => void events++,
        undefined,
        () => reply(createAssistantMessageEventStream(), calls, calls >= steps),
      )
      return { calls, held }
    }
  },
}

/** What a provider streams of one call, as many deltas as our own mock sends, or of the last words. */
function reply(events: EventStream, calls: number, done: boolean): EventStream {
  const content = done
    ? [{ type: "text", text: "Done." }]
    : [{ type: "toolCall", id: `c${calls}`, name: "add", arguments: argumentsOf(calls) }]
  const message = {
    role: "assistant",
    content,
    api: "mock",
    provider: "mock",
    model: "mock",
    usage: USAGE,
    stopReason: done ? "stop" : "toolUse",
    timestamp: 0,
  }
  events.push({ type: "start", partial: message })
  if (!done) {
    events.push({ type: "toolcall_start", contentIndex: 0, partial: message })
    events.push({
      type: "toolcall_delta",
      contentIndex: 0,
      delta: JSON.stringify(argumentsOf(calls)),
      partial: message,
    })
    events.push({ type: "toolcall_end", contentIndex: 0, toolCall: content[0], partial: message })
  }
  events.push({ type: "done", reason: message.stopReason, message })
  events.end()
  return events
}
