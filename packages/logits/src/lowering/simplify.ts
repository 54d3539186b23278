/**
 * The same grammar, shorter: literals joined, single-use wrappers removed, rules that only name another rule replaced
 * by it.
 */
import { choice, literal, type PlainExpression, sequence } from "../grammar/rules.ts"

export function simplifyRules(
  start: string,
  rules: ReadonlyMap<string, PlainExpression>,
): Map<string, PlainExpression> {
  const simple = new Map([...rules].map(([name, body]) => [name, simplify(body)] as const))
  const target = (name: string): string => {
    const seen = new Set([name])
    for (let at = name; ;) {
      const body = simple.get(at)
      if (body?.kind !== "rule" || seen.has(body.name)) return at
      at = body.name
      seen.add(at)
    }
  }
  const result = new Map<string, PlainExpression>()
  for (const [name, body] of simple) {
    if (name === start || body.kind !== "rule")
      result.set(name, rename(body.kind === "rule" ? inline(body, simple, target) : body, target))
  }
  return reachable(start, joinEqual(start, result))
}

const MOST_ROUNDS = 12

/** Rules that say the same are one: tools and properties often share a part of their schemas. */
function joinEqual(start: string, rules: Map<string, PlainExpression>): Map<string, PlainExpression> {
  const joined = new Map(rules)
  // Most rules are the same from one round to the next.
  const texts = new Map<PlainExpression, string>()
  const textOf = (body: PlainExpression): string => {
    let text = texts.get(body)
    if (text === undefined) texts.set(body, (text = JSON.stringify(body)))
    return text
  }
  const users = usersOf(rules)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const first = new Map<string, string>()
    const same = new Map<string, string>()
    for (const [name, body] of joined) {
      const text = textOf(body)
      const known = first.get(text)
      if (known === undefined) first.set(text, name)
      else if (name !== start) same.set(name, known)
    }
    if (same.size === 0) break
    renameUses(joined, same, users)
  }
  return joined
}

/** Takes rules away and names, wherever they are named, others in their place. */
function renameUses(
  rules: Map<string, PlainExpression>,
  others: ReadonlyMap<string, string>,
  users: ReadonlyMap<string, Set<string>>,
): void {
  const target = (name: string): string => others.get(name) ?? name
  for (const name of others.keys()) rules.delete(name)
  for (const [name, other] of others) {
    for (const user of users.get(name) ?? []) {
      const body = rules.get(user)
      if (body === undefined) continue
      rules.set(user, rename(body, target))
      users.get(other)?.add(user)
    }
  }
}

/** Which rules name each. */
function usersOf(rules: ReadonlyMap<string, PlainExpression>): Map<string, Set<string>> {
  const users = new Map([...rules.keys()].map((name) => [name, new Set<string>()] as const))
  for (const [name, body] of rules) visitRules(body, (used) => users.get(used)?.add(name))
  return users
}

/** The start rule says itself what it would only refer to. */
function inline(
  body: Extract<PlainExpression, { kind: "rule" }>,
  rules: ReadonlyMap<string, PlainExpression>,
  target: (name: string) => string,
): PlainExpression {
  return rules.get(target(body.name)) ?? body
}

function simplify(expression: PlainExpression): PlainExpression {
  switch (expression.kind) {
    case "sequence": {
      const parts: PlainExpression[] = []
      for (const part of expression.parts
        .map(simplify)
        .flatMap((part) => (part.kind === "sequence" ? part.parts : [part]))) {
        const last = parts.at(-1)
        if (part.kind !== "literal") parts.push(part)
        else if (last?.kind === "literal") parts[parts.length - 1] = literal(last.text + part.text)
        else if (part.text !== "") parts.push(part)
      }
      return parts.length === 0 ? literal("") : sequence(...parts)
    }
    case "choice": {
      const options = expression.options
        .map(simplify)
        .flatMap((option) => (option.kind === "choice" ? option.options : [option]))
      return choice(...options)
    }
    case "repeat": {
      const of = simplify(expression.of)
      return expression.max === 1 && expression.min === 1 ? of : { ...expression, of }
    }
    default:
      return expression
  }
}

/** With other names of rules; the same object where none of its names changes. */
function rename(expression: PlainExpression, target: (name: string) => string): PlainExpression {
  switch (expression.kind) {
    case "rule": {
      const name = target(expression.name)
      return name === expression.name ? expression : { kind: "rule", name }
    }
    case "sequence": {
      const parts = renameAll(expression.parts, target)
      return parts === expression.parts ? expression : { kind: "sequence", parts }
    }
    case "choice": {
      const options = renameAll(expression.options, target)
      return options === expression.options ? expression : { kind: "choice", options }
    }
    case "repeat": {
      const of = rename(expression.of, target)
      return of === expression.of ? expression : { ...expression, of }
    }
    default:
      return expression
  }
}

function renameAll(
  expressions: readonly PlainExpression[],
  target: (name: string) => string,
): readonly PlainExpression[] {
  const renamed = expressions.map((each) => rename(each, target))
  return renamed.every((each, index) => each === expressions[index]) ? expressions : renamed
}

function reachable(start: string, rules: ReadonlyMap<string, PlainExpression>): Map<string, PlainExpression> {
  const used = new Set([start])
  for (const name of used) {
    const body = rules.get(name)
    if (body !== undefined) visitRules(body, (next) => used.add(next))
  }
  return new Map([...rules].filter(([name]) => used.has(name)))
}

/** Calls `see` for the name of each rule that an expression names. */
function visitRules(expression: PlainExpression, see: (name: string) => void): void {
  if (expression.kind === "rule") see(expression.name)
  else if (expression.kind === "repeat") visitRules(expression.of, see)
  else if (expression.kind === "sequence") for (const part of expression.parts) visitRules(part, see)
  else if (expression.kind === "choice") for (const option of expression.options) visitRules(option, see)
}
