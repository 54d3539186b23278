import {
  bindGrammar,
  chars,
  choice,
  grammarOf,
  groundSchema,
  literal,
  optional,
  repeat,
  sequence,
  until,
  type Expression,
  type Grammar,
} from "@toolwright/logits"
import { ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { closingMark } from "../print.ts"
import type { CallSyntax, Format } from "../syntax.ts"
import { callExpression } from "./call-grammar.ts"
import type { FormatGrammarOptions } from "./options.ts"
import { sharedByConversations } from "./shared.ts"

export type { FormatGrammarOptions } from "./options.ts"

const ANYTHING = repeat(chars([0, 0xd7ff], [0xe000, 0x10ffff]), 0)

/**
 * The grammar of replies in a format: its own call syntax, with the tools' names, and each tool's arguments held to its
 * schema
 * as far as a grammar can. Everything that the format prints is in it.
 *
 * Its triggers are the marks with which calls begin, for servers that start to constrain only there.
 *
 * @throws ToolwrightError `NO_TOOLS` without tools; `NO_CALL_SYNTAX` for formats whose calls are never text;
 *   `SCHEMA_REFUSED`
 *   where a tool's schema admits nothing
 */
export function formatGrammar(
  format: Format,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions = {},
): Grammar {
  const { grounding } = options
  if (grounding === undefined) return replyGrammar(format, tools, options)
  const shared = sharedByConversations(format, tools, options, grounding, () => {
    const grounded = tools.map((tool) => ({ ...tool, parameters: groundSchema(tool.parameters, grounding, tool.name) }))
    return replyGrammar(format, grounded, options)
  })
  return bindGrammar(shared, grounding)
}

function replyGrammar(format: Format, tools: readonly ToolDefinition[], options: FormatGrammarOptions): Grammar {
  const syntax = format.calls[0]
  if (syntax === undefined || format.apiOnly !== undefined) {
    throw new ToolwrightError(
      "NO_CALL_SYNTAX",
      `The calls of format '${format.id}' are never text, so there is no grammar for them.`,
      { hint: "Let the API's own tool choice constrain the reply." },
    )
  }
  if (tools.length === 0)
    throw new ToolwrightError("NO_TOOLS", "A grammar of calls needs at least one tool.", {
      hint: "Send the request without a grammar.",
    })
  const calls = callsExpression(
    syntax,
    choice(...tools.map((tool) => callExpression(syntax, tool, format.ids))),
    options.parallel ?? true,
  )
  const marks = openings(syntax)
  const triggers = marks.map((text) => ({ text }))
  if (options.mode === "call") {
    const open = format.reasoning?.open[0]
    const close = format.reasoning?.close[0]
    const thinks = options.reasoning === true && open !== undefined && close !== undefined
    return grammarOf(
      thinks
        ? sequence(
            optional(
              sequence(literal(open), until(close), literal(close), optional(literal("\n")), optional(literal("\n"))),
            ),
            calls,
          )
        : calls,
      {},
      triggers,
    )
  }
  // where nothing marks a call, only its beginning tells it from text
  const reply =
    marks.length > 0
      ? sequence(until(...marks), optional(calls))
      : choice(calls, optional(sequence(chars([0, 0x5a], [0x5c, 0x7a], [0x7c, 0xd7ff], [0xe000, 0x10ffff]), ANYTHING)))
  return grammarOf(reply, {}, triggers)
}

function callsExpression(syntax: CallSyntax, call: Expression, parallel: boolean): Expression {
  const { before = "", between = "", after = "" } = syntax.layout ?? {}
  const open = literal((syntax.wrapper?.open[0] ?? "") + before)
  const close = literal(after + closingMark(syntax))
  if (!parallel) return sequence(open, call, close)
  if (syntax.together === true) return sequence(open, call, repeat(sequence(literal(between), call), 0), close)
  const block = sequence(open, call, close)
  return sequence(block, repeat(sequence(literal(syntax.separator ?? ""), block), 0))
}

/** The marks with which printed calls begin. */
function openings(syntax: CallSyntax): string[] {
  const wrapper = syntax.wrapper?.open[0]
  if (wrapper !== undefined) return [wrapper]
  if (syntax.codec === "named") return syntax.open.slice(0, 1)
  if (syntax.codec === "parameters") return syntax.call.open.slice(0, 1)
  return syntax.codec === "channel" ? ["<|channel|>commentary to="] : []
}
