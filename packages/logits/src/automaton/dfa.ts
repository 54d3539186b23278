/**
 * Deterministic automata over code points, minimal and without dead ends: from every state that is not -1, some text
 * leads to acceptance.
 */
import { equalStates, type RawDfa } from "./equal-states.ts"
import { FIRST_SURROGATE, LAST_SURROGATE } from "./ranges.ts"
import type { Written } from "./written.ts"

export interface Dfa {
  /** -1 where the language is empty. */
  readonly start: number
  readonly size: number
  /** Interval `i` of the code-point line begins at `cuts[i]`, its class is `classOf[i]`. */
  readonly cuts: Int32Array
  readonly classOf: Uint16Array
  readonly classes: number
  /** `table[state * classes + class]`: the next state, or -1. */
  readonly table: Int32Array
  readonly accept: Uint8Array
  /** Shorter ways to write texts of the language, the best first. No text of theirs is outside of it. */
  readonly written?: readonly Written[]
}

/** More states than this are refused (`RegexProblem` or a refusal with the keyword's path). */
export const MAX_DFA_STATES = 6000

export function classIndex(dfa: Dfa, codePoint: number): number {
  const { cuts } = dfa
  let low = 0
  let high = cuts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (cuts[middle]! <= codePoint) low = middle
    else high = middle - 1
  }
  return dfa.classOf[low]!
}

/** The state after one more character, or -1. */
export function stepDfa(dfa: Dfa, state: number, codePoint: number): number {
  return dfa.table[state * dfa.classes + classIndex(dfa, codePoint)]!
}

/** Whether any character of the range leads on. */
export function stepsWithin(dfa: Dfa, state: number, first: number, last: number): boolean {
  const { cuts, classOf, table, classes } = dfa
  let index = 0
  while (index + 1 < cuts.length && cuts[index + 1]! <= first) index++
  for (; index < cuts.length && cuts[index]! <= last; index++) {
    if (table[state * classes + classOf[index]!]! >= 0) return true
  }
  return false
}

export function matchesDfa(dfa: Dfa, text: string): boolean {
  let state = dfa.start
  for (const character of text) {
    if (state < 0) return false
    state = stepDfa(dfa, state, character.codePointAt(0)!)
  }
  return state >= 0 && dfa.accept[state] === 1
}

export const isEmptyDfa = (dfa: Dfa): boolean => dfa.start < 0

/** Where the surrogates begin and end. */
const BORDERS = [FIRST_SURROGATE, LAST_SURROGATE + 1] as const

/** Cuts sorted and unique, with the surrogates an interval of their own. */
export function withSurrogateCuts(cuts: Iterable<number>): number[] {
  const sorted = Int32Array.from([0, ...BORDERS, ...cuts]).sort()
  const result: number[] = []
  for (const cut of sorted) if (cut !== result.at(-1)) result.push(cut)
  return result
}

/** Removes dead states, joins equal ones, numbers the rest in order of discovery: equal languages give equal tables. */
export function finishDfa(raw: RawDfa): Dfa {
  const isolated = isolateSurrogates(raw)
  const live = liveStates(isolated)
  const block = equalStates(isolated, live)
  return numberStates(isolated, live, block)
}

/** Gives the surrogates a class that leads nowhere. */
function isolateSurrogates(raw: RawDfa): RawDfa {
  const states = raw.accept.length
  const classes = raw.classes + 1
  const table: number[] = Array.from({ length: states * classes })
  for (let state = 0; state < states; state++) {
    for (let c = 0; c < raw.classes; c++) table[state * classes + c] = raw.table[state * raw.classes + c]!
    table[state * classes + raw.classes] = -1
  }
  const cuts: number[] = []
  const classOf: number[] = []
  const add = (cut: number, index: number): void => {
    cuts.push(cut)
    classOf.push(cut >= FIRST_SURROGATE && cut <= LAST_SURROGATE ? raw.classes : raw.classOf[index]!)
  }
  let border = 0
  for (let index = 0; index <= raw.cuts.length; index++) {
    const cut = raw.cuts[index] ?? Infinity
    while (border < BORDERS.length && BORDERS[border]! < cut) add(BORDERS[border++]!, index - 1)
    if (BORDERS[border] === cut) border++
    if (cut < Infinity) add(cut, index)
  }
  return { start: raw.start, cuts, classOf, classes, table, accept: raw.accept }
}

function liveStates(raw: RawDfa): boolean[] {
  const states = raw.accept.length
  const before: number[][] = Array.from({ length: states }, () => [])
  for (let state = 0; state < states; state++) {
    for (let c = 0; c < raw.classes; c++) {
      const target = raw.table[state * raw.classes + c]!
      if (target >= 0) before[target]!.push(state)
    }
  }
  const live = [...raw.accept]
  const queue = live.flatMap((accepts, state) => (accepts ? [state] : []))
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (const previous of before[state]!) {
      if (live[previous]) continue
      live[previous] = true
      queue.push(previous)
    }
  }
  return live
}

function numberStates(raw: RawDfa, live: readonly boolean[], block: Int32Array): Dfa {
  const order: number[] = []
  const numberOf = new Map<number, number>()
  const visit = (state: number): number => {
    if (state < 0 || !live[state]) return -1
    const known = numberOf.get(block[state]!)
    if (known !== undefined) return known
    numberOf.set(block[state]!, order.length)
    return order.push(state) - 1
  }
  const { classes: column, columns } = mergeClasses(raw, live, block)
  const start = visit(raw.start)
  const table: number[] = []
  for (let index = 0; index < order.length; index++) {
    for (const c of columns) table.push(visit(raw.table[order[index]! * raw.classes + c]!))
  }
  return {
    start,
    size: order.length,
    ...mergeIntervals(raw, column),
    classes: columns.length,
    table: Int32Array.from(table),
    accept: Uint8Array.from(order, (state) => (raw.accept[state] ? 1 : 0)),
  }
}

/** Classes with the same column are one class. */
function mergeClasses(
  raw: RawDfa,
  live: readonly boolean[],
  block: Int32Array,
): { classes: number[]; columns: number[] } {
  const known = new Map<string, number>()
  const columns: number[] = []
  const classes = Array.from({ length: raw.classes }, (_, c) => {
    let key = ""
    for (let state = 0; state < raw.accept.length; state++) {
      if (!live[state]) continue
      const target = raw.table[state * raw.classes + c]!
      key += `${target < 0 || !live[target] ? -1 : block[target]!},`
    }
    let index = known.get(key)
    if (index === undefined) {
      known.set(key, (index = columns.length))
      columns.push(c)
    }
    return index
  })
  return { classes, columns }
}

/** Neighbours of one class are one interval. */
function mergeIntervals({ cuts, classOf }: RawDfa, column: readonly number[]): Pick<Dfa, "cuts" | "classOf"> {
  const kept: number[] = []
  const classes: number[] = []
  for (let index = 0; index < cuts.length; index++) {
    const own = column[classOf[index]!]!
    if (own === classes.at(-1)) continue
    kept.push(cuts[index]!)
    classes.push(own)
  }
  return { cuts: Int32Array.from(kept), classOf: Uint16Array.from(classes) }
}
