import type { JsonObject, ToolCall, ToolResult } from "@toolwright/toolbox"

/** A picture or sound in a message: base64 with its MIME type, or the address of a picture that a server fetches. */
export type MediaPart = { type: "image" | "audio"; mimeType: string; base64: string } | { type: "image"; url: string }

/**
 * What a message of the runtime is, and no person's words: a note to the model, or the results of calls. It stands
 * under a symbol, so it is never sent, printed or recorded; a backend that has to tell the one from the other looks at
 * it.
 */
export const ABOUT: unique symbol = Symbol.for("toolwright.about")
export type About =
  | { readonly kind: "note" }
  | { readonly kind: "results"; readonly results: readonly { readonly call: ToolCall; readonly result: ToolResult }[] }

/**
 * One message of a conversation, the one form that every renderer, wire codec and backend starts from.
 *
 * Arguments are objects here, never JSON strings; wire codecs write what their API wants. `reasoning` is kept apart
 * from content and is not sent back unless a format demands it.
 */
export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string; media?: readonly MediaPart[]; [ABOUT]?: About }
  | { role: "assistant"; content: string; reasoning?: string; toolCalls?: readonly ToolCall[] }
  | { role: "tool"; content: string; callId: string; name: string; success: boolean; [ABOUT]?: About }

/** The OpenAI chat form of a tool definition, which most chat templates and many APIs take. */
export interface OpenAITool {
  type: "function"
  function: { name: string; description: string; parameters: JsonObject }
}
