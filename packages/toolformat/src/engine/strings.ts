/** Strings as models write them, turned into JSON's piece by piece. */
import { escapeText } from "./json-text.ts"
import { literal, looksAt, skipSpace, stands } from "./scanning.ts"
import { END, STARVED, type Scan, type Source } from "./source.ts"
import type { Notation, Outcome, ValueSink } from "./value-notation.ts"

const ESCAPED: Record<string, string> = {
  n: "\\n",
  r: "\\r",
  t: "\\t",
  b: "\\b",
  f: "\\f",
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
}
const QUOTE = 34
const BACKSLASH = 92
/** The code units of {@link ESCAPED}, looked up for every escape. */
const SIMPLE: ReadonlySet<number> = new Set(Object.keys(ESCAPED).map((unit) => unit.charCodeAt(0)))

/** A string that is being read. */
interface OpenString {
  readonly quote: number
  readonly python: boolean
  readonly closers: readonly string[]
  /** A quote in the text was not escaped, so quotes say little here. */
  loose: boolean
}

/** A string in `"` or `'`, also in three of them, passed on as it stands as far as JSON allows. */
export function* scanString(
  source: Source,
  notation: Notation,
  sink: ValueSink,
  closers: readonly string[],
): Scan<Outcome> {
  const quote = yield* source.wait()
  const triple = String.fromCharCode(quote).repeat(3)
  if (yield* literal(source, triple)) {
    if (!notation.python) sink.repaired("triple quotes")
    return yield* scanRaw(source, triple, sink)
  }
  if (quote === 39 && !notation.python) sink.repaired("single quotes")
  source.at++
  sink.write('"')
  const string: OpenString = { quote, python: notation.python === true, closers, loose: false }
  const pass = () => passPlain(source, sink, string)
  for (;;) {
    if (pass() && !source.ended) {
      yield* source.more(pass)
      continue
    }
    const code = source.peek()
    if (code === STARVED) return "open"
    if (code === quote) {
      if (yield* passQuote(source, sink, string)) return "done"
    } else if (code === BACKSLASH) {
      source.at++
      if (!(yield* scanEscape(source, notation, sink))) return "open"
    } else if (!(yield* passOther(source, sink, string, code))) return "invalid"
  }
}

/** Writes what JSON has as it stands. @returns whether only more text shows how the string goes on */
function passPlain(source: Source, sink: ValueSink, { quote, closers, loose }: OpenString): boolean {
  const { text, at } = source
  const { length } = text
  let end = at
  for (; end < length; end++) {
    const code = text.charCodeAt(end)
    if (code === BACKSLASH) {
      if (end + 1 === length || !SIMPLE.has(text.charCodeAt(end + 1))) break
      end++
    } else if (code === quote || code < 32 || code === QUOTE) break
    else if (loose && closers.some((closer) => closer.charCodeAt(0) === code)) break
  }
  if (end > at) sink.write(text.slice(at, end))
  source.at = end
  return end === length || (end + 1 === length && text.charCodeAt(end) === BACKSLASH)
}

/** A quote: the string's end, or a part of it that was not escaped. @returns whether it was the end */
function* passQuote(source: Source, sink: ValueSink, string: OpenString): Scan<boolean> {
  source.at++
  if (yield* endsString(source, string)) {
    sink.write('"')
    return true
  }
  string.loose = true
  sink.repaired("quotes inside a text")
  sink.write(string.quote === QUOTE ? '\\"' : "'")
  return false
}

/**
 * What JSON wants escaped, or where the surrounding call may end though the string was never closed.
 *
 * @returns whether the string goes on
 */
function* passOther(source: Source, sink: ValueSink, { closers, loose }: OpenString, code: number): Scan<boolean> {
  if (code === 10 && (loose || (closers.length > 0 && (yield* looksAt(source, closers))))) return false
  if (loose && (yield* stands(source, closers))) return false
  if (code < 32) sink.repaired("a control character in a string")
  sink.write(escapeText(String.fromCharCode(code)))
  source.at++
  return true
}

const COMMA = 44
const EQUALS = 61
const PARENTHESIS_CLOSE = 41
/** Longest name of an argument that shows that a text ended before it. */
const LONGEST_KEY = 256

