import { ToolwrightError, type JsonObject, type ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage } from "../../model/message.ts"
import { refuseMedia } from "../media.ts"

/** The parts of a Messages API request that hold a conversation. */
export interface AnthropicConversation {
  system?: string
  messages: { role: "user" | "assistant"; content: JsonObject[] }[]
}

/**
 * A conversation for the Anthropic Messages API (https://docs.anthropic.com/en/api/messages): system text apart, roles
 * alternating, results first in the user's turn after the calls. Ids get the form that the API demands (letters,
 * digits, `_` and `-`). Reasoning is left out; the API wants its own signed form of it back.
 *
 * @throws ToolwrightError `UNSUPPORTED_MEDIA` for sounds
 */
export function toAnthropicMessages(conversation: readonly ChatMessage[]): AnthropicConversation {
  const idOf = idWriter()
  const system: string[] = []
  const messages: AnthropicConversation["messages"] = []
  const add = (role: "user" | "assistant", blocks: JsonObject[]): void => {
    const last = messages.at(-1)
    if (blocks.length === 0) return
    if (last?.role !== role) messages.push({ role, content: blocks })
    else last.content.push(...blocks)
  }
  for (const message of conversation) {
    if (message.role === "system") system.push(message.content)
    else if (message.role === "tool") {
      add("user", [
        {
          type: "tool_result",
          tool_use_id: idOf(message.callId),
          content: message.content,
          ...(message.success ? {} : { is_error: true }),
        },
      ])
    } else if (message.role === "user") {
      const images = (message.media ?? []).map((part) => {
        if (part.type !== "image") refuseMedia("Anthropic", part)
        if ("url" in part) return { type: "image", source: { type: "url", url: part.url } }
        return { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.base64 } }
      })
      add("user", [...images, ...textBlocks(message.content)])
    } else {
      const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
        type: "tool_use",
        id: idOf(id),
        name,
        input: args,
      }))
      add("assistant", [...textBlocks(message.content), ...calls])
    }
  }
  return { ...(system.length === 0 ? {} : { system: system.join("\n\n") }), messages }
}

/** Tool definitions as `{ name, description, input_schema }`. */
export function toAnthropicTools(definitions: readonly ToolDefinition[]): JsonObject[] {
  return definitions.map(({ name, description, parameters: schema }) => ({ name, description, input_schema: schema }))
}

/** The API refuses empty text. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === "" ? [] : [{ type: "text", text }]
}

function idWriter(): (id: string) => string {
  const written = new Map<string, string>()
  const taken = new Set<string>()
  return (id) => {
    const known = written.get(id)
    if (known !== undefined) return known
    let safe = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call"
    while (taken.has(safe)) {
      if (safe.length > 500) throw new ToolwrightError("INVALID_MESSAGES", "Too many call ids are alike.")
      safe += "_"
    }
    taken.add(safe)
    written.set(id, safe)
    return safe
  }
}
