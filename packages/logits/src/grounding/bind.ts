import type { Grammar } from "../grammar/rules.ts"
import { bindGrounding } from "./bound.ts"
import type { Grounding } from "./model.ts"

/**
 * The grammar with its grounded values held to a conversation. What does not depend on the conversation is shared with the grammar
 * given: one grammar, made once for a set of tools, is bound anew for each request.
 *
 * @example
 * const free = grammarOf(toolCallExpression(tools, DEFAULT_KEYS, { grounding }))
 * const gbnf = grammarToGbnf(bindGrammar(free, grounding))
 */
export function bindGrammar(grammar: Grammar, grounding: Grounding): Grammar {
  return { ...grammar, grounding: bindGrounding(grounding) }
}
