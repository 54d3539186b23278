import { END, STARVED, type Scan, type Source } from "./source.ts"

/** Whether a code unit is white space, in the sense of `String.prototype.trim`. */
export function isSpace(code: number): boolean {
  if (code === 32 || (code >= 9 && code <= 13)) return true
  if (code < 160) return false
  return (
    code === 160 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  )
}

/**
 * Whether a code unit may stand in a name as Python and most tool sets have it: letters, digits, `_`, `.`, `-`, beyond
 * ASCII anything.
 */
export function isNamePart(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 46 ||
    code === 45 ||
    code > 160
  )
}

/** Skips white space; answers the code unit after it, or {@link END}. */
export function* skipSpace(source: Source): Scan<number> {
  for (;;) {
    const code = source.peek()
    if (code === STARVED) {
      if ((yield* source.wait()) === END) return END
    } else if (isSpace(code)) source.at++
    else return code
  }
}

/**
 * Reads a literal if it stands here, and goes back otherwise. White space in the literal stands for any white space,
 * also none, since models are careless with it.
 */
export function* literal(source: Source, text: string): Scan<boolean> {
  const start = source.mark()
  let matched = true
  for (let index = 0; index < text.length && matched; index++) {
    const wanted = text.charCodeAt(index)
    if (isSpace(wanted)) {
      yield* skipSpace(source)
      continue
    }
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === wanted) source.at++
    else matched = false
  }
  if (!matched) source.rewind(start)
  source.release()
  return matched
}

/** Reads the first of several literals that stands here. */
export function* anyLiteral(source: Source, texts: readonly string[]): Scan<string | undefined> {
  for (const text of texts) if (yield* literal(source, text)) return text
  return undefined
}

/** Whether one of several literals stands here, white space before it aside; reads nothing. */
export function* looksAt(source: Source, texts: readonly string[]): Scan<boolean> {
  const start = source.mark()
  yield* skipSpace(source)
  const found = (yield* anyLiteral(source, texts)) !== undefined
  source.rewind(start)
  source.release()
  return found
}

/**
 * Reads text up to one of several literals, which is not read.
 *
 * @param limit the longest text in code units; beyond it, and at the end of the reply, the answer is undefined
 * @param never code units that the text cannot contain; at one of them the answer is undefined too
 */
export function* textUntil(
  source: Source,
  stops: readonly string[],
  limit: number,
  never = "",
): Scan<string | undefined> {
  const firsts = new Set(stops.map((stop) => stop.charCodeAt(0)))
  let text = ""
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END || text.length > limit) return undefined
    if (firsts.has(code) && (yield* stands(source, stops))) return text
    if (never !== "" && never.includes(String.fromCharCode(code))) return undefined
    text += source.text[source.at] ?? ""
    source.at++
  }
}

/** Whether one of several literals stands exactly here; reads nothing. */
export function* stands(source: Source, texts: readonly string[]): Scan<boolean> {
  const start = source.mark()
  const found = (yield* anyLiteral(source, texts)) !== undefined
  source.rewind(start)
  source.release()
  return found
}
