/**
 * Slices: classes of characters out of which most tokens are made. Where a language takes any text out of one, all the
 * tokens that lie in it are allowed at once, and only the others need a look.
 */
import { memory } from "@toolwright/toolbox"
import { stepDfa, type Dfa } from "../automaton/dfa.ts"
import type { CodePointRange } from "../automaton/ranges.ts"

/** Beyond ASCII: all but the two ends of lines that a dot in a pattern does not stand for. */
const BEYOND_ASCII: readonly CodePointRange[] = [
  [0x80, 0x2027],
  [0x202a, 0xd7ff],
  [0xe000, 0x10ffff],
]

/** The larger ones first. None holds what has to be escaped in a string, or a control character. */
export const SLICES: readonly (readonly CodePointRange[])[] = [
  [[0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7e], ...BEYOND_ASCII],
  [[0x20, 0x20], [0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a], ...BEYOND_ASCII],
  [
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  [[0x61, 0x7a]],
]

/** Tokens of more characters than this lie in no slice. */
export const MOST_CHARACTERS = 24

/** More states than this are not followed. */
const MOST_STATES = 300

export const inSlice = (slice: number, code: number): boolean =>
  SLICES[slice]!.some(([first, last]) => code >= first && code <= last)

/** For each slice one character of every class that has some in it. */
const samplesOf = memory.derived((dfa: Dfa): readonly (readonly number[])[] =>
  SLICES.map((ranges) => {
    const samples = new Map<number, number>()
    for (let index = 0; index < dfa.cuts.length; index++) {
      const [from, to] = [dfa.cuts[index]!, (dfa.cuts[index + 1] ?? 0x110000) - 1]
      const range = ranges.find(([first, last]) => first <= to && last >= from)
      if (range !== undefined) samples.set(dfa.classOf[index]!, Math.max(from, range[0]))
    }
    return [...samples.values()]
  }),
)

/**
 * Whether from a state of a language any text of a slice may follow, as long as tokens are.
 *
 * @param possible whether a state may be reached with so many characters more
 */
export function takesSlice(
  dfa: Dfa,
  start: number,
  slice: number,
  possible?: (state: number, more: number) => boolean,
): boolean {
  const samples = samplesOf(dfa)[slice]!
  const visited = new Set([start])
  let last: Iterable<number> = [start]
  for (let more = 1; more <= MOST_CHARACTERS; more++) {
    const next = new Set<number>()
    for (const state of last) {
      for (const code of samples) {
        const target = stepDfa(dfa, state, code)
        if (target < 0 || possible?.(target, more) === false) return false
        // Without bounds a state need be left once only.
        if (possible !== undefined || !visited.has(target)) next.add(target)
        visited.add(target)
      }
    }
    if (visited.size > MOST_STATES) return false
    if (next.size === 0) return true
    last = next
  }
  return true
}
