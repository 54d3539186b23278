/** Rules under construction: names that are free, and one rule for each thing that needs one. */
import type { PlainExpression } from "../grammar/rules.ts"
import { rule } from "../grammar/rules.ts"
import { createLedger, type Kind } from "./ledger.ts"

export interface RuleBook {
  readonly rules: Map<string, PlainExpression>
  /**
   * The rule for a key, made on first use. It may refer to itself: its name is known before its body is.
   *
   * @param name what it should be called, if that is free
   */
  define(key: string, name: string, body: () => PlainExpression): PlainExpression
  /** What is written by `run` belongs to a part of the value, as the schema reaches it: `/properties/a`. */
  within<Result>(segment: string, run: () => Result): Result
  /** What is written by `run`, but for the parts below, is for values of a kind. */
  as<Result>(kind: Kind, run: () => Result): Result
  /**
   * Counts work, so that a grammar is refused after the same steps on every machine. @throws SchemaProblem at the end
   */
  spend(steps: number): void
  /** A problem that ended the writing, with the place and the cure. */
  explain(problem: unknown, why: string): string
}

export function createRuleBook(taken: Iterable<string>): RuleBook {
  const rules = new Map<string, PlainExpression>()
  const ledger = createLedger()
  const names = new Set(taken)
  const byKey = new Map<string, string>()
  const counts = new Map<string, number>()
  /** Names are never given back, so the search for a free one goes on from where the last one ended. */
  const freeName = (name: string): string => {
    let count = counts.get(name) ?? 1
    let free = count === 1 ? name : `${name}-${count}`
    while (names.has(free)) free = `${name}-${++count}`
    counts.set(name, count)
    return free
  }
  return {
    rules,
    within: ledger.within,
    as: ledger.as,
    spend: ledger.spend,
    explain: ledger.explain,
    define(key, name, body) {
      const known = byKey.get(key)
      if (known !== undefined) return rule(known)
      ledger.addRule()
      const free = freeName(name)
      names.add(free)
      byKey.set(key, free)
      // Held at its place in the order before its body names further rules.
      rules.set(free, { kind: "literal", text: "" })
      rules.set(free, body())
      return rule(free)
    },
  }
}
