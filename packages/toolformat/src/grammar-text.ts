import { type Grammar, grammarToGbnf } from "@toolwright/logits"
import { ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { structuralTag, type StructuralTagOf } from "./engine/grammar/structural-tag.ts"
import type { Format } from "./engine/syntax.ts"
import { type FormatGrammarOptions, grammarFor, type RefusedSchema } from "./grammar.ts"
import { formatById } from "./selector/index.ts"

/** The grammar of a format's replies as a server takes it. */
export interface GrammarText {
  /** GBNF. */
  readonly text: string
  /** The marks with which calls begin, for servers that start to constrain only there. */
  readonly triggers: readonly string[]
  /** Tools whose schemas are too much for a grammar: they may be called with any arguments. */
  readonly refused: readonly RefusedSchema[]
}

/**
 * The replies of a format as xgrammar's structural tag, by a format or its id; see {@link structuralTag}.
 *
 * @throws ToolwrightError `NO_TOOLS`, `NO_CALL_SYNTAX`
 */
export function structuralTagFor(
  format: Format | string,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions = {},
): StructuralTagOf {
  return structuralTag(typeof format === "string" ? formatById(format) : format, tools, options)
}

/**
 * The grammar of replies in a format as GBNF. What refuses a tool's schema, while the grammar is made or while it is
 * written, costs that tool's arguments their grammar and no other tool's.
 *
 * @throws ToolwrightError `NO_TOOLS`, `NO_CALL_SYNTAX`, and `GRAMMAR_REFUSED` where not even free arguments can be said
 */
export function grammarText(
  format: Format | string,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions = {},
): GrammarText {
  try {
    return written(format, tools, options, [])
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    const refused = tools.flatMap((tool) => refusalOf(format, tool, options) ?? [])
    if (refused.length === 0) throw thrown
    return written(format, tools, options, refused)
  }
}

function written(
  format: Format | string,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions,
  known: readonly RefusedSchema[],
): GrammarText {
  const refused = [...known]
  const free = new Set([...(options.free ?? []), ...known.map(({ tool }) => tool)])
  const grammar: Grammar = grammarFor(format, tools, {
    ...options,
    free,
    onRefused: (refusal) => refused.push(refusal),
  })
  return { text: grammarToGbnf(grammar), triggers: (grammar.triggers ?? []).map(({ text }) => text), refused }
}

/** Why a tool's schema cannot be written, tried by itself. */
function refusalOf(
  format: Format | string,
  tool: ToolDefinition,
  options: FormatGrammarOptions,
): RefusedSchema | undefined {
  try {
    written(format, [tool], options, [])
    return undefined
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    return { tool: tool.name, reason: thrown.message }
  }
}

function isRefusal(thrown: unknown): thrown is ToolwrightError {
  return ToolwrightError.isInstance(thrown) && (thrown.code === "GRAMMAR_REFUSED" || thrown.code === "SCHEMA_REFUSED")
}
