import type { Scan, Source } from "../source.ts"

/**
 * Passes text on until something stands that ends it.
 *
 * @param firsts the code units with which an end can begin; only there `ends` is asked
 * @param ends whether the text ends here; goes behind what ended it if so, and stays otherwise
 * @param framed one line break directly before the end is framing, not text
 * @returns false when the reply ended before the text did
 */
export function* scanText(
  source: Source,
  firsts: string,
  ends: () => Scan<boolean>,
  framed: boolean,
  write: (text: string) => void,
): Scan<boolean> {
  /** A line break that may turn out to be framing. */
  let held = ""
  const pass = (text: string) => {
    if (text === "") return
    const whole = held + text
    held = framed && whole.endsWith("\n") ? "\n" : ""
    if (whole.length > held.length) write(held === "" ? whole : whole.slice(0, -1))
  }
  for (;;) {
    const { text, at } = source
    let found = firsts.length === 1 ? text.indexOf(firsts, at) : nearestOf(text, firsts, at)
    if (found < 0) found = text.length
    pass(text.slice(at, found))
    source.at = found
    if (source.at >= source.text.length) {
      // written out, since most of a long value's pieces end here
      while (source.at >= source.text.length && !source.ended) yield
      if (source.at >= source.text.length) return false
      continue
    }
    if (yield* ends()) return true
    pass(source.text[source.at] ?? "")
    source.at++
  }
}

function nearestOf(text: string, firsts: string, from: number): number {
  for (let at = from; at < text.length; at++) if (firsts.includes(text[at] ?? "")) return at
  return -1
}

/** The first characters of several marks, each once. */
export function firstsOf(marks: readonly string[]): string {
  return [...new Set(marks.map((mark) => mark[0] ?? ""))].join("")
}
