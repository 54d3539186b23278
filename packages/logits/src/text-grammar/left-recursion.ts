/**
 * The same language without rules that begin with themselves, which neither llama.cpp nor our masks can follow: by
 * Paull's construction, each group of such rules for itself.
 */
import { grammarError } from "../grammar/grammar-error.ts"
import { isNullable, leadingRules, nullableRules } from "../gbnf/check.ts"
import { circlesOf } from "../gbnf/circles.ts"
import type { GbnfGrammar, GbnfNode } from "../gbnf/model.ts"

type Way = readonly GbnfNode[]

const MOST_WAYS = 2000
/** Parts of all ways together. */
const MOST_PARTS = 100_000

/** @throws ToolwrightError `GRAMMAR_REFUSED` where a rule begins with itself behind something that may be empty */
export function withoutLeftRecursion(grammar: GbnfGrammar): GbnfGrammar {
  const rules = new Map(grammar.rules.map((rule) => [rule.name, rule]))
  const nullable = nullableRules(rules)
  const leads = new Map(Array.from(rules, ([name, { body }]) => [name, leadingRules(body, nullable)]))
  const bodies = new Map(Array.from(rules, ([name, { body }]) => [name, body]))
  const order = new Map(Array.from(rules.keys(), (name, at) => [name, at]))
  const groups = circlesOf(leads).map((group) => group.toSorted((a, b) => order.get(a)! - order.get(b)!))
  groups.sort(([a], [b]) => order.get(a!)! - order.get(b!)!)
  for (const group of groups) untangle(group, bodies, nullable)
  if (groups.length === 0) return grammar
  return { rules: Array.from(rules.values(), (rule) => ({ ...rule, body: bodies.get(rule.name)! })) }
}

function untangle(group: readonly string[], bodies: Map<string, GbnfNode>, nullable: ReadonlySet<string>): void {
  const opener = new Opener(new Set(group), nullable)
  const known = new Map<string, readonly Way[]>()
  for (const name of group) {
    const ways = settled(opener.ways([bodies.get(name)!]), known, opener)
    const again = ways.filter(([first]) => isRule(first, name)).map((way) => way.slice(1))
    const first = ways.filter(([head]) => !isRule(head, name))
    if (first.length === 0) throw refused(name, "it has no other beginning")
    const rest = again.filter((way) => way.length > 0)
    const tail: GbnfNode = { kind: "repeat", item: anyOf(rest), min: 0 }
    known.set(name, rest.length === 0 ? first : first.map((way) => [...way, tail]))
    bodies.set(name, rest.length === 0 ? anyOf(first) : { kind: "sequence", items: [anyOf(first), tail] })
  }
}

/** The ways with those of rules that are done in place of their names: those begin with later ones alone. */
function settled(ways: readonly Way[], known: ReadonlyMap<string, readonly Way[]>, opener: Opener): readonly Way[] {
  const done: Way[] = []
  const open = ways.toReversed()
  for (let way = open.pop(); way !== undefined; way = open.pop()) {
    const [first, ...rest] = way
    const heads = first?.kind === "rule" ? known.get(first.name) : undefined
    if (heads === undefined) done.push(way)
    else open.push(...heads.flatMap((head) => opener.ways([...head, ...rest])).toReversed())
  }
  return done
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
  #parts = 0

  constructor(group: ReadonlySet<string>, nullable: ReadonlySet<string>) {
    this.#group = group
    this.#nullable = nullable
  }

  /** The ways to say a sequence, each of which begins with a rule of the group or with none of them. */
  ways(items: Way): readonly Way[] {
    this.#parts += items.length
    if (++this.#made > MOST_WAYS || this.#parts > MOST_PARTS)
      throw refused([...this.#group][0]!, `in more than ${MOST_WAYS} ways`)
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
