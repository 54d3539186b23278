/**
 * What the classes of one grammar may hold together: `\p{L}` is seven hundred ranges of characters in five signs, and a
 * dot in either case more than a thousand.
 */
import { grammarError } from "../grammar/grammar-error.ts"

const MOST_RANGES = 100_000
/** No class of Unicode has more ranges. */
const OF_UNICODE = 750

/** Letters up to which cases are looked up one by one; all of Latin, Greek and Cyrillic are below. */
const CASED = 0x24ff

export class ClassRoom {
  #left = MOST_RANGES
  #cases: readonly (readonly [code: number, other: number])[] | undefined

  /**
   * Before a regular expression is read: afterwards its classes are there already. @throws ToolwrightError
   * `INVALID_GRAMMAR`
   */
  beforeReading(source: string): void {
    for (const _ of source.matchAll(/\\[pP]\{/g)) this.take(OF_UNICODE)
  }

  /** @throws ToolwrightError `INVALID_GRAMMAR` where the classes of the grammar get too large */
  take(ranges: number): void {
    this.#left -= ranges
    if (this.#left < 0) throw grammarError(`Its classes hold more than ${MOST_RANGES} ranges of characters.`)
  }

  /** Letters and the same in the other case, where that is one letter too; in the order of their codes. */
  get cases(): readonly (readonly [code: number, other: number])[] {
    return (this.#cases ??= letterCases())
  }
}

function letterCases(): [code: number, other: number][] {
  const cases: [number, number][] = []
  for (let code = 0; code <= CASED; code++) {
    const letter = String.fromCodePoint(code)
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      const otherCode = other.codePointAt(0)!
      if (otherCode !== code && other.length === 1) cases.push([code, otherCode])
    }
  }
  return cases
}
