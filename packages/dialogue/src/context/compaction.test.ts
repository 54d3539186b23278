import type { ChatMessage } from "@toolwright/toolformat"
import { expect, test } from "vitest"
import { compactingContext } from "./compaction.ts"

const round = (number: number, text: string): ChatMessage[] => [
  { role: "assistant", content: "", toolCalls: [{ id: `c${number}`, name: "look", args: { number } }] },
  { role: "tool", content: text, toolCallId: `c${number}`, toolName: "look", success: number !== 1 },
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
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ id }) => id))
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
