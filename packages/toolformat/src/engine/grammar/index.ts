import {
  bindGrammar,
  chars,
  effortForAll,
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
import { textInputOf, ToolwrightError, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { closingMark } from "../print.ts"
import type { CallSyntax, Format } from "../syntax.ts"
import { callExpression, type CallParts } from "./call-grammar.ts"
import type { FormatGrammarOptions, RefusedSchema } from "./options.ts"
import { sharedByConversations } from "./shared.ts"
import type { TextRules } from "./text-arguments.ts"

export type { FormatGrammarOptions, RefusedSchema } from "./options.ts"

const ANYTHING = repeat(chars([0, 0xd7ff], [0xe000, 0x10ffff]), 0)

/**
 * The grammar of replies in a format: its own call syntax, with the tools' names, and each tool's arguments held to its
 * schema as far as a grammar can. Everything that the format prints is in it.
 *
 * Its triggers are the marks with which calls begin, for servers that start to constrain only there.
 *
 * @throws ToolwrightError `NO_TOOLS` without tools; `NO_CALL_SYNTAX` for formats whose calls are never text;
 *   `SCHEMA_REFUSED` where a tool's schema admits nothing or is too much, and nobody hears of it by `onRefused`
 */
export function formatGrammar(
  format: Format,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions = {},
): Grammar {
  const { grounding } = options
  if (grounding === undefined) return replyGrammar(format, tools, options)
  const shared = sharedByConversations(format, tools, options, grounding, () => {
    const refused: RefusedSchema[] = []
    const onRefused = options.onRefused === undefined ? {} : { onRefused: (one: RefusedSchema) => refused.push(one) }
    const grounded = tools.map((tool) => ({ ...tool, parameters: groundSchema(tool.parameters, grounding, tool.name) }))
    return { grammar: replyGrammar(format, grounded, { ...options, ...onRefused }), refused }
  })
  for (const refusal of shared.refused) options.onRefused?.(refusal)
  return bindGrammar(shared.grammar, grounding)
}

/** @throws ToolwrightError `NO_CALL_SYNTAX`, `NO_TOOLS` */
export function syntaxFor(format: Format, tools: readonly ToolDefinition[]): CallSyntax {
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
  return syntax
}

function replyGrammar(format: Format, tools: readonly ToolDefinition[], options: FormatGrammarOptions): Grammar {
  const syntax = syntaxFor(format, tools)
  const rules: TextRules = {}
  const parts: CallParts = { ids: format.ids, rules, effort: options.effort ?? effortForAll() }
  const calls = callsExpression(
    syntax,
    choice(...tools.map((tool) => toolCall(syntax, tool, parts, options))),
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
      rules,
      triggers,
    )
  }
  // where nothing marks a call, only its beginning tells it from text
  const reply =
    marks.length > 0
      ? sequence(until(...marks), optional(calls))
      : choice(calls, optional(sequence(chars([0, 0x5a], [0x5c, 0x7a], [0x7c, 0xd7ff], [0xe000, 0x10ffff]), ANYTHING)))
  return grammarOf(reply, rules, triggers)
}

/** One call of a tool; with any arguments where its schema is too much for a grammar, which costs this tool alone. */
export function toolCall(
  syntax: CallSyntax,
  tool: ToolDefinition,
  parts: CallParts,
  { free, onRefused }: FormatGrammarOptions,
): Expression {
  const withAnyArguments = (): Expression => {
    try {
      return callExpression(syntax, { ...tool, parameters: anyArguments(tool.parameters) }, parts)
    } catch (thrown) {
      if (!isRefusal(thrown) || textInputOf(tool.parameters) !== undefined) throw thrown
      // The names alone are too much, or others have used up what may be worked out.
      return callExpression(syntax, { ...tool, parameters: { type: "object" } }, { ...parts, effort: effortForAll() })
    }
  }
  if (free?.has(tool.name) === true) return withAnyArguments()
  try {
    return callExpression(syntax, tool, parts)
  } catch (thrown) {
    if (!isRefusal(thrown) || onRefused === undefined) throw thrown
    onRefused({ tool: tool.name, reason: thrown.message })
    return withAnyArguments()
  }
}

function isRefusal(thrown: unknown): thrown is ToolwrightError {
  return ToolwrightError.isInstance(thrown) && (thrown.code === "SCHEMA_REFUSED" || thrown.code === "GRAMMAR_REFUSED")
}

/** More are any others: a grammar with thousands of names cannot be written either. */
const MOST_NAMES = 500

/** An object whose members may be anything: those that the schema names by their names, and any others. */
export function anyArguments(schema: JsonSchema): JsonSchema {
  const { properties, required, type } = schema
  if (textInputOf(schema) !== undefined) return { type, properties, required, additionalProperties: false }
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : []
  return {
    type: "object",
    properties: Object.fromEntries(names.slice(0, MOST_NAMES).map((name) => [name, {}])),
    additionalProperties: true,
  }
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
export function openings(syntax: CallSyntax): string[] {
  const wrapper = syntax.wrapper?.open[0]
  if (wrapper !== undefined) return [wrapper]
  if (syntax.codec === "named") return syntax.open.slice(0, 1)
  if (syntax.codec === "parameters") return syntax.call.open.slice(0, 1)
  return syntax.codec === "channel" ? ["<|channel|>commentary to="] : []
}
