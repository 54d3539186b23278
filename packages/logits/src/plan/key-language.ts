/** The keys that an object may still take, as a language; the outcome says which class of keys was read. */
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { type Dfa, stepDfa, stepsWithin } from "../automaton/dfa.ts"
import { takesSlice } from "../lexeme/slices.ts"
import type { TextLanguage } from "../lexeme/text-language.ts"

/** The declared names as a tree of letters. Built once per object set. */
export interface NameTree {
  readonly nodes: readonly NameNode[]
}

interface NameNode {
  readonly edges: ReadonlyMap<number, number>
  /** The index of the name that ends here, -1 where none does. */
  readonly name: number
  /** Bit i: name i ends here or below. */
  readonly below: bigint
}

export function nameTree(names: readonly string[]): NameTree {
  const nodes: { edges: Map<number, number>; name: number; below: bigint }[] = [
    { edges: new Map(), name: -1, below: 0n },
  ]
  names.forEach((name, index) => {
    const bit = 1n << BigInt(index)
    let node = 0
    nodes[0]!.below |= bit
    for (const character of name) {
      const code = character.codePointAt(0)!
      const { edges } = nodes[node]!
      let next = edges.get(code)
      if (next === undefined) edges.set(code, (next = nodes.push({ edges: new Map(), name: -1, below: 0n }) - 1))
      node = next
      nodes[node]!.below |= bit
    }
    nodes[node]!.name = index
  })
  return { nodes }
}

interface State {
  /** The node in the name tree, -1 where the text is no beginning of a name. */
  readonly node: number
  /** The state in each of the other classes' languages, -1 where left. */
  readonly others: readonly number[]
  /** The text so far, where it is kept. */
  readonly text: string
}

export interface KeyLanguage extends TextLanguage {
  /** The text that led to a state whose outcome says `others`; empty unless texts are kept. */
  textOf(outcome: number): { class: number; text: string }
}

/**
 * @param allowed bit i for name i
 * @param others languages of the other classes that are open, undefined for closed ones; names are taken out of each
 *   already, unless it is every text
 * @param taken texts that may not come again; undefined where nobody asks, and then no texts are kept
 * @returns undefined where no key is possible. The outcome is the index of the name, or the number of names + the index
 *   of the class
 */
export function keyLanguage(
  tree: NameTree,
  names: number,
  allowed: bigint,
  others: readonly (Dfa | undefined)[],
  taken: ReadonlySet<string> | undefined,
): KeyLanguage | undefined {
  const language = new OpenKeys(tree, names, allowed, others, taken)
  return language.start < 0 ? undefined : language
}

/** The language with the states that were reached so far. */
class OpenKeys implements KeyLanguage {
  readonly #names: number
  readonly #allowed: bigint
  readonly #others: readonly (Dfa | undefined)[]
  readonly #taken: ReadonlySet<string> | undefined
  readonly #states: State[] = []
  readonly #numbers = new Map<string, number>()
  readonly #kept: { class: number; text: string }[] = []
  readonly #keptNumbers = new Map<string, number>()
  readonly #nodes: readonly NameNode[]
  /** The classes divide all texts between them; where none is closed, every text goes on. */
  readonly #total: boolean
  readonly #everything: number
  readonly start: number
  readonly any = false

