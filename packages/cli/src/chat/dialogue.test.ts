import type { RunEvent } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { Dialogue } from "./dialogue.ts"

const call = (id: string) => ({ id, name: "look", arguments: {}, sequence: 1 })
const reply = (content: string, ...ids: string[]): RunEvent => ({
  type: "reply",
  round: 1,
  raw: content,
  content,
  reasoning: "",
  calls: ids.map(call),
  finishReason: "stop",
  modelMs: 1,
})
const result = (callId: string, output: string): RunEvent => ({
  type: "tool-end",
  callId,
  name: "look",
  result: { success: true, output, data: undefined, modifiedFiles: [], metadata: {}, executionTimeMs: 1 },
})
const end: RunEvent = { type: "round-end", round: 1 }

test("keeps requests, answers, calls and results, with ids that no other turn has", () => {
  const dialogue = new Dialogue()
  for (const request of ["one", "two"]) {
    dialogue.begin(request)
    for (const event of [reply("", "call_1"), result("call_1", "seen"), end, reply("Done."), end]) dialogue.see(event)
  }
  expect(dialogue.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
    "assistant",
    "tool",
    "assistant",
  ])
  expect(dialogue.messages[1]).toMatchObject({ toolCalls: [{ id: "t1_call_1" }] })
  expect(dialogue.messages[6]).toMatchObject({ role: "tool", callId: "t2_call_1", content: "seen" })
})

test("keeps no call that has no result, and no result in all its length", () => {
  const dialogue = new Dialogue()
  dialogue.begin("one")
  for (const event of [reply("", "call_1"), result("call_1", "x".repeat(5000)), end, reply("", "call_2"), end])
    dialogue.see(event)
  expect(dialogue.messages).toHaveLength(3)
  expect(dialogue.messages[2]!.content).toMatch(/^x{1000}\n\[shortened\]$/)
  dialogue.clear()
  expect(dialogue.messages).toEqual([])
})
