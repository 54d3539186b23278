import type { Grammar } from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"
import { formatGrammar, type FormatGrammarOptions } from "./engine/grammar/index.ts"
import type { Format } from "./engine/syntax.ts"
import { formatById } from "./selector/index.ts"

export type { FormatGrammarOptions, RefusedSchema } from "./engine/grammar/index.ts"

/**
 * The grammar of replies in a format, given the tools that are active now; see {@link formatGrammar} for its errors.
 *
 * @param format a format, or the id or alias of one
 */
export function grammarFor(
  format: Format | string,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions = {},
): Grammar {
  return formatGrammar(typeof format === "string" ? formatById(format) : format, tools, options)
}
