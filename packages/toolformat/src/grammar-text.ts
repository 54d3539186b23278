import { type Effort, effortForAll, type Grammar, grammarToGbnf } from "@toolwright/logits"
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
  const heard: RefusedSchema[] = []
  const effort = options.effort ?? effortForAll()
  const shared = { ...options, effort }
  try {
    return written(format, tools, shared, heard)
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    // What was refused in the first place is not worked out again.
    const known = new Set(heard.map(({ tool }) => tool))
    const others = tools.filter(({ name }) => !known.has(name)).flatMap((tool) => refusalOf(format, tool, shared) ?? [])
    if (others.length === 0) throw thrown
    return written(format, tools, { ...options, effort: effortForAll() }, [...heard, ...others])
  }
}

function written(
  format: Format | string,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions,
  refused: RefusedSchema[],
): GrammarText {
  const free = new Set([...(options.free ?? []), ...refused.map(({ tool }) => tool)])
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
  options: FormatGrammarOptions & { effort: Effort },
): RefusedSchema | undefined {
  if (options.effort.isSpent()) return { tool: tool.name, reason: "other tools' schemas took too much work" }
  try {
    written(format, [tool], options, [])
    return undefined
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    spend(options.effort, UNITS_OF_REFUSAL)
    return { tool: tool.name, reason: thrown.message }
  }
}

/** Finding out that a schema cannot be written takes most of what may be spent on writing one. */
const UNITS_OF_REFUSAL = 100_000

function spend(effort: Effort, units: number): void {
  try {
    effort.spend(units)
  } catch {
    // The next tool is told that nothing is left.
  }
}

function isRefusal(thrown: unknown): thrown is ToolwrightError {
  return ToolwrightError.isInstance(thrown) && (thrown.code === "GRAMMAR_REFUSED" || thrown.code === "SCHEMA_REFUSED")
}
