/** Rules under construction: names that are free, and one rule for each thing that needs one. */
import type { PlainExpression } from "../grammar/rules.ts"
import { rule } from "../grammar/rules.ts"
import { SchemaProblem } from "../schema/types.ts"

const MAX_RULES = 6_000

export interface RuleBook {
  readonly rules: Map<string, PlainExpression>
  /**
   * The rule for a key, made on first use. It may refer to itself: its name is known before its body is.
   *
   * @param name what it should be called, if that is free
   */
  define(key: string, name: string, body: () => PlainExpression): PlainExpression
}

export function createRuleBook(taken: Iterable<string>): RuleBook {
  const rules = new Map<string, PlainExpression>()
  const names = new Set(taken)
  const byKey = new Map<string, string>()
  return {
    rules,
    define(key, name, body) {
      const known = byKey.get(key)
      if (known !== undefined) return rule(known)
      let free = name
      for (let count = 2; names.has(free); count++) free = `${name}-${count}`
      if (names.size > MAX_RULES) throw new SchemaProblem(`it would take more than ${MAX_RULES} rules`)
      names.add(free)
      byKey.set(key, free)
      // Held at its place in the order before its body names further rules.
      rules.set(free, { kind: "literal", text: "" })
      rules.set(free, body())
      return rule(free)
    },
  }
}
