import { failure, success, type ToolDefinition } from "@toolwright/toolbox"
import type { ToolFormatter } from "../model/formatter.ts"
import { ABOUT, type About, type ChatMessage } from "../model/message.ts"

/** Which parts of a conversation are written out as text. */
export interface TextParts {
  tools: boolean
  calls: boolean
  results: boolean
}

/** Everything as text. */
export const ALL_PARTS: TextParts = { tools: true, calls: true, results: true }

/**
 * Writes tools, calls and results into the text of a conversation, as a model family reads them: for backends and chat
 * templates that know plain messages only. The tools go to the end of the system message, or to a new one; calls follow
 * the assistant's text; results, several in one, become a user message. Neighbouring user messages are joined, since
 * many templates want roles to alternate.
 *
 * @param formatter the family's format
 * @param parts what to write out; the rest stays as it is. All of it unless given
 */
export function renderConversation(
  formatter: ToolFormatter,
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  parts: TextParts = ALL_PARTS,
): ChatMessage[] {
  const rendered: ChatMessage[] = []
  for (const message of messages) {
    if (message.role === "tool" && parts.results)
      addUser(rendered, resultText(formatter, message), "\n", message[ABOUT])
    else if (message.role === "user") addUser(rendered, message.content, "\n\n", message[ABOUT], message.media)
    else if (message.role === "assistant" && parts.calls && message.toolCalls?.length) {
      const { toolCalls, ...rest } = message
      rendered.push({ ...rest, content: join(rest.content, formatter.printCalls(toolCalls, tools), "\n") })
    } else rendered.push(message)
  }
  return parts.tools ? withSystemText(rendered, formatter.formatToolsForPrompt(tools)) : rendered
}

/** The conversation with this text at the end of its system message. */
export function withSystemText(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  if (text === "") return [...messages]
  const [first, ...rest] = messages
  if (first?.role !== "system") return [{ role: "system", content: text }, ...messages]
  return [{ role: "system", content: join(first.content, text, "\n\n") }, ...rest]
}

/**
 * The conversation with its system message at the head of the first user message, for templates that refuse that role.
 */
export function withSystemInUser(messages: readonly ChatMessage[]): ChatMessage[] {
  const [first, ...rest] = messages
  if (first?.role !== "system") return [...messages]
  const at = rest.findIndex((message) => message.role === "user")
  const user = rest[at]
  if (user?.role !== "user" || at > 0) return [{ role: "user", content: first.content }, ...rest]
  return [{ ...user, content: join(first.content, user.content, "\n\n") }, ...rest.slice(1)]
}

/** The conversation with neighbouring messages of the user joined, and of the assistant where they are text alone. */
export function withJoinedTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (message.role === "user") addUser(joined, message.content, "\n\n", message[ABOUT], message.media)
    else if (message.role === "assistant" && last?.role === "assistant" && !last.toolCalls?.length) {
      joined[joined.length - 1] = { ...message, content: join(last.content, message.content, "\n\n") }
    } else joined.push(message)
  }
  return joined
}

/**
 * The conversation with one call in each assistant message, its result right after it, for templates that show only
 * one.
 */
export function withSingleCalls(messages: readonly ChatMessage[]): ChatMessage[] {
  const split: ChatMessage[] = []
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at]!
    if (message.role !== "assistant" || (message.toolCalls?.length ?? 0) < 2) {
      split.push(message)
      continue
    }
    const results: Extract<ChatMessage, { role: "tool" }>[] = []
    for (let next = messages[at + 1]; next?.role === "tool"; next = messages[at + 1]) {
      results.push(next)
      at += 1
    }
    const { toolCalls = [], ...rest } = message
    for (const [index, call] of toolCalls.entries()) {
      split.push(index === 0 ? { ...rest, toolCalls: [call] } : { role: "assistant", content: "", toolCalls: [call] })
      const found = results.findIndex((result) => result.callId === call.id)
      if (found >= 0) split.push(...results.splice(found, 1))
    }
    split.push(...results)
  }
  return split
}

function resultText(formatter: ToolFormatter, message: Extract<ChatMessage, { role: "tool" }>): string {
  const call = { id: message.callId, name: message.name, arguments: {} }
  const result = message.success
    ? success({ output: message.content })
    : failure({ code: "TOOL_FAILED", message: message.content, output: message.content })
  return formatter.formatToolResult(call, result)
}

function addUser(
  messages: ChatMessage[],
  content: string,
  separator: string,
  about: About | undefined,
  media: Extract<ChatMessage, { role: "user" }>["media"] = [],
): void {
  const last = messages.at(-1)
  const joined = last?.role === "user" ? join(last.content, content, separator) : content
  const allMedia = [...((last?.role === "user" ? last.media : undefined) ?? []), ...media]
  const kept = last?.role === "user" ? joinedAbout(last[ABOUT], about) : about
  if (last?.role === "user") messages.pop()
  messages.push({
    role: "user",
    content: joined,
    ...(allMedia.length === 0 ? {} : { media: allMedia }),
    ...(kept === undefined ? {} : { [ABOUT]: kept }),
  })
}

/** What two messages in one are about: the first one says it, and results come together. */
function joinedAbout(first: About | undefined, second: About | undefined): About | undefined {
  if (first?.kind !== "results" || second?.kind !== "results") return first
  return { kind: "results", results: [...first.results, ...second.results] }
}

function join(first: string, second: string, separator: string): string {
  return first === "" || second === "" ? first + second : first + separator + second
}
