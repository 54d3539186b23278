/** A grammar as a filter. */
import { applyMask } from "../masks/apply.ts"
import type { MaskEngine, TokenMatcher } from "../masks/engine.ts"
import type { LogitFilter } from "./logit-filter.ts"

export interface GrammarFilter extends LogitFilter {
  readonly matcher: TokenMatcher
}

/** Leaves only the tokens that the grammar allows. */
export function createGrammarFilter(engine: MaskEngine, name = "grammar"): GrammarFilter {
  return filterAt(engine, engine.matcher(), name)
}

function filterAt(engine: MaskEngine, initial: TokenMatcher, name: string): GrammarFilter {
  let matcher = initial
  return {
    name,
    get matcher() {
      return matcher
    },
    apply: (logits) => applyMask(logits, matcher.mask()),
    accept: (token) => matcher.accept(token),
    rollback: (tokens) => matcher.rollback(tokens),
    reset() {
      matcher = engine.matcher()
    },
    clone: () => filterAt(engine, matcher.clone(), name),
  }
}
