import type { ChatMessage } from "@toolwright/toolformat"
import { shapeResult } from "./shape-result.ts"
import { shorten, type CountTokens } from "./shorten.ts"

export interface PocketPromptOptions {
  /** The workspace's absolute path, which is cut from results. */
  readonly root?: string
  /** Tokens that a prompt may have. */
  readonly limit: number
  readonly count: CountTokens
}

/** A call with its result, as the conversation holds them. */
interface Step {
  readonly reply: string
  readonly tool: string
  readonly result: string
}

/** Tokens that the result of an earlier step may have at most; the last one at most, and at least. */
const EARLIER_RESULT = 32
const LAST_RESULT = { most: 160, least: 24 }

/**
 * The prompt of the pocket model: the last request of the user with the steps done for it, in ChatML. What it was not
 * trained on is
 * left out: system messages, earlier requests, the executor's notes. Results are shortened until everything fits, the
 * last one least.
 *
 * @returns undefined when the request with its calls does not fit, whatever is left out of the results
 */
export function renderPocketPrompt(messages: readonly ChatMessage[], options: PocketPromptOptions): string | undefined {
  const shown = shownOf(messages, options)
  return shown === undefined ? undefined : chatMl(shown.request, shown.steps)
}

/**
 * The texts that the model may take arguments from: the request, and of each step what was given to the tool and what
 * it is shown of the result.
 */
export function pocketTexts(messages: readonly ChatMessage[], options: PocketPromptOptions): string[] {
  const { request, steps } = shownOf(messages, options) ?? { ...lastRequest(messages), steps: [] }
  return [request, ...steps.flatMap(({ reply, result }) => [...argumentsIn(reply), result])]
}

function shownOf(
  messages: readonly ChatMessage[],
  { root = "", limit, count }: PocketPromptOptions,
): { request: string; steps: { reply: string; result: string }[] } | undefined {
  const { request, steps } = lastRequest(messages)
  const shaped = steps.map(({ tool, result }) => shapeResult(tool, result, root))
  const frame = chatMl(
    request,
    steps.map(({ reply }) => ({ reply, result: "" })),
  )
  const room = limit - count(frame)
  const earlier = shaped.slice(0, -1).map((result) => shorten(result, EARLIER_RESULT, count))
  const left = room - earlier.reduce((total, text) => total + count(text), 0)
  if (room < 0 || (steps.length > 0 && left < LAST_RESULT.least)) return undefined
  const texts =
    shaped.length === 0 ? [] : [...earlier, shorten(shaped.at(-1)!, Math.min(left, LAST_RESULT.most), count)]
  return { request, steps: steps.map(({ reply }, index) => ({ reply, result: texts[index]! })) }
}

/** The texts and numbers of a call's arguments. */
function argumentsIn(reply: string): string[] {
  try {
    const call = JSON.parse(reply.replace(/^<tool_call>|<\/tool_call>$/g, "")) as {
      arguments?: Record<string, unknown>
    }
    return Object.values(call.arguments ?? {})
      .filter((value) => typeof value === "string" || typeof value === "number")
      .map(String)
  } catch {
    return []
  }
}

function chatMl(request: string, steps: readonly { reply: string; result: string }[]): string {
  const turns = steps.map(
    ({ reply, result }) =>
      `${reply}<|im_end|>\n<|im_start|>user\n<tool_response>\n${result}\n</tool_response><|im_end|>\n<|im_start|>assistant\n`,
  )
  return `<|im_start|>user\n${request}<|im_end|>\n<|im_start|>assistant\n${turns.join("")}`
}

/**
 * The last thing that a person asked, and the calls that were answered since. Replies without a result after them are
 * left out.
 */
export function lastRequest(messages: readonly ChatMessage[]): { request: string; steps: Step[] } {
  const at = messages.findLastIndex((message) => message.role === "user" && !isResult(message) && !isNote(message))
  const steps: Step[] = []
  for (let index = at + 1; index < messages.length - 1; index++) {
    const reply = messages[index]!
    const answer = messages[index + 1]!
    if (reply.role !== "assistant" || !isResult(answer)) continue
    const call = withoutMarks(reply.content.slice(Math.max(0, reply.content.indexOf(CALL_OPEN)))).trim()
    steps.push({ reply: call, tool: /"name":\s*"([^"]*)"/.exec(call)?.[1] ?? "", result: resultOf(answer.content) })
  }
  return { request: withoutMarks(messages[at]?.content ?? "").trim(), steps }
}

/** How the model begins a call. */
export const CALL_OPEN = "<tool_call>"
const RESULT_OPEN = "<tool_response>\n"
const RESULT_CLOSE = "\n</tool_response>"

function isResult({ role, content }: ChatMessage): boolean {
  return role === "user" && content.startsWith(RESULT_OPEN)
}

/** How the executor's notes begin, where they stand alone: after a reply that was no call, or no whole one. */
const NOTES = [
  "Please use tools to complete the task.",
  "Your reply held only reasoning.",
  "Your reply was cut off",
  "Part of your reply looked like a tool call",
]

function isNote({ content }: ChatMessage): boolean {
  return NOTES.some((note) => content.startsWith(note))
}

/** The first result of a message; notes of the executor stand after it. */
function resultOf(content: string): string {
  const end = content.lastIndexOf(RESULT_CLOSE)
  return content.slice(RESULT_OPEN.length, end === -1 ? undefined : end)
}

/** Marks of the conversation's own form, written by a person, are no marks. */
function withoutMarks(text: string): string {
  return text.replaceAll(/<\|im_(start|end)\|>/g, "[im_$1]")
}
