import type { ToolDefinition } from "@toolwright/toolbox"
import type { PromptStyle, ResultStyle } from "../engine/syntax.ts"
import { toOpenAITools } from "../api/index.ts"
import { toolLinesPrompt } from "../formats/prompts.ts"
import { resultText } from "../formats/results.ts"
import type { ChatMessage } from "../model/message.ts"
import { PLAIN, plainTools, WORDS } from "./probes.ts"
import type { Renderings } from "./renderings.ts"
import { marksIn, sameUpTo } from "./text.ts"

const SYSTEM: ChatMessage = { role: "system", content: WORDS.system }
const USER: ChatMessage = { role: "user", content: WORDS.user }

/** How a template lists tools; undefined where it shows none. */
export function seenTools(renderings: Renderings): PromptStyle | undefined {
  const probe = sectionOf(renderings, plainTools())
  if (probe === undefined || !probe.includes(WORDS.first) || !probe.includes(WORDS.second)) return undefined
  // a list in a turn of its own cannot be part of a system message
  const headers = [...marksIn(renderings.nextTurn), ...marksIn(renderings.answerStart)]
  if (headers.some((mark) => probe.includes(mark))) return undefined
  return (tools, call) => {
    const section = sectionOf(renderings, tools)
    return section === undefined || !tools.every(({ name }) => section.includes(name))
      ? toolLinesPrompt(tools, call)
      : `${section.trim()}\n`
  }
}

/** What stands in a prompt more when there are tools, without the headers of the turn that it stands in. */
function sectionOf(renderings: Renderings, tools: readonly ToolDefinition[]): string | undefined {
  const messages = [SYSTEM, USER]
  const without = renderings.prompt({ messages })
  const shown = renderings.prompt({ messages, tools: toOpenAITools(tools) })
  if (without === undefined || shown === undefined || without === shown) return undefined
  const start = sameUpTo(shown, without)
  let end = 0
  const most = Math.min(shown.length, without.length) - start
  while (end < most && shown.at(-1 - end) === without.at(-1 - end)) end++
  const section = shown.slice(start, shown.length - end)
  // the words of the conversation belong to it, not to the list
  return section.includes(WORDS.system) || section.includes(WORDS.user) ? withoutWords(section) : section
}

function withoutWords(section: string): string {
  const parts = section.split(new RegExp(`${WORDS.system}|${WORDS.user}`))
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "")
}

/** How a template shows a result; undefined where it shows none. */
export function seenResult(renderings: Renderings): ResultStyle | undefined {
  const text = `${WORDS.result} "q"`
  const [call] = PLAIN.one
  const reply: ChatMessage = { role: "assistant", content: "", toolCalls: [call] }
  const result: ChatMessage = { role: "tool", content: text, callId: call.id, name: call.name, success: true }
  const tools = toOpenAITools(plainTools())
  const shown = renderings.prompt({ messages: [USER, reply, result], tools })
  const before = renderings.prompt({ messages: [USER, reply], tools, answer: false })
  if (shown === undefined) return undefined
  const encode = ENCODINGS.find((each) => shown.includes(each(text)))
  if (encode === undefined) return undefined
  const at = shown.lastIndexOf(encode(text))
  const start = before === undefined ? 0 : sameUpTo(shown, before)
  const open = start >= at ? "" : withoutHeader(shown.slice(start, at), renderings)
  const close = upToTurnEnd(shown.slice(at + encode(text).length), renderings)
  const named = (text: string, made: { id: string; name: string }) =>
    text.replaceAll(call.name, made.name).replaceAll(call.id, made.id)
  return (made, given) => `${named(open, made)}${encode(resultText(given))}${named(close, made)}`
}

/** How a result's text may be written: as JSON, within JSON, or as it is. */
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => text,
]

/** What stands before a result, without the header of the turn that it stands in. */
function withoutHeader(before: string, { nextTurn }: Renderings): string {
  const usual = marksIn(nextTurn)
  const headers = marksIn(before).filter((mark) => usual.some((known) => sameBut(mark, known)))
  const last = headers.at(-1)
  if (last === undefined) return marksIn(before).length === 0 ? "" : before.trimStart()
  return before
    .slice(before.lastIndexOf(last) + last.length)
    .replace(/^\w*\n+/, "")
    .trimStart()
}

/** Whether two marks are the same but for the word that names the speaker. */
function sameBut(mark: string, known: string): boolean {
  if (mark === known) return true
  const [head, tail] = known.split(/user/i)
  if (head === undefined || tail === undefined || !mark.startsWith(head) || !mark.endsWith(tail)) return false
  return /^(tool|ipython|function|observation|environment|human)$/i.test(
    mark.slice(head.length, mark.length - tail.length),
  )
}

function upToTurnEnd(after: string, { nextTurn, answerStart }: Renderings): string {
  const ends = [...marksIn(nextTurn), ...marksIn(answerStart)]
    .map((mark) => after.indexOf(mark))
    .filter((at) => at >= 0)
  return after.slice(0, Math.min(...ends, after.length)).trimEnd()
}
