import type { ChatMessage } from "@toolwright/toolformat"

/** A part of a request that a step can look at. */
export type Subject = "system" | "user" | "last" | "result" | "any"

/** The text of a subject; empty where the request has no such part. */
export function textOfSubject(messages: readonly ChatMessage[], subject: Subject): string {
  if (subject === "any") return messages.map((message) => message.content).join("\n\n")
  if (subject === "last") return messages.at(-1)?.content ?? ""
  if (subject === "result")
    return sinceLastReply(messages)
      .map((message) => message.content)
      .join("\n")
  return messages.find((message) => message.role === subject)?.content ?? ""
}

/**
 * The messages after the model's last reply: tool results, or the prompt that stands in their place; before it, the
 * whole request.
 */
export function sinceLastReply(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const reply = messages.findLastIndex((message) => message.role === "assistant")
  return messages.slice(reply + 1).filter((message) => reply !== -1 || message.role !== "system")
}
