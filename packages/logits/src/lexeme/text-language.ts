/**
 * Languages of texts as the string lexemes read them: character by character, over numbered states without dead ends.
 */
import { type Lengths, lengthsOf } from "../schema/strings.ts"
import type { StringSet } from "../schema/types.ts"
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { type Dfa, stepDfa, stepsWithin } from "../automaton/dfa.ts"
import { FIRST_SURROGATE, LAST_SURROGATE } from "../automaton/ranges.ts"
import { takesSlice } from "./slices.ts"

export interface TextLanguage {
  readonly start: number
  /** The state after a character, or -1. */
  step(state: number, codePoint: number): number
  /** Whether any character in the range leads on. */
  within(state: number, first: number, last: number): boolean
  /** 0 or more where the text may end, telling how; -1 where it may not. */
  outcome(state: number): number
  /**
   * How many characters of any kind may follow for certain, so that the text can end after each that may end it at all.
   */
  freedom(state: number): number
  /** Whether every text is in it: then escapes may be written for any character. */
  readonly any: boolean
  /** The characters that can come next, where they are few; undefined where they are many or it is not known. */
  few?(state: number): readonly number[] | undefined
  /** Where from here on every text is in the language, and all end alike: that outcome. */
  settled?(state: number): number | undefined
  /** Whether any text of a slice may follow, as long as tokens are. */
  takes?(state: number, slice: number): boolean
  /**
   * Where it is settled after every character but those listed. `ends`: the text may end here, and not as it does where
   * it is settled.
   */
  nearly?(state: number): { outcome: number; except: readonly number[]; ends: boolean } | undefined
  /** Bit n: name n may still be what is read; undefined where other texts may be, too. */
  ends?(state: number): bigint | undefined
}

/** Every text, written without needless escapes: what a language that has settled behaves like. */
export const FREE_LANGUAGE: TextLanguage = { ...dfaLanguage(ANY_TEXT), any: false }

/** The language of a DFA that is not empty. */
export function dfaLanguage(dfa: Dfa): TextLanguage {
  const free = freeStates(dfa)
  return {
    start: dfa.start,
    step: (state, codePoint) => stepDfa(dfa, state, codePoint),
    within: (state, first, last) => stepsWithin(dfa, state, first, last),
    outcome: (state) => (dfa.accept[state] === 1 ? 0 : -1),
    freedom: (state) => (free[state] === 1 ? Infinity : 0),
    few: (state) => fewCharacters(dfa, state),
    takes: (state, slice) => takesSlice(dfa, state, slice),
    any: dfa === ANY_TEXT,
  }
}

/** At most so many characters are listed. */
const FEW = 40

function fewCharacters({ cuts, classOf, classes, table }: Dfa, state: number): number[] | undefined {
  const result: number[] = []
  for (let index = 0; index < cuts.length; index++) {
    if (table[state * classes + classOf[index]!]! < 0) continue
    const last = (cuts[index + 1] ?? 0x110000) - 1
    if (last - cuts[index]! + result.length >= FEW) return undefined
    for (let code = cuts[index]!; code <= last; code++) result.push(code)
  }
  return result
}

/** States from which every text leads to such a state again. */
function freeStates(dfa: Dfa): Uint8Array {
  const free = new Uint8Array(dfa.size).fill(1)
  // Surrogates are in no text; a class that holds other characters too counts for those.
  const { cuts } = dfa
  const isSurrogates = (index: number): boolean =>
    cuts[index] === FIRST_SURROGATE && cuts[index + 1] === LAST_SURROGATE + 1
  const spoken = new Set(dfa.classOf.filter((_, index) => !isSurrogates(index)))
  for (let changed = true; changed;) {
    changed = false
    for (let state = 0; state < dfa.size; state++) {
      if (free[state] === 0) continue
      for (let c = 0; c < dfa.classes; c++) {
        const target = dfa.table[state * dfa.classes + c]!
        if (!spoken.has(c) || (target >= 0 && free[target] === 1)) continue
        free[state] = 0
        changed = true
        break
      }
    }
  }
  return free
}

/** Longer tokens than this, in characters, are looked at one by one. */
const FAR = 512

/** A language within bounds of length. The characters are counted, not written out as states. */
export function stringLanguage(set: StringSet): TextLanguage {
  const plain = dfaLanguage(set.language)
  if (set.min === 0 && set.max === Infinity) return plain
  const lengths: Lengths = lengthsOf(set)
  const numbers = new Map<number, number>()
  const states: { state: number; length: number }[] = []
  // Beyond the lower bound, and without an upper one, the count has no more to say.
  const clip = (length: number): number => (set.max === Infinity ? Math.min(length, set.min) : length)
  const visit = (state: number, length: number): number => {
    const key = clip(length) * set.language.size + state
    let number = numbers.get(key)
    if (number === undefined) numbers.set(key, (number = states.push({ state, length: clip(length) }) - 1))
    return number
  }
  const can = (state: number, length: number): boolean => length <= set.max && lengths.possible(state, length)
  return {
    start: visit(set.language.start, 0),
    step(number, codePoint) {
      const { state, length } = states[number]!
      const next = stepDfa(set.language, state, codePoint)
      return next >= 0 && can(next, length + 1) ? visit(next, length + 1) : -1
    },
    within(number, first, last) {
      const { state, length } = states[number]!
      if (set.language === ANY_TEXT) return length < set.max && stepsWithin(set.language, state, first, last)
      const { cuts, classOf, classes, table } = set.language
      for (let index = 0; index < cuts.length && cuts[index]! <= last; index++) {
        if ((cuts[index + 1] ?? 0x110000) <= first) continue
        const next = table[state * classes + classOf[index]!]!
        if (next >= 0 && can(next, length + 1)) return true
      }
      return false
    },
    outcome(number) {
      const { state, length } = states[number]!
      return length >= set.min && length <= set.max && set.language.accept[state] === 1 ? 0 : -1
    },
    freedom(number) {
      const { state, length } = states[number]!
      if (plain.freedom(state) === 0) return 0
      return set.max === Infinity
        ? set.language === ANY_TEXT || length >= set.min
          ? Infinity
          : 0
        : set.language === ANY_TEXT
          ? Math.min(set.max - length, FAR)
          : 0
    },
    few: (number) => fewCharacters(set.language, states[number]!.state),
    takes(number, slice) {
      const { state, length } = states[number]!
      return takesSlice(set.language, state, slice, (next, more) => can(next, length + more))
    },
    any: set.language === ANY_TEXT,
  }
}
