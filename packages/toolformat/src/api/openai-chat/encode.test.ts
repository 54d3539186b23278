import { defineTool } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import type { ChatMessage } from "../../model/message.ts"
import { decodeOpenAIResponse } from "./decode.ts"
import { toOpenAIMessages, toOpenAITools } from "./encode.ts"

const call = { id: "call_1", name: "add", arguments: { a: 1, note: 'say "ü"' } }
const conversation: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: "Add.",
    media: [
      { type: "image", mimeType: "image/png", base64: "AA==" },
      { type: "audio", mimeType: "audio/mpeg", base64: "BB==" },
    ],
  },
  { role: "assistant", content: "", reasoning: "hm", toolCalls: [call] },
  { role: "tool", content: "3", callId: "call_1", name: "add", success: true },
]

test("a conversation in the chat-completions form", () => {
  expect(toOpenAIMessages(conversation)).toEqual([
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Add." },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        { type: "input_audio", input_audio: { data: "BB==", format: "mp3" } },
      ],
    },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "add", arguments: JSON.stringify(call.arguments) } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", name: "add", content: "3" },
  ])
})

test("reasoning goes back only on request", () => {
  expect(toOpenAIMessages(conversation, { includeReasoning: true })[2]).toMatchObject({ reasoning_content: "hm" })
})

test("what is encoded decodes to the same call", () => {
  const [, , message] = toOpenAIMessages(conversation)
  expect(decodeOpenAIResponse({ choices: [{ message }] }).calls).toEqual([call])
})

test("a definition in the OpenAI form", () => {
  const schema = { type: "object", properties: { a: { type: "integer" } } }
  const tool = defineTool({ name: "add", description: "Adds", parameters: schema, execute: () => 0 })
  expect(toOpenAITools([tool])).toEqual([
    { type: "function", function: { name: "add", description: "Adds", parameters: tool.parameters } },
  ])
})
