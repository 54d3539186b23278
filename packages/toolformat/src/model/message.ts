import type { JsonObject, ToolCall } from "@toolwright/toolbox"

/** A picture or sound in a message, base64 with its MIME type. */
export interface MediaPart {
  type: "image" | "audio"
  mimeType: string
  base64: string
}

/**
 * One message of a conversation, the one form that every renderer, wire codec and backend starts from.
 *
 * Arguments are objects here, never JSON strings; wire codecs write what their API wants. `reasoning` is kept apart
 * from
 * content and is not sent back unless a format demands it.
 */
export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string; media?: readonly MediaPart[] }
  | { role: "assistant"; content: string; reasoning?: string; toolCalls?: readonly ToolCall[] }
  | { role: "tool"; content: string; toolCallId: string; toolName: string; success: boolean }

/** The OpenAI chat form of a tool definition, which most chat templates and many APIs take. */
export interface OpenAITool {
  type: "function"
  function: { name: string; description: string; parameters: JsonObject }
}
