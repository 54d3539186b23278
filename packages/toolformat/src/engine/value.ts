import { escapeText } from "./json-text.ts"
import { isSpace, literal, looksAt, skipSpace, stands } from "./scanning.ts"
import { END, Source, STARVED, type Scan } from "./source.ts"

/**
 * How a family writes values. Every notation is read by the one scanner below, which turns it into JSON as it goes;
 * what the
 * notation does not have but models write all the same is repaired and noted.
 */
export interface Notation {
  /** Python's literals, single quotes, tuples and escapes are at home here, not repairs. */
  python?: boolean
  /** Keys stand without quotes. */
  bareKeys?: boolean
  /** A delimiter around strings in which nothing is escaped. */
  rawQuote?: string
  /** A text without quotes is read up to the next comma or bracket, as a repair. */
  bareTexts?: boolean
}

export const JSON_NOTATION: Notation = {}
export const PYTHON_NOTATION: Notation = { python: true }

/** `done`: a whole value was read. `open`: the reply ended inside. `invalid`: what stands here cannot be read. */
export type Outcome = "done" | "open" | "invalid"

/** Receives the value as JSON text, piece by piece, and names of what had to be repaired. */
export interface ValueSink {
  write(json: string): void
  repaired(what: string): void
  /** The name of a call's next parameter, for an argument without one; undefined when it is not known. */
  positional?(index: number): string | undefined
}

/** Literals by their spelling; the ones only Python has count as repairs elsewhere. */
const LITERALS: Record<string, string> = {
  true: "true",
  false: "false",
  null: "null",
  True: "true",
  False: "false",
  None: "null",
}
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const LOOSE_NUMBER = /^[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?$/
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
/** Nesting beyond this is refused, so that nothing downstream that recurses can be brought down. */
const DEEPEST = 500
/** Longest number or bare word, in code units. */
const LONGEST_WORD = 1_000

const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92

type Expectation = "value" | "value-or-close" | "key-or-close" | "colon" | "comma-or-close"

/**
 * Reads one value and writes it as JSON, without recursion and in one pass. JSON itself passes through byte for byte.
 *
 * @param top `call` reads the inside of a Python call, `name=value` pairs up to `)`, as an object; its `(` is already
 *   read
 * @param closers texts that can end the surrounding call: a string that breaks off before one of them, at a line's end,
 *   was
 *   never closed, and the text after it is not swallowed
 */
export function* scanValue(
  source: Source,
  notation: Notation,
  sink: ValueSink,
  closers: readonly string[] = [],
  top: "value" | "call" = "value",
): Scan<Outcome> {
  const closes: number[] = []
  let expected: Expectation = "value"
  /**
   * A comma that is not yet written, since it may be one too many, with the white space after it; empty where there is
   * none.
   */
  let comma = ""
  let positions = 0
  if (top === "call") {
    closes.push(41)
    sink.write("{")
    expected = "key-or-close"
  }
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END) return "open"
    if (isSpace(code)) {
      // JSON knows four kinds of white space; anything else between values is left out
      if (code === 32 || code === 10 || code === 9 || code === 13) {
        if (comma === "") sink.write(String.fromCharCode(code))
        else comma += String.fromCharCode(code)
      }
      source.at++
      continue
    }
    const close = closes.at(-1)
    if (close !== undefined && code === close && expected !== "value" && expected !== "colon") {
      if (comma !== "" && !notation.python) sink.repaired("a comma before a closing bracket")
      if (comma.length > 1) sink.write(comma.slice(1))
      comma = ""
      sink.write(close === 93 || (close === 41 && closes.length > (top === "call" ? 1 : 0)) ? "]" : "}")
      source.at++
      closes.pop()
      if (closes.length === 0) return "done"
      expected = "comma-or-close"
      continue
    }
    if (expected === "comma-or-close") {
      if (code !== COMMA && notation.rawQuote !== undefined && (yield* stands(source, closers))) {
        sink.repaired("missing closing brackets")
        for (const missing of closes.reverse()) sink.write(String.fromCharCode(missing))
        return "done"
      }
      if (code !== COMMA) return "invalid"
      comma = ","
      source.at++
      expected =
        close === 125 || (close === 41 && closes.length === 1 && top === "call") ? "key-or-close" : "value-or-close"
      continue
    }
    if (expected === "colon") {
      if (code !== 58 && code !== 61) return "invalid"
      if (code === 61 && close !== 41) sink.repaired("= for :")
      sink.write(":")
      source.at++
      expected = "value"
      continue
    }
    if (comma !== "") sink.write(comma)
    comma = ""
    if (expected === "key-or-close" && close === 41 && (yield* isPositional(source))) {
      const name = sink.positional?.(positions++)
      if (name === undefined) return "invalid"
      sink.repaired("an argument without its name")
      sink.write(`"${escapeText(name)}":`)
      expected = "value"
      continue
    }
    if (expected === "key-or-close") {
      positions++
      const key = yield* scanKey(source, notation, sink, close === 41, closers)
      if (key !== "done") return key
      expected = "colon"
      continue
    }
    if (code === 123 || code === 91 || (code === 40 && notation.python)) {
      if (closes.length >= DEEPEST) return "invalid"
      sink.write(code === 123 ? "{" : "[")
      closes.push(code === 123 ? 125 : code === 91 ? 93 : 41)
      source.at++
      expected = code === 123 ? "key-or-close" : "value-or-close"
      continue
    }
    const scalar = yield* scanScalar(source, notation, sink, closers)
    if (scalar !== "done") return scalar
    if (closes.length === 0) return "done"
    expected = "comma-or-close"
  }
}