  constructor(
    tree: NameTree,
    names: number,
    allowed: bigint,
    others: readonly (Dfa | undefined)[],
    taken: ReadonlySet<string> | undefined,
  ) {
    this.#names = names
    this.#allowed = allowed
    this.#others = others
    this.#taken = taken
    this.#nodes = tree.nodes
    this.#total = others.length > 0 && !others.includes(undefined)
    this.#everything = others.findIndex((language) => language === ANY_TEXT)
    this.start = this.#visit({
      node: 0,
      others: others.map((language) => (language === undefined ? -1 : language.start)),
      text: "",
    })
  }

  #openNode(node: number): boolean {
    return node >= 0 && (this.#nodes[node]!.below & this.#allowed) !== 0n
  }

  #visit(state: State): number {
    if (!this.#openNode(state.node) && state.others.every((other) => other < 0)) return -1
    // Names that are closed matter only where another class would otherwise take them.
    const node = state.node >= 0 && (this.#openNode(state.node) || this.#everything >= 0) ? state.node : -1
    const key = `${node},${state.others.join()},${state.text}`
    let number = this.#numbers.get(key)
    if (number === undefined) this.#numbers.set(key, (number = this.#states.push({ ...state, node }) - 1))
    return number
  }

  /** Whether what is no name is one class of keys alone, in which any text is. */
  #isAnyText({ others: at }: State): boolean {
    return (
      this.#taken === undefined &&
      this.#everything >= 0 &&
      at[this.#everything]! >= 0 &&
      at.every((other, index) => index === this.#everything || other < 0)
    )
  }

  #keep(index: number, text: string): number {
    const key = `${index},${text}`
    let number = this.#keptNumbers.get(key)
    if (number === undefined) this.#keptNumbers.set(key, (number = this.#kept.push({ class: index, text }) - 1))
    return this.#names + this.#others.length + number
  }

  step(number: number, codePoint: number): number {
    const state = this.#states[number]!
    return this.#visit({
      node: state.node < 0 ? -1 : (this.#nodes[state.node]!.edges.get(codePoint) ?? -1),
      others: state.others.map((other, index) => (other < 0 ? -1 : stepDfa(this.#others[index]!, other, codePoint))),
      text: this.#taken === undefined ? "" : state.text + String.fromCodePoint(codePoint),
    })
  }

  within(number: number, first: number, last: number): boolean {
    const { node, others: at } = this.#states[number]!
    if (at.some((other, index) => other >= 0 && stepsWithin(this.#others[index]!, other, first, last))) return true
    if (node < 0) return false
    for (const [code, child] of this.#nodes[node]!.edges)
      if (code >= first && code <= last && this.#openNode(child)) return true
    return false
  }

  outcome(number: number): number {
    const { node, others: at, text } = this.#states[number]!
    const name = node < 0 ? -1 : this.#nodes[node]!.name
    if (name >= 0 && ((this.#allowed >> BigInt(name)) & 1n) === 1n) return name
    const index = at.findIndex(
      (other, index) =>
        other >= 0 && this.#others[index]!.accept[other] === 1 && !(name >= 0 && index === this.#everything),
    )
    if (index < 0 || this.#taken?.has(text) === true) return -1
    return this.#taken === undefined ? this.#names + index : this.#keep(this.#names + index, text)
  }

  freedom(number: number): number {
    if (this.#total) return Infinity
    return this.#everything >= 0 && this.#states[number]!.others[this.#everything]! >= 0 ? Infinity : 0
  }

  few(number: number): number[] | undefined {
    const { node, others: at } = this.#states[number]!
    if (node < 0 || at.some((other) => other >= 0)) return undefined
    return [...this.#nodes[node]!.edges.keys()]
  }

  settled(number: number): number | undefined {
    return this.#states[number]!.node < 0 && this.#isAnyText(this.#states[number]!)
      ? this.#names + this.#everything
      : undefined
  }

  nearly(number: number): { outcome: number; except: number[]; ends: boolean } | undefined {
    const state = this.#states[number]!
    if (state.node < 0 || !this.#isAnyText(state)) return undefined
    const { edges, name } = this.#nodes[state.node]!
    return { outcome: this.#names + this.#everything, except: [...edges.keys()], ends: name >= 0 }
  }

  takes(number: number, slice: number): boolean {
    return (
      this.#taken === undefined &&
      this.#states[number]!.others.some((other, index) => other >= 0 && takesSlice(this.#others[index]!, other, slice))
    )
  }

  ends(number: number): bigint | undefined {
    const { node, others: at } = this.#states[number]!
    return node < 0 || at.some((other) => other >= 0) ? undefined : this.#nodes[node]!.below & this.#allowed
  }

  textOf(outcome: number): { class: number; text: string } {
    return this.#kept[outcome - this.#names - this.#others.length] ?? { class: outcome, text: "" }
  }
}
