/** Numbers, words, keys and texts without quotes, turned into JSON. */
import { escapeText } from "./json-text.ts"
import { literal, skipSpace } from "./scanning.ts"
import { END, STARVED, type Scan, type Source } from "./source.ts"
import { scanRaw, scanString } from "./strings.ts"
import { type Notation, type Outcome, PYTHON_NOTATION, type ValueSink } from "./value-notation.ts"

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
/** Longest number or bare word, in code units. */
const LONGEST_WORD = 1_000
const COMMA = 44
const QUOTE = 34

/** Whether an argument of a call stands here without its name; reads nothing. */
export function* isPositional(source: Source): Scan<boolean> {
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

export function* scanKey(
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

export function* scanScalar(
  source: Source,
  notation: Notation,
  sink: ValueSink,
  closers: readonly string[],
): Scan<Outcome> {
  const code = yield* source.wait()
  if (code === QUOTE || code === 39) return yield* scanString(source, notation, sink, closers)
  if (notation.rawQuote !== undefined && (yield* literal(source, notation.rawQuote)))
    return yield* scanRaw(source, notation.rawQuote, sink)
  return yield* scanUnquoted(source, notation, sink)
}

/** A number, a literal, or a text that stands without quotes. */
function* scanUnquoted(source: Source, notation: Notation, sink: ValueSink): Scan<Outcome> {
  const word = yield* scanWord(source, isWord)
  // a word is over only when something else follows; at the end of the reply it may have been cut
  if (word === undefined) return "open"
  const python = notation.python === true
  const mayBeText = notation.bareTexts === true
  if (mayBeText && !python && !(yield* endsScalar(source))) return yield* scanBareText(source, word, sink, "")
  if (writeWord(word, notation, sink)) return "done"
  if (mayBeText && !(python && LOOSE_NUMBER.test(word)))
    return yield* scanBareText(source, word, sink, python ? ")" : "")
  return writeLooseNumber(word, notation, sink) ? "done" : "invalid"
}

/** A literal, or a number as JSON has it. @returns whether the word is one */
function writeWord(word: string, notation: Notation, sink: ValueSink): boolean {
  const value = Object.hasOwn(LITERALS, word) ? LITERALS[word] : undefined
  if (value !== undefined && value !== word && !notation.python) sink.repaired("a Python literal")
  if (value === undefined && !NUMBER.test(word)) return false
  sink.write(value ?? word)
  return true
}

/** A number as other languages write it. @returns whether the word is one */
function writeLooseNumber(word: string, notation: Notation, sink: ValueSink): boolean {
  if (!LOOSE_NUMBER.test(word) || word.length > LONGEST_WORD) return false
  const number = Number(word.replaceAll("_", ""))
  if (!Number.isFinite(number)) return false
  if (!notation.python) sink.repaired("a number that is not JSON")
  sink.write(JSON.stringify(number))
  return true
}

/** Whether what is read of a value without quotes is all of it; reads nothing. */
function* endsScalar(source: Source): Scan<boolean> {
  const start = source.mark()
  const code = yield* skipSpace(source)
  const ends = code === COMMA || code === 125 || code === 93 || code === 41 || code === END || code === 60
  source.rewind(start)
  source.release()
  return ends
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

/** The rest of a text without quotes, of which a word is already read. */
export function* scanBareText(source: Source, word: string, sink: ValueSink, close: string): Scan<Outcome> {
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
