import type { ChatMessage } from "@toolwright/toolformat"
import { expect, test } from "vitest"
import { compactingContext } from "./compaction.ts"

const round = (number: number, text: string): ChatMessage[] => [
  { role: "assistant", content: "", toolCalls: [{ id: `c${number}`, name: "look", arguments: { number } }] },
  { role: "tool", content: text, callId: `c${number}`, name: "look", success: number !== 1 },
]
const conversation = (rounds: number, size: number): ChatMessage[] => [
  { role: "system", content: "You look." },
  { role: "user", content: "Find it" },
  ...Array.from({ length: rounds }, (_, number) => round(number, `result ${number} ${"x".repeat(size)}`)).flat(),
]

test("leaves a conversation alone while it fits", () => {
  const messages = conversation(3, 10)
  expect(compactingContext({ contextTokens: 10_000 }).prepare(messages)).toBe(messages)
})

test("summarises older rounds, keeps the last ones whole and calls with their results", () => {
  const messages = conversation(20, 400)
  const sent = compactingContext({ contextTokens: 1500 }).prepare(messages)
  expect(sent.slice(0, 2)).toEqual(messages.slice(0, 2))
  expect(sent[2]?.content).toMatch(/^Summary of 17 earlier rounds[\s\S]*- look: failed: result 1/)
  expect(sent.slice(3)).toEqual(messages.slice(-6))
})

test("keeps fewer rounds where three are too large, and every call still has its result", () => {
  const sent = compactingContext({ contextTokens: 1000 }).prepare(conversation(6, 1800))
  const calls = sent.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
  const results = sent.filter((message) => message.role === "tool")
  expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
  expect(calls.length).toBeLessThan(3)
})

test("says so when the prompt alone is too large", () => {
  const context = compactingContext({ contextTokens: 1000 })
  const messages: ChatMessage[] = [
    { role: "system", content: "x".repeat(8000) },
    { role: "user", content: "y" },
  ]
  expect(() => context.prepare(messages)).toThrow(expect.objectContaining({ code: "CONTEXT_EXCEEDED" }))
})

/** A talk that was had before the task, of so many characters a message. */
const before = (turns: number, size: number): ChatMessage[] =>
  Array.from({ length: turns }, (_, number): ChatMessage[] => [
    { role: "user", content: `question ${number} ${"q".repeat(size)}` },
    { role: "assistant", content: `answer ${number} ${"a".repeat(size)}` },
  ]).flat()

const task = `The current task: ${Array.from({ length: 60 }, (_, number) => `step ${number}`).join(", ")}.`
const system: ChatMessage = { role: "system", content: "You look." }
const withHistory = (rounds: number, size = 800): ChatMessage[] => [
  system,
  ...before(8, size),
  { role: "user", content: task },
  ...Array.from({ length: rounds }, (_, number) => round(number, `result ${number} ${"x".repeat(size)}`)).flat(),
]

/** What must hold of messages that are sent, whatever was left out. */
function checkSent(sent: readonly ChatMessage[], contextTokens: number): void {
  expect(sent[0]).toBe(system)
  expect(sent.filter(({ role, content }) => role === "user" && content === task)).toHaveLength(1)
  const open = new Set<string>()
  for (const message of sent) {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) open.add(id)
    if (message.role === "tool") expect(open.delete(message.callId)).toBe(true)
  }
  expect([...open]).toEqual([])
  expect(sent.reduce((sum, { content }) => sum + content.length, 0) / 4).toBeLessThanOrEqual(contextTokens)
}

test("keeps the current task whole behind a long history, at every size of window and number of rounds", () => {
  for (const contextTokens of [400, 700, 1000, 1500, 2500, 4000])
    for (const rounds of [0, 1, 2, 5, 12])
      checkSent(compactingContext({ contextTokens }).prepare(withHistory(rounds), { task }), contextTokens)
})

test("leaves what was said last before the task as it was said, where there is room", () => {
  const messages = withHistory(0, 200)
  const sent = compactingContext({ contextTokens: 1000 }).prepare(messages, { task })
  expect(sent[1]?.content).toMatch(/^Summary of 5 turns of the conversation before the task/)
  expect(sent.slice(-7)).toEqual(messages.slice(-7))
})

test("names the files that were changed and the failures that stand, with their text", () => {
  const failing = `2 tests fail\n${"  at line\n".repeat(30)}expected 5, was 4`
  const result = (id: string, name: string, content: string, success: boolean): ChatMessage[] => [
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id, name, arguments: { path: id === "c" ? "a.ts" : `${id}.ts` } }],
    },
    { role: "tool", content, callId: id, name: name, success },
  ]
  const messages = [
    system,
    { role: "user", content: task } as ChatMessage,
    ...result("a", "lint", "a is bad", false),
    ...result("b", "test", failing, false),
    ...result("c", "lint", "all is well", true),
    ...Array.from({ length: 12 }, (_, number) => round(number + 2, "x".repeat(400))).flat(),
  ]
  const options = { task, changedFiles: ["src/mean.ts", "test/mean.test.ts"] }
  const sent = compactingContext({ contextTokens: 1600 }).prepare(messages, options)
  checkSent(sent, 1600)
  const summary = sent.find(({ content }) => content.startsWith("Summary"))!.content
  expect(summary).toContain("Files changed so far: src/mean.ts, test/mean.test.ts")
  expect(summary).toMatch(/Still failing, test:\n2 tests fail[^]*expected 5, was 4/)
  expect(summary).not.toContain("Still failing, lint")
  expect(summary).toContain('[called with {"path":"b.ts"}]')
})

test("cuts the results of the last round where it is too large by itself", () => {
  const messages = [
    system,
    { role: "user", content: task } as ChatMessage,
    ...round(0, `head ${"x".repeat(20_000)} tail`),
  ]
  const sent = compactingContext({ contextTokens: 1000 }).prepare(messages, { task })
  checkSent(sent, 1000)
  expect(sent.at(-1)?.content).toMatch(/^head x+\n\[… left out to save room …\]\nx+ tail$/)
})

test("counts what stands beside the messages", () => {
  const messages = conversation(10, 400)
  const context = compactingContext({ contextTokens: 2000 })
  expect(context.prepare(messages)).toBe(messages)
  expect(context.prepare(messages, { besideTokens: 800 }).length).toBeLessThan(messages.length)
})
