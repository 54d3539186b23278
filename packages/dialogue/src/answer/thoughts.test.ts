import { createScriptedBackend } from "@toolwright/backends"
import { describe, expect, test } from "vitest"
import type { AnswerRequest } from "./answer.ts"
import { createAnswering } from "./answering.ts"

async function answered(model: string, reply: string, chunks: number, more: Partial<AnswerRequest> = {}) {
  const backend = createScriptedBackend({ model, abilities: { nativeTools: false }, chunks, steps: [{ reply }] })
  let [content, thought] = ["", ""]
  const notes: string[] = []
  const messages = [{ role: "user" as const, content: "Hi" }]
  for await (const event of createAnswering(backend).answer({ messages, ...more })) {
    if (event.type === "text-delta") content += event.text
    if (event.type === "reasoning-delta") thought += event.text
    if (event.type === "note") notes.push(event.note.code)
  }
  return { content: content.trim(), thought: thought.trim(), notes }
}

describe.each([1, 3, 1000])("an answer without tools, in pieces of %i", (chunks) => {
  test.each([
    ["qwen3-8b", "<think>\nA greeting.\n</think>\n\nHello!", "Hello!"],
    ["qwen3-8b", "\n<think>A greeting.</think>{}<tool_call>{}</tool_call>", "{}<tool_call>{}</tool_call>"],
    [
      "gpt-oss-20b",
      "<|channel|>analysis<|message|>A greeting.<|end|><|start|>assistant<|channel|>final<|message|>Hello!",
      "Hello!",
    ],
    ["magistral-small", "[THINK]A greeting.[/THINK]Hello!", "Hello!"],
  ])("of %s begins with thoughts, which are none of its text", async (model, reply, content) => {
    expect(await answered(model, reply, chunks)).toEqual({ content, thought: "A greeting.", notes: [] })
  })

  test.each(["Write <think> before it, </think> behind.", "<thin", "<b>Hi</b>", "  ", "x<think>y"])(
    "that says %j says it",
    async (reply) => {
      expect(await answered("qwen3-8b", reply, chunks)).toEqual({ content: reply.trim(), thought: "", notes: [] })
    },
  )

  test("cut off among its thoughts has no text", async () => {
    expect(await answered("qwen3-8b", "<think>A gree", chunks)).toMatchObject({ content: "", thought: "A gree" })
  })

  test("is held to its schema without them", async () => {
    const jsonSchema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }
    const reply = '<think>One.</think>{"a": 1}'
    expect(await answered("qwen3-8b", reply, chunks, { jsonSchema })).toMatchObject({ content: '{"a": 1}', notes: [] })
  })
})
