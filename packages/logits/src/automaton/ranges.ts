/** Sorted, non-overlapping ranges of code points. */

/** A half of the code-point line: `[first, last]`, both included. Lists are sorted and do not overlap. */
export type CodePointRange = readonly [first: number, last: number]

export const MAX_CODE_POINT = 0x10ffff
export const ALL: readonly CodePointRange[] = [[0, MAX_CODE_POINT]]
/** Surrogates are no characters: they stand in no UTF-8 text, so no automaton has them. */
export const FIRST_SURROGATE = 0xd800
export const LAST_SURROGATE = 0xdfff

/** Sorts, joins what touches. */
export function normaliseRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const sorted = [...ranges].toSorted((a, b) => a[0] - b[0])
  const result: [number, number][] = []
  for (const [first, last] of sorted) {
    if (first > last) continue
    const previous = result.at(-1)
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last)
    else result.push([first, last])
  }
  return result
}

export function invertRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const result: CodePointRange[] = []
  let next = 0
  for (const [first, last] of normaliseRanges(ranges)) {
    if (first > next) result.push([next, first - 1])
    next = last + 1
  }
  if (next <= MAX_CODE_POINT) result.push([next, MAX_CODE_POINT])
  return result
}

export function subtractRanges(from: readonly CodePointRange[], what: readonly CodePointRange[]): CodePointRange[] {
  return invertRanges([...invertRanges(from), ...what])
}
