/** What has to hold of a grammar before it is run. */
import type { Expression, Grammar } from "../grammar/rules.ts"
import { grammarError } from "../grammar/grammar-error.ts"

/**
 * A rule that can come back to its own beginning without reading anything would be entered for ever.
 *
 * @throws ToolwrightError `INVALID_GRAMMAR`, naming the rule
 */
export function refuseLeftRecursion(grammar: Grammar): void {
  const empty = rulesThatCanBeEmpty(grammar)
  const canBeEmpty = (expression: Expression): boolean => isEmpty(expression, empty)
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      throw grammarError(`The rule "${name}" can begin with itself.`, {
        hint: "Write the repetition with * or +, or put what is read first in front.",
      })
    }
    const body = grammar.rules.get(name)
    if (body === undefined || done.has(name)) return
    for (const first of firstRules(body, canBeEmpty)) visit(first, [...path, name])
    done.add(name)
  }
  for (const name of grammar.rules.keys()) visit(name, [])
}

function rulesThatCanBeEmpty({ rules }: Grammar): Set<string> {
  const empty = new Set<string>()
  for (let before = -1; before !== empty.size;) {
    before = empty.size
    for (const [name, body] of rules) if (isEmpty(body, empty)) empty.add(name)
  }
  return empty
}

function isEmpty(expression: Expression, empty: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case "literal":
      return expression.text === ""
    case "sequence":
      return expression.parts.every((part) => isEmpty(part, empty))
    case "choice":
      return expression.options.some((option) => isEmpty(option, empty))
    case "repeat":
      return expression.min === 0 || isEmpty(expression.of, empty)
    case "rule":
      return empty.has(expression.name)
    case "until":
      return true
    default:
      return false
  }
}

/** The rules with which an expression can begin. */
function firstRules(expression: Expression, canBeEmpty: (expression: Expression) => boolean): string[] {
  switch (expression.kind) {
    case "rule":
      return [expression.name]
    case "choice":
      return expression.options.flatMap((option) => firstRules(option, canBeEmpty))
    case "repeat":
      return firstRules(expression.of, canBeEmpty)
    case "sequence": {
      const result: string[] = []
      for (const part of expression.parts) {
        result.push(...firstRules(part, canBeEmpty))
        if (!canBeEmpty(part)) break
      }
      return result
    }
    default:
      return []
  }
}