/** Whether an argument of a call stands here without its name; reads nothing. */
function* isPositional(source: Source): Scan<boolean> {
  const code = yield* source.wait()
  if (code === 123 || code === 91 || code === 40 || code === 45 || (code >= 48 && code <= 57)) return true
  const start = source.mark()
  if (code === QUOTE || code === 39) yield* scanString(source, PYTHON_NOTATION, { write() {}, repaired() {} }, [])
  else yield* scanWord(source, (unit) => unit !== 61 && unit !== 58 && unit !== COMMA && unit !== 41 && unit !== 40)
  const next = yield* skipSpace(source)
  source.rewind(start)
  source.release()
  return next === COMMA || next === 41
}

function* scanKey(
  source: Source,
  notation: Notation,
  sink: ValueSink,
  argument: boolean,
  closers: readonly string[],
): Scan<Outcome> {
  const code = yield* source.wait()
  if (code === QUOTE || code === 39) return yield* scanString(source, notation, sink, closers)
  if (notation.rawQuote !== undefined && (yield* literal(source, notation.rawQuote)))
    return yield* scanRaw(source, notation.rawQuote, sink)
  const word = yield* scanWord(
    source,
    argument || notation.bareKeys === true
      ? (unit) =>
          unit !== 58 && unit !== 61 && unit !== COMMA && unit !== 123 && unit !== 125 && unit !== 41 && unit !== 40
      : isWord,
  )
  if (word === undefined) return "open"
  const key = word.trimEnd()
  if (key === "" || word.length > LONGEST_WORD) return "invalid"
  if (!argument && notation.bareKeys !== true && !notation.python) sink.repaired("a key without quotes")
  sink.write(`"${escapeText(key)}"`)
  return "done"
}

function* scanScalar(source: Source, notation: Notation, sink: ValueSink, closers: readonly string[]): Scan<Outcome> {
  const code = yield* source.wait()
  if (code === QUOTE || code === 39) return yield* scanString(source, notation, sink, closers)
  if (notation.rawQuote !== undefined && (yield* literal(source, notation.rawQuote)))
    return yield* scanRaw(source, notation.rawQuote, sink)
  const word = yield* scanWord(source, isWord)
  // a word is over only when something else follows; at the end of the reply it may have been cut
  if (word === undefined) return "open"
  const value = LITERALS[word]
  if (value !== undefined && Object.hasOwn(LITERALS, word)) {
    if (value !== word && !notation.python) sink.repaired("a Python literal")
    sink.write(value)
    return "done"
  }
  if (NUMBER.test(word)) {
    sink.write(word)
    return "done"
  }
  if (notation.bareTexts === true && !(notation.python === true && LOOSE_NUMBER.test(word)))
    return yield* scanBareText(source, word, sink, notation.python === true ? ")" : "")
  if (!LOOSE_NUMBER.test(word) || word.length > LONGEST_WORD) return "invalid"
  const number = Number(word.replaceAll("_", ""))
  if (!Number.isFinite(number)) return "invalid"
  if (!notation.python) sink.repaired("a number that is not JSON")
  sink.write(JSON.stringify(number))
  return "done"
}

