import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"

/** What `useChat` of the AI SDK sends of a conversation; a request may hold anything, so nothing of it is taken for given. */
interface UiPart {
  type?: unknown
  text?: unknown
  toolCallId?: unknown
  toolName?: unknown
  input?: unknown
  output?: unknown
  errorText?: unknown
}

/** Messages that a conversation may have, and parts that each may have. */
const MOST = 10_000

/**
 * The messages of `useChat`, as a run takes them: the last one, of the user, is the task, and those before it are what
 * was said and done. Pictures and other files are left out: give them as `media`. Where a page may not say what the
 * assistant has done, keep conversations yourself and take the task alone.
 *
 * @param body the request's body, or its `messages`
 * @throws ToolwrightError `INVALID_ARGUMENTS` where they are no such messages, or the last one is not the user's
 */
export function fromUiMessages(body: unknown): { task: string; history: ChatMessage[] } {
  const messages: unknown = Array.isArray(body) ? body : (body as { messages?: unknown } | null | undefined)?.messages
  if (!Array.isArray(messages) || messages.length > MOST) throw notSuch("they are no list of messages")
  const all = messages.flatMap((message: unknown) => turned(message as { role?: unknown; parts?: unknown } | null))
  const last = all.pop()
  if (last?.role !== "user" || last.content.trim() === "") throw notSuch("the last one is no text of the user")
  return { task: last.content, history: all }
}

function turned(message: { role?: unknown; parts?: unknown } | null): ChatMessage[] {
  const { role, parts } = message ?? {}
  if (!Array.isArray(parts) || parts.length > MOST) throw notSuch("one has no parts")
  const known = parts.map((part: unknown) => (typeof part === "object" && part !== null ? part : {}) as UiPart)
  if (role === "user") return [{ role, content: textOf(known) }]
  if (role === "assistant") return steps(known).flatMap(stepMessages)
  // Who may tell an agent what it is says it in the program.
  if (role === "system") return []
  throw notSuch("one is of nobody")
}

/** The parts of a message by the rounds that they came in. */
function steps(parts: readonly UiPart[]): UiPart[][] {
  const all: UiPart[][] = [[]]
  for (const part of parts) {
    if (part.type === "step-start") all.push([])
    else all.at(-1)!.push(part)
  }
  return all
}

/** What was said in a round, the calls that ran, and their results; a call without a result was not made. */
function stepMessages(parts: readonly UiPart[]): ChatMessage[] {
  const content = textOf(parts)
  const calls = parts.flatMap(callOf)
  if (content === "" && calls.length === 0) return []
  const toolCalls = calls.map(({ id, name, input }) => ({ id, name, arguments: input }))
  return [
    { role: "assistant", content, ...(calls.length === 0 ? {} : { toolCalls }) },
    ...calls.map(
      ({ id, name, result, success }) => ({ role: "tool", content: result, callId: id, name, success }) as const,
    ),
  ]
}

function callOf({ type, toolCallId: id, toolName, input, output, errorText }: UiPart) {
  if (typeof type !== "string" || typeof id !== "string") return []
  const name = type === "dynamic-tool" ? toolName : /^tool-(.+)$/.exec(type)?.[1]
  if (typeof name !== "string" || (output === undefined && typeof errorText !== "string")) return []
  const success = output !== undefined
  const said = success ? output : errorText
  const result = typeof said === "string" ? said : JSON.stringify(said)
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input)
  return [{ id, name, input: (isObject ? input : {}) as JsonObject, result, success }]
}

const textOf = (parts: readonly UiPart[]): string =>
  parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : [])).join("\n\n")

const notSuch = (why: string): ToolwrightError =>
  new ToolwrightError("INVALID_ARGUMENTS", `These are no messages of useChat: ${why}.`, {
    hint: "Give the request's body as it came, or its 'messages'.",
  })
