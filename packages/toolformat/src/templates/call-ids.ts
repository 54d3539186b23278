import type { ToolCall } from "@toolwright/toolbox"
import type { ChatMessage } from "../model/message.ts"

/**
 * The form in which a template wants call ids: `nine` letters and digits (Mistral; its templates refuse others), `kimi`
 * (`functions.{name}:{index}` counted over the whole conversation; others get into the prompt and degrade the model),
 * or as they are.
 */
export type TemplateIds = "nine" | "kimi" | "keep"

/** Which form a template wants, from its own text. */
export function idsOfTemplate(source: string): TemplateIds {
  if (source.includes("[TOOL_CALLS]")) return "nine"
  return source.includes("<|tool_calls_section_begin|>") ? "kimi" : "keep"
}

/** The conversation with its call ids in that form; results follow their calls. The messages given stay as they are. */
export function withTemplateIds(messages: readonly ChatMessage[], form: TemplateIds): readonly ChatMessage[] {
  if (form === "keep") return messages
  const renamed = new Map<string, string>()
  const taken = new Set<string>()
  let index = 0

  const rename = (call: ToolCall): ToolCall => {
    const id = form === "kimi" ? `functions.${call.name}:${index}` : nineOf(call.id, taken)
    index += 1
    taken.add(id)
    renamed.set(call.id, id)
    return { ...call, id }
  }
  return messages.map((message) => {
    if (message.role === "assistant" && message.toolCalls !== undefined) {
      return { ...message, toolCalls: message.toolCalls.map(rename) }
    }
    if (message.role !== "tool") return message
    const known = renamed.get(message.callId)
    if (known !== undefined) return { ...message, callId: known }
    // A result without its call, as after the beginning of a conversation was cut off.
    const alone = rename({ id: message.callId, name: message.name, arguments: {} })
    return { ...message, callId: alone.id }
  })
}

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** The id itself when it has the form and is free, else nine characters that depend on it alone (but for clashes). */
function nineOf(id: string, taken: ReadonlySet<string>): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id) && !taken.has(id)) return id
  for (let salt = 0; ; salt += 1) {
    const text = `${salt}:${id}`
    let low = 0x811c9dc5
    let high = 0x01000193
    for (let at = 0; at < text.length; at += 1) {
      low = Math.imul(low ^ text.charCodeAt(at), 0x01000193)
      high = Math.imul(high + text.charCodeAt(at), 0x85ebca6b) ^ (high >>> 13)
    }
    let candidate = ""
    for (let number of [low >>> 0, high >>> 0]) {
      for (let place = 0; place < 5; place += 1) {
        candidate += LETTERS[number % 62]
        number = Math.floor(number / 62)
      }
    }
    candidate = candidate.slice(0, 9)
    if (!taken.has(candidate)) return candidate
  }
}
