import type { ToolResult } from "@toolwright/toolbox"
import { ABOUT, type About, type ChatMessage } from "@toolwright/toolformat"
import { CALL_OPEN, callIn } from "./call.ts"
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
export interface Step {
  readonly reply: string
  readonly tool: string
  readonly result: string
  /** The result itself, where the runtime gave it along. */
  readonly recorded?: ToolResult
}

/** Tokens that the result of an earlier step may have at most; the last one at most, and at least. */
const EARLIER_RESULT = 32
const LAST_RESULT = { most: 160, least: 24 }

/**
 * The prompt of the pocket model: the last request of the user with the steps done for it, in ChatML. What it was not
 * trained on is left out: system messages, earlier requests, the executor's notes. Results are shortened until
 * everything fits, the last one least.
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
      `${reply}<|im_end|>\n<|im_start|>user\n<tool_response>\n${result}\n</tool_response><|im_end|>\n` +
      `<|im_start|>assistant\n`,
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
    const call = withoutMarks(asTrained(reply.content.slice(Math.max(0, reply.content.indexOf(CALL_OPEN))).trim()))
    const about = aboutOf(answer)
    const recorded = about?.kind === "results" ? about.results.at(-1)?.result : undefined
    steps.push({
      reply: call,
      tool: /"name":\s*"([^"]*)"/.exec(call)?.[1] ?? "",
      result: resultOf(answer.content),
      ...(recorded === undefined ? {} : { recorded }),
    })
  }
  return { request: withoutMarks(messages[at]?.content ?? "").trim(), steps }
}

const RESULT_OPEN = "<tool_response>\n"
const RESULT_CLOSE = "\n</tool_response>"

/** A call as it was written in training, with spaces after commas and colons, however the conversation prints it. */
function asTrained(text: string): string {
  const call = callIn(text)
  if (call === undefined) return text
  const given = Object.entries(call.arguments ?? {}).map(
    ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  )
  return `${CALL_OPEN}\n{"name": ${JSON.stringify(call.name)}, "arguments": {${given.join(", ")}}}\n</tool_call>`
}

function aboutOf(message: ChatMessage): About | undefined {
  return message.role === "user" ? message[ABOUT] : undefined
}

/** By its mark; a conversation that did not come through the runtime has none, there it is told by its form. */
function isResult(message: ChatMessage): boolean {
  const about = aboutOf(message)
  if (about !== undefined) return about.kind === "results"
  return message.role === "user" && message.content.startsWith(RESULT_OPEN)
}

function isNote(message: ChatMessage): boolean {
  return aboutOf(message)?.kind === "note"
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