/**
 * Whether a quote ends the string that it stands in, by what comes after it; reads nothing. Before a word it is part of
 * the text. Once quotes were found in the text, only what can go on with a value ends it.
 */
function* endsString(source: Source, { closers, loose, python }: OpenString): Scan<boolean> {
  let code = source.peek()
  if (code === STARVED) code = yield* source.wait()
  if (!loose && (code === COMMA || code === 125 || code === 58)) return true
  const start = source.mark()
  code = yield* skipSpace(source)
  const ends =
    (loose ? yield* goesOn(source, code, python) : !isWordLike(code)) || (yield* standsHere(source, closers, start))
  source.rewind(start)
  source.release()
  return ends
}

/** Whether what follows a text can only be the rest of a value, or the next argument of a call; reads on. */
function* goesOn(source: Source, code: number, python: boolean): Scan<boolean> {
  if (code === 125 || code === 93 || code === END) return true
  if (code !== COMMA) return python && code === PARENTHESIS_CLOSE
  source.at++
  return !isWordLike(yield* skipSpace(source)) || (python && (yield* namesArgument(source)))
}

/** Whether one of several marks stands behind a place and the white space there; reads nothing of it. */
function* standsHere(source: Source, marks: readonly string[], place: number): Scan<boolean> {
  source.rewind(place)
  return yield* looksAt(source, marks)
}

/** Whether a call's next argument begins here, by its name; reads on. */
function* namesArgument(source: Source): Scan<boolean> {
  let code = yield* source.wait()
  for (let length = 0; length < LONGEST_KEY && (isWordLike(code) || code === 95); length++) {
    source.at++
    code = yield* source.wait()
  }
  return (yield* skipSpace(source)) === EQUALS
}

function isWordLike(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 160
}

/**
 * What follows a backslash. JSON's own escapes pass; Python's are translated; an unknown one is a backslash that stands
 * for itself.
 */
function* scanEscape(source: Source, notation: Notation, sink: ValueSink): Scan<boolean> {
  const code = yield* source.wait()
  if (code === END) return false
  const unit = String.fromCharCode(code)
  const known = ESCAPED[unit]
  if (known !== undefined) {
    source.at++
    sink.write(known)
    return true
  }
  if (unit === "u" || (unit === "x" && notation.python)) {
    if (yield* scanCodeUnit(source, sink, unit === "u" ? 4 : 2)) return true
  } else if (unit === "'" || (unit === "\n" && notation.python)) {
    if (!notation.python) sink.repaired("an escaped apostrophe")
    source.at++
    // an escaped line end goes on without one
    if (unit === "'") sink.write("'")
    return true
  }
  if (!notation.python) sink.repaired("an unknown escape")
  sink.write("\\\\")
  return true
}

/** A code unit by its hexadecimal digits, the letter before them included; reads nothing where some are missing. */
function* scanCodeUnit(source: Source, sink: ValueSink, length: number): Scan<boolean> {
  const start = source.mark()
  source.at++
  let digits = ""
  while (digits.length < length) {
    const digit = yield* source.wait()
    if (digit === END || !/[0-9a-fA-F]/.test(String.fromCharCode(digit))) break
    digits += String.fromCharCode(digit)
    source.at++
  }
  const isWhole = digits.length === length
  if (isWhole) sink.write(`\\u${digits.padStart(4, "0")}`)
  else source.rewind(start)
  source.release()
  return isWhole
}

/** A string up to a delimiter, in which nothing is escaped. The opening delimiter is already read. */
export function* scanRaw(source: Source, close: string, sink: ValueSink): Scan<Outcome> {
  const first = close[0] ?? ""
  sink.write('"')
  for (;;) {
    const { text, at } = source
    const found = text.indexOf(first, at)
    const end = found < 0 ? text.length : found
    if (end > at) sink.write(escapeText(text.slice(at, end)))
    source.at = end
    if (found >= 0) {
      if (yield* literal(source, close)) {
        sink.write('"')
        return "done"
      }
      sink.write(escapeText(first))
      source.at++
    } else if ((yield* source.wait()) === END) return "open"
  }
}