function isWord(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 43 ||
    code === 45 ||
    code === 46 ||
    code === 36 ||
    code > 160
  )
}

/** Reads a run of code units; undefined when the reply ends in it. */
function* scanWord(source: Source, belongs: (code: number) => boolean): Scan<string | undefined> {
  let word = ""
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END) return undefined
    if (!belongs(code) || word.length > LONGEST_WORD) return word
    word += source.text[source.at] ?? ""
    source.at++
  }
}

/** A string in `"` or `'`, also in three of them, passed on as it stands as far as JSON allows. */
function* scanString(source: Source, notation: Notation, sink: ValueSink, closers: readonly string[]): Scan<Outcome> {
  const quote = yield* source.wait()
  const triple = String.fromCharCode(quote).repeat(3)
  if (yield* literal(source, triple)) {
    if (!notation.python) sink.repaired("triple quotes")
    return yield* scanRaw(source, triple, sink)
  }
  if (quote === 39 && !notation.python) sink.repaired("single quotes")
  source.at++
  sink.write('"')
  for (;;) {
    const { text, at } = source
    let end = at
    let code = STARVED
    while (end < text.length) {
      code = text.charCodeAt(end)
      if (code === quote || code === BACKSLASH || code < 32 || code === QUOTE) break
      end++
      code = STARVED
    }
    if (end > at) sink.write(text.slice(at, end))
    source.at = end
    if (code === STARVED) {
      // written out, since most of a long argument's pieces end here
      while (source.at >= source.text.length && !source.ended) yield
      if (source.at >= source.text.length) return "open"
    } else if (code === quote) {
      sink.write('"')
      source.at++
      return "done"
    } else if (code === BACKSLASH) {
      source.at++
      if (!(yield* scanEscape(source, notation, sink))) return "open"
    } else {
      if (code === 10 && closers.length > 0) {
        const start = source.mark()
        const broken = yield* looksAt(source, closers)
        source.rewind(start)
        source.release()
        if (broken) return "invalid"
      }
      if (code < 32) sink.repaired("a control character in a string")
      sink.write(escapeText(String.fromCharCode(code)))
      source.at++
    }
  }
}

/** The rest of a text without quotes, of which a word is already read. */
function* scanBareText(source: Source, word: string, sink: ValueSink, close: string): Scan<Outcome> {
  let text = word
  for (;;) {
    const code = yield* source.wait()
    if (code === END) return "open"
    if (code === COMMA || code === 125 || code === 93 || code === 10 || close.includes(String.fromCharCode(code))) break
    if (code === 123 || code === 91 || code === 60 || (code === 40 && close !== "") || text.length > LONGEST_WORD)
      return "invalid"
    text += String.fromCharCode(code)
    source.at++
  }
  if (text.trim() === "") return "invalid"
  sink.repaired("a text without quotes")
  sink.write(`"${escapeText(text.trim())}"`)
  return "done"
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
    const length = unit === "u" ? 4 : 2
    const start = source.mark()
    source.at++
    let digits = ""
    while (digits.length < length) {
      const digit = yield* source.wait()
      if (digit === END || !/[0-9a-fA-F]/.test(String.fromCharCode(digit))) break
      digits += String.fromCharCode(digit)
      source.at++
    }
    if (digits.length === length) {
      sink.write(`\\u${digits.padStart(4, "0")}`)
      source.release()
      return true
    }
    source.rewind(start)
    source.release()
  } else if (unit === "'") {
    if (!notation.python) sink.repaired("an escaped apostrophe")
    source.at++
    sink.write("'")
    return true
  } else if (unit === "\n" && notation.python) {
    source.at++
    return true
  }
  if (!notation.python) sink.repaired("an unknown escape")
  sink.write("\\\\")
  return true
}

/** A string up to a delimiter, in which nothing is escaped. The opening delimiter is already read. */
function* scanRaw(source: Source, close: string, sink: ValueSink): Scan<Outcome> {
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

/** Reads a whole text as one value; undefined when it is not one. White space around it is left out. */
export function transcode(
  text: string,
  notation: Notation,
  repaired: (what: string) => void = () => {},
): string | undefined {
  const source = new Source()
  source.push(`${text.trim()}\n`)
  source.end()
  let json = ""
  const scan = scanValue(source, notation, { write: (piece) => (json += piece), repaired })
  const result = scan.next()
  if (result.done !== true || result.value !== "done") return undefined
  return source.text.slice(source.at).trim() === "" ? json : undefined
}
