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
 *   already,
 *   unless it is every text
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
  const states: State[] = []
  const numbers = new Map<string, number>()
  const kept: { class: number; text: string }[] = []
  const keptNumbers = new Map<string, number>()
  const { nodes } = tree
  /** The classes divide all texts between them; where none is closed, every text goes on. */
  const total = others.length > 0 && !others.includes(undefined)
  const everything = others.findIndex((language) => language === ANY_TEXT)

  const openNode = (node: number): boolean => node >= 0 && (nodes[node]!.below & allowed) !== 0n

  function visit(state: State): number {
    if (!openNode(state.node) && state.others.every((other) => other < 0)) return -1
    // Names that are closed matter only where another class would otherwise take them.
    const node = state.node >= 0 && (openNode(state.node) || everything >= 0) ? state.node : -1
    const key = `${node},${state.others.join()},${state.text}`
    let number = numbers.get(key)
    if (number === undefined) numbers.set(key, (number = states.push({ ...state, node }) - 1))
    return number
  }

  /** Whether what is no name is one class of keys alone, in which any text is. */
  function isAnyText({ others: at }: State): boolean {
    return (
      taken === undefined &&
      everything >= 0 &&
      at[everything]! >= 0 &&
      at.every((other, index) => index === everything || other < 0)
    )
  }

  function keep(index: number, text: string): number {
    const key = `${index},${text}`
    let number = keptNumbers.get(key)
    if (number === undefined) keptNumbers.set(key, (number = kept.push({ class: index, text }) - 1))
    return names + others.length + number
  }

  const start = visit({
    node: 0,
    others: others.map((language) => (language === undefined ? -1 : language.start)),
    text: "",
  })
  if (start < 0) return undefined

  return {
    start,
    step(number, codePoint) {
      const state = states[number]!
      return visit({
        node: state.node < 0 ? -1 : (nodes[state.node]!.edges.get(codePoint) ?? -1),
        others: state.others.map((other, index) => (other < 0 ? -1 : stepDfa(others[index]!, other, codePoint))),
        text: taken === undefined ? "" : state.text + String.fromCodePoint(codePoint),
      })
    },
    within(number, first, last) {
      const { node, others: at } = states[number]!
      if (at.some((other, index) => other >= 0 && stepsWithin(others[index]!, other, first, last))) return true
      if (node < 0) return false
      for (const [code, child] of nodes[node]!.edges) if (code >= first && code <= last && openNode(child)) return true
      return false
    },
    outcome(number) {
      const { node, others: at, text } = states[number]!
      const name = node < 0 ? -1 : nodes[node]!.name
      if (name >= 0 && ((allowed >> BigInt(name)) & 1n) === 1n) return name
      const index = at.findIndex(
        (other, index) => other >= 0 && others[index]!.accept[other] === 1 && !(name >= 0 && index === everything),
      )
      if (index < 0 || taken?.has(text) === true) return -1
      return taken === undefined ? names + index : keep(names + index, text)
    },
    freedom(number) {
      if (total) return Infinity
      return everything >= 0 && states[number]!.others[everything]! >= 0 ? Infinity : 0
    },
    any: false,
    few(number) {
      const { node, others: at } = states[number]!
      if (node < 0 || at.some((other) => other >= 0)) return undefined
      return [...nodes[node]!.edges.keys()]
    },
    settled: (number) => (states[number]!.node < 0 && isAnyText(states[number]!) ? names + everything : undefined),
    nearly(number) {
      const state = states[number]!
      if (state.node < 0 || !isAnyText(state)) return undefined
      const { edges, name } = nodes[state.node]!
      return { outcome: names + everything, except: [...edges.keys()], ends: name >= 0 }
    },
    takes: (number, slice) =>
      taken === undefined &&
      states[number]!.others.some((other, index) => other >= 0 && takesSlice(others[index]!, other, slice)),
    ends(number) {
      const { node, others: at } = states[number]!
      return node < 0 || at.some((other) => other >= 0) ? undefined : nodes[node]!.below & allowed
    },
    textOf: (outcome) => kept[outcome - names - others.length] ?? { class: outcome, text: "" },
  }
}
