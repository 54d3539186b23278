/**
 * A finite language of texts as a deterministic graph over characters. Unlike a `Dfa` it keeps no table: states of
 * natural text have one edge mostly, out of an alphabet of any size. From every state some text leads to acceptance,
 * and no path returns to itself.
 */
import { type Dfa, stepDfa } from "../automaton/dfa.ts"
import type { TextLanguage } from "./text-language.ts"

export interface TextGraph {
  readonly start: number
  readonly size: number
  /** The edges of state n are those from `first[n]` up to `first[n + 1]`, in the order of their characters. */
  readonly first: Int32Array
  readonly codes: Int32Array
  readonly targets: Int32Array
  readonly accept: Uint8Array
}

/** Edges by state, before they are trimmed. */
export interface DraftGraph {
  readonly edges: Map<number, number>[]
  readonly accept: boolean[]
}

/** The graph without what leads nowhere, numbered in the order of discovery; undefined where no text is left. */
export function finishGraph({ edges, accept }: DraftGraph, start: number): TextGraph | undefined {
  const live = liveStates(edges, accept)
  if (live[start] !== 1) return undefined
  const numbers = new Int32Array(edges.length).fill(-1)
  const order = [start]
  numbers[start] = 0
  const first: number[] = []
  const codes: number[] = []
  const targets: number[] = []
  for (let index = 0; index < order.length; index++) {
    first.push(codes.length)
    let own = edges[order[index]!]!
    if (own.size > 1) own = new Map([...own].sort((a, b) => a[0] - b[0]))
    for (const [code, target] of own) {
      if (live[target] === 0) continue
      if (numbers[target]! < 0) numbers[target] = order.push(target) - 1
      codes.push(code)
      targets.push(numbers[target]!)
    }
  }
  first.push(codes.length)
  return {
    start: 0,
    size: order.length,
    first: Int32Array.from(first),
    codes: Int32Array.from(codes),
    targets: Int32Array.from(targets),
    accept: Uint8Array.from(order, (state) => (accept[state] === true ? 1 : 0)),
  }
}

/** 1 for the states from which some text leads to acceptance. */
function liveStates(edges: readonly ReadonlyMap<number, number>[], accept: readonly boolean[]): Uint8Array {
  const size = edges.length
  // The edges backwards: those into state n are from `first[n]` up to `first[n + 1]`.
  const first = new Int32Array(size + 1)
  for (const own of edges) for (const target of own.values()) first[target + 1]!++
  for (let state = 0; state < size; state++) first[state + 1]! += first[state]!
  const sources = new Int32Array(first[size]!)
  const next = first.slice(0, size)
  edges.forEach((own, state) => {
    for (const target of own.values()) sources[next[target]!++] = state
  })
  const live = Uint8Array.from(accept, (accepts) => (accepts ? 1 : 0))
  const queue = accept.flatMap((accepts, state) => (accepts ? [state] : []))
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (let at = first[state]!; at < first[state + 1]!; at++) {
      const source = sources[at]!
      if (live[source] === 1) continue
      live[source] = 1
      queue.push(source)
    }
  }
  return live
}

/** Exactly these texts. */
export function graphOfTexts(texts: Iterable<string>): TextGraph | undefined {
  const draft: DraftGraph = { edges: [new Map()], accept: [false] }
  for (const text of texts) {
    if (!text.isWellFormed() || text.includes("\0")) continue
    let state = 0
    for (const character of text) {
      const code = character.codePointAt(0)!
      let next = draft.edges[state]!.get(code)
      if (next === undefined) {
        next = draft.edges.push(new Map()) - 1
        draft.accept.push(false)
        draft.edges[state]!.set(code, next)
      }
      state = next
    }
    draft.accept[state] = true
  }
  return finishGraph(draft, 0)
}

export function stepGraph({ first, codes, targets }: TextGraph, state: number, code: number): number {
  const end = first[state + 1]!
  let low = first[state]!
  if (end - low > 8) {
    for (let high = end; low < high;) {
      const middle = (low + high) >> 1
      if (codes[middle]! < code) low = middle + 1
      else high = middle
    }
    return low < end && codes[low] === code ? targets[low]! : -1
  }
  for (; low < end; low++) if (codes[low] === code) return targets[low]!
  return -1
}

/**
 * Beyond so many states for each of the graph's own, or so many altogether, what both languages share is not worked
 * out.
 */
const MAX_GROWTH = 50
const MAX_STATES = 60_000

/**
 * The texts that are in both languages: undefined where there are none, null where finding them out would take too many
 * states.
 */
export function meetGraph(graph: TextGraph, dfa: Dfa): TextGraph | undefined | null {
  if (dfa.start < 0) return undefined
  const draft: DraftGraph = { edges: [], accept: [] }
  const numbers = new Map<number, number>()
  const pairs: [number, number][] = []
  const most = Math.min(MAX_GROWTH * graph.size + 1_000, MAX_STATES)
  const visit = (a: number, b: number): number => {
    const key = a * dfa.size + b
    let number = numbers.get(key)
    if (number === undefined) {
      numbers.set(key, (number = pairs.push([a, b]) - 1))
      draft.edges.push(new Map())
      draft.accept.push(graph.accept[a] === 1 && dfa.accept[b] === 1)
    }
    return number
  }
  visit(graph.start, dfa.start)
  for (let index = 0; index < pairs.length; index++) {
    if (pairs.length > most) return null
    const [a, b] = pairs[index]!
    for (let edge = graph.first[a]!; edge < graph.first[a + 1]!; edge++) {
      const next = stepDfa(dfa, b, graph.codes[edge]!)
      if (next >= 0) draft.edges[index]!.set(graph.codes[edge]!, visit(graph.targets[edge]!, next))
    }
  }
  return finishGraph(draft, 0)
}

/** At most so many characters are listed for one state. */
const FEW = 256

/** The graph as the string lexemes read languages. */
export function graphLanguage(graph: TextGraph): TextLanguage {
  const { first, codes, accept } = graph
  return {
    start: graph.start,
    step: (state, code) => stepGraph(graph, state, code),
    within(state, low, high) {
      for (let edge = first[state]!; edge < first[state + 1]!; edge++)
        if (codes[edge]! >= low && codes[edge]! <= high) return true
      return false
    },
    outcome: (state) => (accept[state] === 1 ? 0 : -1),
    freedom: () => 0,
    any: false,
    few: (state) =>
      first[state + 1]! - first[state]! > FEW ? undefined : [...codes.subarray(first[state]!, first[state + 1]!)],
  }
}
