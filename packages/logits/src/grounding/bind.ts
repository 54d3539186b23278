import { lowerAround } from "../lowering/index.ts"
import type { Grammar } from "../grammar/rules.ts"
import { bindGrounding } from "./bound.ts"
import type { Grounding } from "./model.ts"

/**
 * The grammar with its grounded values held to a conversation. What does not depend on the conversation is shared with
 * the grammar given: one grammar, made once for a set of tools, is bound anew for each request.
 *
 * @example
 * const free = grammarOf(toolCallExpression(tools, DEFAULT_KEYS, { grounding }))
 * const gbnf = grammarToGbnf(bindGrammar(free, grounding))
 */
export function bindGrammar(grammar: Grammar, grounding: Grounding): Grammar {
  return { ...grammar, grounding: bindGrounding(grounding) }
}

/** An argument that its rule does not reach. */
export interface Ungrounded {
  readonly tool?: string
  /** A JSON pointer into the tool's schema, with `#`. */
  readonly path: string
  readonly reason: string
}

/**
 * What in a bound grammar is not held to the conversation though it should be: since nothing of it was said, or the
 * schema allows nothing of what was. Such a value may be whatever its schema says.
 *
 * @throws ToolwrightError `GRAMMAR_REFUSED` where the grammar has no plain rules
 */
export function ungrounded(grammar: Grammar): Ungrounded[] {
  const free = lowerAround(grammar)
    .decisions.filter(({ open }) => !open)
    .map(({ hole: { kind, tool, path } }): Ungrounded => {
      const reason = `of what was said, no ${kind} is allowed here`
      return tool === undefined || tool === "*" ? { path, reason } : { tool, path, reason }
    })
  return [...new Map(free.map((one) => [JSON.stringify(one), one])).values()]
}
