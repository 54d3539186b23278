import type { ToolDefinition } from "@toolwright/toolbox"
import {
  formatterOf,
  listFormats,
  type ParseEvent,
  type ParseProblem,
  type ToolCallParser,
} from "@toolwright/toolformat"
import type { Reply } from "./reply.ts"

/** A call with its arguments is not longer; a long text is an answer. */
const LONGEST = 64 * 1024
/** Of this many characters at the beginning some are words, where there are any before a call. */
const BEGINNING = 48

/**
 * A reply that is nothing but a call in the syntax of another family, which the model's own format does not know: not
 * an answer, but a problem that the model is told of. What only holds a call, such as an explanation of one, is an
 * answer.
 */
export function takeForeignCall(reply: Reply, tools: readonly ToolDefinition[]): ParseProblem | undefined {
  const { content } = reply
  if (reply.calls.length > 0 || content.length > LONGEST || !/[{<[>]/.test(content)) return undefined
  if (!tools.some(({ name }) => content.includes(name))) return undefined
  const name = callIn(content, tools)
  if (name === undefined) return undefined
  reply.content = ""
  const message = `The reply is a call of '${name}' in a form that was not asked for, and was not run.`
  const problem = {
    kind: "foreign-syntax",
    at: reply.raw.lastIndexOf(content),
    text: content,
    message,
    repaired: false,
    shown: true,
  }
  return problem as ParseProblem
}

function callIn(text: string, tools: readonly ToolDefinition[]): string | undefined {
  for (const format of listFormats()) {
    if (format.apiOnly !== undefined) continue
    const name = onlyCall(readInTwo(formatterOf(format).createParser({ tools }), text))
    if (name !== undefined && tools.some((tool) => tool.name === name)) return name
  }
  return undefined
}

/** What is read of a text: by far most are told to be more than a call by how they begin, and are read no further. */
function* readInTwo(parser: ToolCallParser, text: string): Generator<ParseEvent, void> {
  yield* parser.push(text.slice(0, BEGINNING))
  yield* parser.push(text.slice(BEGINNING))
  yield* parser.end()
}

/** The name of the first call, where nothing is said beside the calls. */
function onlyCall(events: Iterable<ParseEvent>): string | undefined {
  let name: string | undefined
  for (const event of events) {
    if (event.type === "text-delta" && event.text.trim() !== "") return undefined
    if (event.type === "call-end") name ??= event.call.name
  }
  return name
}
