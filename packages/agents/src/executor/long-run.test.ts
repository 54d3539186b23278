import type { Backend, InferEvent } from "@toolwright/backends"
import { defineTool, ToolRegistry, type RunEvent } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { expect, test } from "vitest"
import { DynamicExecutor } from "./executor.ts"

const WINDOW = 32_000
const ROUNDS = 200

/** Looks round after round; then reads what it no longer has before it, and answers with what it said in round 3. */
function player(seen: (messages: readonly ChatMessage[]) => void): Backend {
  let round = 0
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    contextTokens: WINDOW,
    modelName: () => "m",
    async *infer({ messages }): AsyncGenerator<InferEvent> {
      seen(messages)
      round++
      const last = messages.at(-1)!
      const call = (name: string, args: object): InferEvent => ({
        type: "call-delta",
        index: 0,
        id: `c${round}`,
        name,
        arguments: JSON.stringify(args),
      })
      if (round < ROUNDS - 2) yield call("look", { at: round })
      else if (round === ROUNDS - 2) yield call("read_result", { call_id: "earlier", limit: 4_000 })
      else if (round === ROUNDS - 1) {
        const [, id] = /- look \((c\d+)\): done: place 3 /.exec(last.content)!
        yield call("read_result", { call_id: id, offset: 0 })
      } else {
        yield { type: "text-delta", text: `The port is ${/the port is (\d+)/.exec(last.content)![1]}.` }
        yield { type: "end", finishReason: "stop" }
        return
      }
      yield { type: "end", finishReason: "tool-calls" }
    },
  }
}

test("two hundred rounds stay in a window of 32k, part no call from its result, and use what round 3 brought", async () => {
  const registry = new ToolRegistry()
  registry.register(
    defineTool({
      name: "look",
      description: "Looks",
      effects: { readOnly: true },
      parameters: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
      execute: ({ at }) =>
        `place ${Number(at)} ${"nothing here. ".repeat(200)}${Number(at) === 3 ? "the port is 4711" : `mark ${Number(at)}`}`,
    }),
  )
  const uses: Extract<RunEvent, { type: "request" }>["context"][] = []
  const backend = player((messages) => {
    const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    const results = messages.filter((message) => message.role === "tool")
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0)
    expect(characters / 4).toBeLessThanOrEqual(WINDOW)
    expect(messages[1]).toMatchObject({ role: "user", content: "Which port is it?" })
  })
  const run = new DynamicExecutor({ tools: registry, backend, maxRounds: ROUNDS }).run({ task: "Which port is it?" })
  for await (const event of run) {
    if (event.type === "request") uses.push(event.context)
    if (event.type === "run-end") expect(event.summary).toMatchObject({ success: true, message: "The port is 4711." })
  }
  expect(uses).toHaveLength(ROUNDS)
  expect(uses.every((use) => use!.tokens <= WINDOW)).toBe(true)
  expect(uses[0]).toMatchObject({ utilisation: "low", leftOut: 0 })
  expect(new Set(uses.map((use) => use!.utilisation))).toEqual(new Set(["low", "medium", "full"]))
  expect(uses.at(-1)!.leftOut).toBeGreaterThan(ROUNDS)
})
