import { isSpace } from "../scanning.ts"
import type { Scan, Source } from "../source.ts"

/** Where one of several marks may begin in a text, as two code units tell. */
export class Beginnings {
  /** What may follow each first code unit; anything where that is not known. */
  private readonly seconds = new Map<number, Set<number> | undefined>()
  /** The first code unit of all marks, where they have it in common. */
  private readonly only: string | undefined

  constructor(marks: readonly string[]) {
    // white space in a mark stands for any, also for none
    for (const mark of marks.flatMap((one) => [one, one.trimStart()])) if (mark !== "") this.add(mark)
    const [first] = this.seconds.keys()
    this.only = this.seconds.size === 1 && first !== undefined ? String.fromCharCode(first) : undefined
  }

  private add(mark: string): void {
    const first = mark.charCodeAt(0)
    const isOpen = mark.length === 1 || isSpace(first) || isSpace(mark.charCodeAt(1))
    const known = this.seconds.get(first)
    if (isOpen || (known === undefined && this.seconds.has(first))) this.seconds.set(first, undefined)
    else this.seconds.set(first, (known ?? new Set<number>()).add(mark.charCodeAt(1)))
  }

  /** The first place from `from` on where one may begin, be it the text's last code unit; its length where none may. */
  find(text: string, from: number): number {
    for (let at = this.nearest(text, from); at < text.length; at = this.nearest(text, at + 1)) {
      const seconds = this.seconds.get(text.charCodeAt(at))
      if (seconds === undefined || at + 1 === text.length || seconds.has(text.charCodeAt(at + 1))) return at
    }
    return text.length
  }

  private nearest(text: string, from: number): number {
    if (this.only !== undefined) {
      const at = text.indexOf(this.only, from)
      return at < 0 ? text.length : at
    }
    let at = from
    while (at < text.length && !this.seconds.has(text.charCodeAt(at))) at++
    return at
  }

  /** Whether more than one code unit must be known to tell whether a mark begins with this one. */
  needsSecond(first: number): boolean {
    return this.seconds.get(first) !== undefined
  }
}

/**
 * Passes text on until something stands that ends it.
 *
 * @param beginnings where an end can begin; only there `ends` is asked
 * @param ends whether the text ends here; goes behind what ended it if so, and stays otherwise
 * @param framed one line break directly before the end is framing, not text
 * @returns false when the reply ended before the text did
 */
export function* scanText(
  source: Source,
  beginnings: Beginnings,
  ends: () => Scan<boolean>,
  framed: boolean,
  write: (text: string) => void,
): Scan<boolean> {
  /** A line break that may turn out to be framing. */
  let held = ""
  const say = (text: string) => {
    const whole = held === "" ? text : held + text
    held = framed && whole.charCodeAt(whole.length - 1) === LINE_BREAK ? "\n" : ""
    if (whole.length > held.length) write(held === "" ? whole : whole.slice(0, -1))
  }
  const pass = (): boolean => {
    const { text, at } = source
    const found = beginnings.find(text, at)
    if (found > at) say(at === 0 && found === text.length ? text : text.slice(at, found))
    source.at = found
    return found === text.length || (found + 1 === text.length && beginnings.needsSecond(text.charCodeAt(found)))
  }
  for (;;) {
    if (pass() && !source.ended) {
      yield* source.more(pass)
      continue
    }
    if (source.at >= source.text.length) return false
    if (yield* ends()) return true
    say(source.text[source.at] ?? "")
    source.at++
  }
}

const LINE_BREAK = 10
