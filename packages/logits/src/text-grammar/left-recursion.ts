/**
 * The same language without rules that begin with themselves, which neither llama.cpp nor our masks can follow: by
 * Paull's construction, each group of such rules for itself.
 */
import { grammarError } from "../grammar/grammar-error.ts"
import { isNullable, leadingRules, nullableRules } from "../gbnf/check.ts"
import type { GbnfGrammar, GbnfNode } from "../gbnf/model.ts"

type Way = readonly GbnfNode[]

const MOST_WAYS = 2000

/** @throws ToolwrightError `GRAMMAR_REFUSED` where a rule begins with itself behind something that may be empty */
export function withoutLeftRecursion(grammar: GbnfGrammar): GbnfGrammar {
  const rules = new Map(grammar.rules.map((rule) => [rule.name, rule]))
  const nullable = nullableRules(rules)
  const leads = new Map(Array.from(rules, ([name, { body }]) => [name, leadingRules(body, nullable)]))
  const bodies = new Map(Array.from(rules, ([name, { body }]) => [name, body]))
  const done = new Set<string>()
  for (const name of rules.keys()) {
    if (done.has(name) || !reaches(name, name, leads)) continue
    const group = [...rules.keys()].filter((other) => reaches(name, other, leads) && reaches(other, name, leads))
    untangle(group, bodies, nullable)
    for (const one of group) done.add(one)
  }
  if (done.size === 0) return grammar
  return { rules: Array.from(rules.values(), (rule) => ({ ...rule, body: bodies.get(rule.name)! })) }
}

/** Whether a rule can begin with another, itself too, in one step or more. */
function reaches(from: string, to: string, leads: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const seen = new Set<string>()
  const open = [...(leads.get(from) ?? [])]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === to) return true
    if (seen.has(name)) continue
    seen.add(name)
    open.push(...(leads.get(name) ?? []))
  }
  return false
}

function untangle(group: readonly string[], bodies: Map<string, GbnfNode>, nullable: ReadonlySet<string>): void {
  const opener = new Opener(new Set(group), nullable)
  const known = new Map<string, readonly Way[]>()
  for (const name of group) {
    let ways = opener.ways([bodies.get(name)!])
    for (const [earlier, heads] of known) {
      ways = ways.flatMap((way) => {
        if (!isRule(way[0], earlier)) return [way]
        return heads.flatMap((head) => opener.ways([...head, ...way.slice(1)]))
      })
    }
    const again = ways.filter(([first]) => isRule(first, name)).map((way) => way.slice(1))
    const first = ways.filter(([head]) => !isRule(head, name))
    if (first.length === 0) throw refused(name, "it has no other beginning")
    const rest = again.filter((way) => way.length > 0)
    const tail: GbnfNode = { kind: "repeat", item: anyOf(rest), min: 0 }
    known.set(name, rest.length === 0 ? first : first.map((way) => [...way, tail]))
    bodies.set(name, rest.length === 0 ? anyOf(first) : { kind: "sequence", items: [anyOf(first), tail] })
  }
}

const isRule = (node: GbnfNode | undefined, name: string): boolean => node?.kind === "rule" && node.name === name

function anyOf(ways: readonly Way[]): GbnfNode {
  const options = ways.map((items): GbnfNode => (items.length === 1 ? items[0]! : { kind: "sequence", items }))
  return options.length === 1 ? options[0]! : { kind: "choice", options }
}

function refused(name: string, why: string): Error {
  return grammarError(`The rule '${name}' begins with itself, and ${why}.`, {
    code: "GRAMMAR_REFUSED",
    hint: "Write the repetition with * or +, or put what is read first in front.",
  })
}

/** Takes sequences apart at their beginning, as far as the rules of a group stand there. */
class Opener {
  readonly #group: ReadonlySet<string>
  readonly #nullable: ReadonlySet<string>
  #made = 0

  constructor(group: ReadonlySet<string>, nullable: ReadonlySet<string>) {
    this.#group = group
    this.#nullable = nullable
  }

  /** The ways to say a sequence, each of which begins with a rule of the group or with none of them. */
  ways(items: Way): readonly Way[] {
    if (++this.#made > MOST_WAYS) throw refused([...this.#group][0]!, `in more than ${MOST_WAYS} ways`)
    const [first, ...rest] = items
    if (first === undefined || !this.#beginsWithGroup({ kind: "sequence", items })) return [items]
    if (first.kind === "sequence") return this.ways([...first.items, ...rest])
    if (first.kind === "choice") return first.options.flatMap((option) => this.ways([option, ...rest]))
    if (first.kind === "repeat") return this.#repeated(first, rest)
    if (first.kind === "rule" && this.#group.has(first.name)) return [items]
    if (!isNullable(first, this.#nullable)) return [items]
    if (first.kind === "literal" || first.kind === "class") return this.ways(rest)
    const name = first.kind === "rule" ? first.name : "…"
    throw refused([...this.#group][0]!, `stands behind '${name}', which may be empty`)
  }

  #repeated({ item, min, max }: Extract<GbnfNode, { kind: "repeat" }>, rest: Way): readonly Way[] {
    const fewer = { min: Math.max(min - 1, 0), ...(max === undefined ? {} : { max: max - 1 }) }
    const more: Way = fewer.max === 0 ? [] : [{ kind: "repeat", item, ...fewer }]
    const once = max === 0 ? [] : this.#filled(item, [...more, ...rest])
    return min === 0 ? [...this.ways(rest), ...once] : once
  }

  /** What may be empty by itself was said without it already. */
  #filled(item: GbnfNode, rest: Way): readonly Way[] {
    if (isNullable(item, this.#nullable)) throw refused([...this.#group][0]!, "repeats what may be empty")
    return this.#beginsWithGroup(item) ? this.ways([item, ...rest]) : [[item, ...rest]]
  }

  #beginsWithGroup(node: GbnfNode): boolean {
    for (const name of leadingRules(node, this.#nullable)) if (this.#group.has(name)) return true
    return false
  }
}
