import type { ToolCall } from "@toolwright/toolbox"
import type { ParsedReply, ParseEvent, ParseProblem, ParserOptions, Span, ToolCallParser } from "../model/formatter.ts"
import { marksOf } from "./markers.ts"
import { readReply } from "./reply.ts"
import { Session } from "./session.ts"
import type { CallSyntax, Format } from "./syntax.ts"

/** A parser that can prove that it lost nothing. */
export interface AccountingParser extends ToolCallParser {
  /** What became of the text so far; after `end()`, of all of it, without gaps and in order. */
  spans(): readonly Span[]
}

/**
 * A push parser of one reply in a format.
 *
 * @param foreign syntaxes of other families that are accepted, and reported, besides the format's own
 * @param marks with which calls of any family begin; where one stands before a tool's name and no call was read, that
 *   is reported
 */
export function createParser(
  format: Format,
  foreign: readonly CallSyntax[],
  options: ParserOptions = {},
  marks: readonly string[] = [],
): AccountingParser {
  const session = new Session(format, options)
  const scan = readReply(
    session,
    marksOf(format, foreign),
    options.startsInReasoning === true && format.reasoning !== undefined,
  )
  scan.next()
  return {
    push(text) {
      if (text !== "" && session.source.push(text)) scan.next()
      return session.take()
    },
    end() {
      session.source.end()
      scan.next()
      session.tellUnreadCalls(marks)
      return session.take()
    },
    spans: () => session.spans,
  }
}

/** Gathers events into a whole reply. */
export function collectReply(events: Iterable<ParseEvent>): ParsedReply {
  const calls: ToolCall[] = []
  const problems: ParseProblem[] = []
  let content = ""
  let reasoning = ""
  for (const event of events) {
    if (event.type === "text-delta") content += event.text
    else if (event.type === "reasoning-delta") reasoning += event.text
    else if (event.type === "text-was-reasoning") {
      reasoning = content + reasoning
      content = ""
    } else if (event.type === "call-end") calls.push(event.call)
    else if (event.type === "problem") problems.push(event.problem)
  }
  return { calls, content, reasoning, problems }
}
