/** Sets of strings: meet, complement, and which lengths remain possible. */
import { memory } from "@toolwright/toolbox"
import { complementDfa, intersectDfa, ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { type Dfa, isEmptyDfa } from "../automaton/dfa.ts"
import { compilePattern } from "../automaton/regex.ts"
import { SchemaProblem, type StringSet } from "./types.ts"

export const ANY_STRING: StringSet = { language: ANY_TEXT, min: 0, max: Infinity }

export function meetStrings(a: StringSet, b: StringSet): StringSet | undefined {
  const listed = a.listed === true || b.listed === true
  const grounded = listed ? undefined : (a.grounded ?? b.grounded)
  const set: StringSet = {
    language: intersectDfa(a.language, b.language),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    ...(listed ? { listed } : {}),
    ...(grounded === undefined ? {} : { grounded }),
  }
  return hasStrings(set) ? set : undefined
}

export function complementStrings(set: StringSet): StringSet[] {
  const result: StringSet[] = []
  if (set.language !== ANY_TEXT) result.push({ ...ANY_STRING, language: complementDfa(set.language) })
  if (set.min > 0) result.push({ ...ANY_STRING, max: set.min - 1 })
  if (set.max < Infinity) result.push({ ...ANY_STRING, min: set.max + 1 })
  return result.filter(hasStrings)
}

export function hasStrings(set: StringSet): boolean {
  if (set.min > set.max || isEmptyDfa(set.language)) return false
  return set.language === ANY_TEXT || lengthsOf(set).possible(set.language.start, 0)
}

const MAX_SPELT_OUT = 2_000

/** The language with its bounds spelt out as states. @throws SchemaProblem where the bounds are too far out for that */
export function withLength({ language, min, max }: StringSet): Dfa {
  if (min === 0 && max === Infinity) return language
  if (min > MAX_SPELT_OUT || (max < Infinity && max > MAX_SPELT_OUT))
    throw new SchemaProblem("bounds on the length of names are too far out")
  return intersectDfa(language, compilePattern(`^[^]{${min},${max === Infinity ? "" : max}}$`))
}

/** Tells whether a text of a language, read as far as `state` with `length` characters, can still end within bounds. */
export interface Lengths {
  possible(state: number, length: number): boolean
}

const MAX_LENGTH_CELLS = 20_000_000
const NO_BOUNDS: Lengths = { possible: () => true }
const lengthsByBounds = memory.derived((_language: Dfa) => new Map<string, Lengths>())

/** @throws SchemaProblem where pattern and bounds together are too large */
export function lengthsOf({ language, min, max }: StringSet): Lengths {
  if (min === 0 && max === Infinity) return NO_BOUNDS
  const perBounds = lengthsByBounds(language)
  const key = `${min}-${max}`
  let lengths = perBounds.get(key)
  if (lengths === undefined) perBounds.set(key, (lengths = workOutLengths(language, min, max)))
  return lengths
}

function workOutLengths(language: Dfa, min: number, max: number): Lengths {
  const nearest = nearestAcceptance(language)
  const farthest = farthestAcceptance(language)
  const simple: Lengths = {
    possible: (state, length) => length + nearest[state]! <= max && length + farthest[state]! >= min,
  }
  // Between the nearest and the farthest end every length is possible where each state that can go on can also lengthen
  // by one.
  if (max === Infinity || everyLengthBetween(language)) return simple
  if (language.size * (max + 2) > MAX_LENGTH_CELLS)
    throw new SchemaProblem("pattern and maxLength together are too large")
  const exact = exactLengths(language, max)
  return {
    possible(state, length) {
      if (!simple.possible(state, length)) return false
      for (let more = Math.max(0, min - length); more <= max - length; more++)
        if (exact[more]![state] === 1) return true
      return false
    },
  }
}

function* successors(language: Dfa, state: number): Generator<number> {
  for (let c = 0; c < language.classes; c++) {
    const target = language.table[state * language.classes + c]!
    if (target >= 0) yield target
  }
}

function nearestAcceptance(language: Dfa): number[] {
  const distance = Array.from(language.accept, (accepts) => (accepts === 1 ? 0 : Infinity))
  for (let changed = true; changed;) {
    changed = false
    for (let state = language.size - 1; state >= 0; state--) {
      for (const target of successors(language, state)) {
        if (distance[target]! + 1 >= distance[state]!) continue
        distance[state] = distance[target]! + 1
        changed = true
      }
    }
  }
  return distance
}

/** Every state leads to acceptance, so a state from which a cycle can be reached has no farthest end. */
function farthestAcceptance(language: Dfa): number[] {
  const distance: number[] = Array.from({ length: language.size }, () => -1)
  const open = new Uint8Array(language.size)
  const visit = (start: number): void => {
    const stack: { state: number; targets: number[]; next: number }[] = [
      { state: start, targets: [...new Set(successors(language, start))], next: 0 },
    ]
    open[start] = 1
    while (stack.length > 0) {
      const top = stack.at(-1)!
      if (top.next < top.targets.length) {
        const target = top.targets[top.next++]!
        if (open[target] === 1) for (const frame of stack) distance[frame.state] = Infinity
        else if (distance[target]! < 0) {
          open[target] = 1
          stack.push({ state: target, targets: [...new Set(successors(language, target))], next: 0 })
        }
        continue
      }
      open[top.state] = 0
      let farthest = Math.max(distance[top.state]!, 0)
      for (const target of top.targets) farthest = Math.max(farthest, distance[target]! + 1)
      distance[top.state] = farthest
      stack.pop()
    }
  }
  for (let state = 0; state < language.size; state++) if (distance[state]! < 0) visit(state)
  return distance
}

/**
 * A sufficient sign that the possible lengths from each state have no gaps: no step leads away from acceptance, and
 * where a text may end, it may also end one character later, if it can go on at all.
 */
function everyLengthBetween(language: Dfa): boolean {
  if (language === ANY_TEXT) return true
  const nearest = nearestAcceptance(language)
  for (let state = 0; state < language.size; state++) {
    const targets = [...new Set(successors(language, state))]
    if (targets.length === 0) continue
    const accepts = language.accept[state] === 1
    if (targets.some((target) => nearest[target]! > (accepts ? 1 : nearest[state]!))) return false
    if (accepts && !targets.some((target) => language.accept[target] === 1)) return false
  }
  return true
}

/** `result[n][state]` is 1 where exactly n more characters can lead to acceptance. */
function exactLengths(language: Dfa, max: number): Uint8Array[] {
  const result = [Uint8Array.from(language.accept)]
  for (let length = 1; length <= max; length++) {
    const before = result[length - 1]!
    const row = new Uint8Array(language.size)
    for (let state = 0; state < language.size; state++) {
      for (const target of successors(language, state)) if (before[target] === 1) row[state] = 1
    }
    result.push(row)
  }
  return result
}
