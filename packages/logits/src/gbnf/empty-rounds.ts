import type { PlainExpression, PlainGrammar } from "../grammar/rules.ts"

/**
 * The same language, but nothing that may be empty is repeated: llama.cpp takes such a repetition for left recursion
 * and refuses it. What is repeated becomes "the same, but not empty", and since empty rounds could fill up any minimum,
 * the minimum becomes 0.
 */
export function withoutEmptyRounds(grammar: PlainGrammar): PlainGrammar {
  const nullable = nullableRules(grammar)
  const mayBeEmpty = (expression: PlainExpression) => isNullable(expression, nullable)
  if (![...grammar.rules.values()].some((body) => hasEmptyRounds(body, mayBeEmpty))) return grammar

  const rules = new Map<string, PlainExpression>()
  const open: (() => void)[] = []

  const rewrite = (expression: PlainExpression): PlainExpression => {
    if (expression.kind === "sequence") return { kind: "sequence", parts: expression.parts.map(rewrite) }
    if (expression.kind === "choice") return { kind: "choice", options: expression.options.map(rewrite) }
    if (expression.kind !== "repeat") return expression
    if (!mayBeEmpty(expression.of)) return { ...expression, of: rewrite(expression.of) }
    return { kind: "repeat", of: nonEmpty(expression.of), min: 0, max: expression.max }
  }

  const nonEmpty = (expression: PlainExpression): PlainExpression => {
    if (!mayBeEmpty(expression)) return rewrite(expression)
    switch (expression.kind) {
      case "choice":
        return { kind: "choice", options: expression.options.map(nonEmpty) }
      case "repeat": {
        const of = mayBeEmpty(expression.of) ? nonEmpty(expression.of) : rewrite(expression.of)
        return expression.max === 0 ? NOTHING : { kind: "repeat", of, min: 1, max: expression.max }
      }
      case "sequence": {
        // The first part that is not empty may be any of them; those before it are.
        const { parts } = expression
        return {
          kind: "choice",
          options: parts.map((part, at) => ({
            kind: "sequence",
            parts: [nonEmpty(part), ...parts.slice(at + 1).map(rewrite)],
          })),
        }
      }
      case "rule": {
        const name = `${expression.name}-filled`
        const body = grammar.rules.get(expression.name)
        if (!rules.has(name) && body !== undefined) {
          rules.set(name, NOTHING)
          open.push(() => rules.set(name, nonEmpty(body)))
        }
        return { kind: "rule", name }
      }
      default:
        return NOTHING
    }
  }

  for (const [name, body] of grammar.rules) rules.set(name, rewrite(body))
  for (let next = open.pop(); next !== undefined; next = open.pop()) next()
  return { ...grammar, rules }
}

/** Matches no text at all. */
const NOTHING: PlainExpression = { kind: "chars", ranges: [] }

function hasEmptyRounds(expression: PlainExpression, mayBeEmpty: (expression: PlainExpression) => boolean): boolean {
  if (expression.kind === "repeat") return mayBeEmpty(expression.of) || hasEmptyRounds(expression.of, mayBeEmpty)
  if (expression.kind === "sequence") return expression.parts.some((part) => hasEmptyRounds(part, mayBeEmpty))
  return expression.kind === "choice" && expression.options.some((option) => hasEmptyRounds(option, mayBeEmpty))
}

function isNullable(expression: PlainExpression, rules: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case "literal":
      return expression.text === ""
    case "sequence":
      return expression.parts.every((part) => isNullable(part, rules))
    case "choice":
      return expression.options.some((option) => isNullable(option, rules))
    case "repeat":
      return expression.min === 0 || isNullable(expression.of, rules)
    case "rule":
      return rules.has(expression.name)
    default:
      return false
  }
}

function nullableRules({ rules }: PlainGrammar): Set<string> {
  const known = new Set<string>()
  for (let before = -1; before !== known.size;) {
    before = known.size
    for (const [name, body] of rules) if (!known.has(name) && isNullable(body, known)) known.add(name)
  }
  return known
}
