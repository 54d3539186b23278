import { escapeText } from "../json-text.ts"
import { END, STARVED, type Scan, type Source } from "../source.ts"

/** A string in quotes, decoded, or a bare word; undefined when it is neither, too long, or cut off. */
export function* readText(source: Source, limit: number): Scan<string | undefined> {
  const quote = yield* source.wait()
  return quote === 34 || quote === 39 ? yield* readQuoted(source, quote, limit) : yield* readWord(source, limit)
}

function* readWord(source: Source, limit: number): Scan<string | undefined> {
  let text = ""
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END || text.length > limit) return undefined
    if (code === 58 || code === 44 || code === 123 || code === 125 || code === 32 || code === 10)
      return text === "" ? undefined : text
    text += source.text[source.at] ?? ""
    source.at++
  }
}

function* readQuoted(source: Source, quote: number, limit: number): Scan<string | undefined> {
  let text = ""
  source.at++
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END || text.length > limit) return undefined
    source.at++
    if (code === quote) break
    if (code === 92) {
      const next = yield* source.wait()
      if (next === END) return undefined
      source.at++
      text += next === 39 ? "'" : `\\${String.fromCharCode(next)}`
    } else text += escapeText(String.fromCharCode(code))
  }
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}
