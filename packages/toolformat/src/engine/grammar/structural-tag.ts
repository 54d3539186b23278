import { effortForAll, type Expression, grammarOf, grammarToGbnf } from "@toolwright/logits"
import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import { closingMark } from "../print.ts"
import type { CallSyntax, Format } from "../syntax.ts"
import type { CallParts } from "./call-grammar.ts"
import { anyArguments, openings, syntaxFor, toolCall } from "./index.ts"
import type { FormatGrammarOptions, RefusedSchema } from "./options.ts"
import type { TextRules } from "./text-arguments.ts"

/** Calls between marks, as xgrammar has them: what vLLM and SGLang take in place of a grammar. */
export interface StructuralTagOf {
  readonly tag: JsonObject
  /** Tools whose schemas are refused: they may be called with any arguments. */
  readonly refused: readonly RefusedSchema[]
}

/**
 * The replies of a format as one structural tag: text is free until a call begins, and each call is held to its own
 * syntax and to its tool's schema. JSON arguments are left to the engine's own reading of the schema, others are a
 * grammar.
 *
 * @throws ToolwrightError `NO_TOOLS`, `NO_CALL_SYNTAX`
 */
export function structuralTag(
  format: Format,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions = {},
): StructuralTagOf {
  const syntax = syntaxFor(format, tools)
  const refused: RefusedSchema[] = []
  const shared = { ids: format.ids, effort: options.effort ?? effortForAll() }
  const heard = { ...options, onRefused: (one: RefusedSchema) => refused.push(one) }
  const tags = tools.map((tool) => callTag(syntax, tool, shared, heard))
  const reply = replyOf(syntax, tags, options)
  return { tag: { type: "structural_tag", format: withReasoning(format, reply, options) }, refused }
}

interface Tag extends JsonObject {
  type: "tag"
  begin: string
  content: JsonObject
  end: string
}

function callTag(
  syntax: CallSyntax,
  tool: ToolDefinition,
  shared: Omit<CallParts, "rules">,
  options: FormatGrammarOptions,
): Tag {
  let isFree = options.free?.has(tool.name) === true
  const onRefused = (refusal: RefusedSchema): void => {
    isFree = true
    options.onRefused?.(refusal)
  }
  const rules: TextRules = {}
  const parts = flat(toolCall(syntax, tool, { ...shared, rules }, { ...options, onRefused }))
  const first = parts.findIndex(({ kind }) => kind !== "literal")
  if (first < 0) return { type: "tag", begin: textOf(parts), content: constant(""), end: "" }
  const last = parts.findLastIndex(({ kind }) => kind !== "literal")
  const middle = parts.slice(first, last + 1)
  const parameters = isFree ? anyArguments(tool.parameters) : tool.parameters
  return {
    type: "tag",
    begin: textOf(parts.slice(0, first)),
    content: isJson(middle)
      ? { type: "json_schema", json_schema: { type: "object", ...parameters } }
      : { type: "grammar", grammar: grammarToGbnf(grammarOf({ kind: "sequence", parts: middle }, rules)) },
    end: textOf(parts.slice(last + 1)),
  }
}

function flat(expression: Expression): readonly Expression[] {
  return expression.kind === "sequence" ? expression.parts.flatMap(flat) : [expression]
}

function textOf(literals: readonly Expression[]): string {
  return literals.map((one) => (one.kind === "literal" ? one.text : "")).join("")
}

function isJson([only, ...more]: readonly Expression[]): boolean {
  return more.length === 0 && only?.kind === "value" && only.notation.id === "model-json"
}

const constant = (value: string): JsonObject => ({ type: "const_string", value })

/** Calls alone, or text in which calls may stand. */
function replyOf(
  syntax: CallSyntax,
  calls: readonly Tag[],
  { mode, parallel = true }: FormatGrammarOptions,
): JsonObject {
  const together = syntax.together === true && parallel
  const blocks = together ? [wrapped(syntax, calls)] : calls.map((call) => inBlock(syntax, call))
  const alone: JsonObject = together
    ? blocks[0]!
    : {
        type: "tags_with_separator",
        tags: blocks,
        separator: syntax.separator ?? "",
        at_least_one: true,
        stop_after_first: !parallel,
      }
  if (mode === "call") return alone
  const triggers = openings(syntax)
  if (triggers.length === 0) return { type: "or", elements: [alone, { type: "any_text" }] }
  return {
    type: "triggered_tags",
    triggers,
    tags: blocks,
    at_least_one: false,
    stop_after_first: together || !parallel,
  }
}

/** What stands before and after the calls of a wrapper. */
function marksOf(syntax: CallSyntax): { open: string; close: string } {
  const { before = "", after = "" } = syntax.layout ?? {}
  return { open: (syntax.wrapper?.open[0] ?? "") + before, close: after + closingMark(syntax) }
}

/** All calls in one wrapper. */
function wrapped(syntax: CallSyntax, calls: readonly Tag[]): Tag {
  const { open, close } = marksOf(syntax)
  const separator = syntax.layout?.between ?? ""
  const content = {
    type: "tags_with_separator",
    tags: [...calls],
    separator,
    at_least_one: true,
    stop_after_first: false,
  }
  return { type: "tag", begin: open, content, end: close }
}

/** A call in a wrapper of its own. */
function inBlock(syntax: CallSyntax, call: Tag): Tag {
  const { open, close } = marksOf(syntax)
  return { ...call, begin: open + call.begin, end: call.end + close }
}

/** Reasoning between the family's marks, before which nothing triggers. */
function withReasoning(format: Format, reply: JsonObject, { reasoning }: FormatGrammarOptions): JsonObject {
  const open = format.reasoning?.open[0]
  const close = format.reasoning?.close[0]
  if (reasoning !== true || open === undefined || close === undefined) return reply
  const thinking = { type: "tag", begin: open, content: { type: "any_text" }, end: close }
  return { type: "or", elements: [{ type: "sequence", elements: [thinking, reply] }, reply] }
}
