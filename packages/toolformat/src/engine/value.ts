/** One value in any notation, read without recursion and in one pass, and written as JSON. */
import { escapeText } from "./json-text.ts"
import { isPositional, scanBareText, scanKey, scanScalar } from "./scalars.ts"
import { isSpace, stands } from "./scanning.ts"
import { END, Source, STARVED, type Scan } from "./source.ts"
import type { Notation, Outcome, ValueSink, ValueTypes } from "./value-notation.ts"

export { JSON_NOTATION } from "./value-notation.ts"
export type { Notation, Outcome, ValueSink, ValueTypes } from "./value-notation.ts"

/** Nesting beyond this is refused, so that nothing downstream that recurses can be brought down. */
const DEEPEST = 500

const COMMA = 44
const COLON = 58
const EQUALS = 61
const BRACE = 123
const BRACKET = 91
const PARENTHESIS = 40
const LETTER_N = 110

type Expectation = "value" | "value-or-close" | "key-or-close" | "colon" | "comma-or-close"

/** How far a value has been read. */
interface Progress {
  readonly notation: Notation
  readonly sink: ValueSink
  /** Whether the outermost brackets are a call's. */
  readonly call: boolean
  /** The closing brackets that are due, the innermost last. */
  readonly closes: number[]
  expected: Expectation
  /**
   * A comma that is not yet written, since it may be one too many, with the white space after it; empty where there is
   * none.
   */
  comma: string
  /** Arguments of the call so far. */
  positions: number
  /** What is known of types. */
  readonly types: ValueTypes | undefined
}

/**
 * Reads one value and writes it as JSON. JSON itself passes through byte for byte.
 *
 * @param top `call` reads the inside of a Python call, `name=value` pairs up to `)`, as an object; its `(` is already
 *   read
 * @param closers texts that can end the surrounding call: a string that breaks off before one of them, at a line's end,
 *   was never closed, and the text after it is not swallowed
 */
export function* scanValue(
  source: Source,
  notation: Notation,
  sink: ValueSink,
  closers: readonly string[] = [],
  top: "value" | "call" = "value",
): Scan<Outcome> {
  const progress = begin(notation, sink, top === "call")
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END) return "open"
    const met = punctuation(progress, code)
    if (met === "passed") source.at++
    else if (met === "whole") {
      source.at++
      return "done"
    } else if (met === "stray") return (yield* endsEarly(source, progress, closers)) ? closeAll(progress) : "invalid"
    else {
      writeComma(progress)
      const outcome = met === "key" ? yield* key(source, progress, closers) : yield* scalar(source, progress, closers)
      if (outcome !== "done" || progress.closes.length === 0) return outcome
    }
  }
}

/**
 * What a code unit is where it stands: `passed` belongs to the value's frame and has been written, `whole` was the
 * outermost closing bracket, a `key` or a `scalar` begins, and `stray` cannot stand here.
 */
type Met = "passed" | "whole" | "key" | "scalar" | "stray"

/** The frame of a value, brackets, commas and colons, by what is expected; keys and scalars are left to the caller. */
function punctuation(progress: Progress, code: number): Met {
  if (isSpace(code)) {
    passSpace(progress, code)
    return "passed"
  }
  if (isClose(progress, code)) return close(progress) ? "whole" : "passed"
  switch (progress.expected) {
    case "comma-or-close":
      return passComma(progress, code) ? "passed" : "stray"
    case "colon":
      return passColon(progress, code) ? "passed" : "stray"
    case "key-or-close":
      return "key"
    default:
      if (!isOpening(code, progress.notation)) return "scalar"
      return open(progress, code) ? "passed" : "stray"
  }
}

/** Whether the surrounding call ends here, though brackets of the value are still open; reads nothing. */
function* endsEarly(source: Source, progress: Progress, closers: readonly string[]): Scan<boolean> {
  if (progress.expected !== "comma-or-close" || progress.notation.rawQuote === undefined) return false
  return yield* stands(source, closers)
}

/** A member's key, or the name of an argument that stands without one. */
function* key(source: Source, progress: Progress, closers: readonly string[]): Scan<Outcome> {
  const argument = isArgument(progress)
  if (argument && (yield* isPositional(source))) return nameArgument(progress) ? "done" : "invalid"
  const outcome = yield* scanKey(source, progress.notation, keySink(progress), argument, closers)
  progress.positions++
  progress.expected = "colon"
  return outcome
}

/** A value without brackets. */
function scalar(source: Source, progress: Progress, closers: readonly string[]): Scan<Outcome> {
  const { notation, sink, types } = progress
  const code = source.peek()
  progress.expected = "comma-or-close"
  if (isQuote(code, notation) && types?.refusesText() === true) return scanTyped(source, progress, closers)
  if (isUnquotedText(code, progress)) return scanBareText(source, "", sink, "")
  return scanScalar(source, notation, sink, closers)
}

/** Whether a text may begin with a code unit. */
function isQuote(code: number, { rawQuote }: Notation): boolean {
  return code === 34 || code === 39 || (rawQuote !== undefined && code === rawQuote.charCodeAt(0))
}

/**
 * Whether a value without quotes is a text that looks like a number or a boolean: the schema admits nothing but text.
 */
function isUnquotedText(code: number, { notation, types }: Progress): boolean {
  if (notation.rawQuote === undefined || code === LETTER_N || isQuote(code, notation)) return false
  return types?.wantsText() === true
}

/** A text where the schema admits none: what it stands for is written in its place. */
function* scanTyped(source: Source, { notation, sink, types }: Progress, closers: readonly string[]): Scan<Outcome> {
  let text = ""
  const repaired = (what: string) => sink.repaired(what)
  const outcome = yield* scanScalar(source, notation, { write: (json) => (text += json), repaired }, closers)
  if (outcome !== "done") return outcome
  const value = types?.retype(text) ?? text
  if (value !== text) sink.repaired("a value in quotes")
  sink.write(value)
  return "done"
}

/** Where a key is written to: to whoever follows the types too, where anybody does. */
function keySink({ sink, types }: Progress): ValueSink {
  if (types === undefined) return sink
  let key = ""
  return {
    write: (json) => {
      types.key((key += json))
      sink.write(json)
    },
    repaired: (what) => sink.repaired(what),
  }
}

function begin(notation: Notation, sink: ValueSink, call: boolean): Progress {
  const { types } = sink
  if (call) {
    sink.write("{")
    types?.enter(false)
  }
  return {
    types,
    notation,
    sink,
    call,
    closes: call ? [41] : [],
    expected: call ? "key-or-close" : "value",
    comma: "",
    positions: 0,
  }
}

/** JSON knows four kinds of white space; anything else between values is left out. */
function passSpace(progress: Progress, code: number): void {
  if (code !== 32 && code !== 10 && code !== 9 && code !== 13) return
  if (progress.comma === "") progress.sink.write(String.fromCharCode(code))
  else progress.comma += String.fromCharCode(code)
}

/** Whether the brackets that are open are those of the call itself. */
const inCall = ({ call, closes }: Progress): boolean => call && closes.length === 1

function isClose({ closes, expected }: Progress, code: number): boolean {
  // asked of every part of a value: most are no bracket at all
  if (code !== 125 && code !== 93 && code !== 41) return false
  return code === closes[closes.length - 1] && expected !== "value" && expected !== "colon"
}

/** @returns whether that was the outermost bracket */
function close(progress: Progress): boolean {
  const { notation, sink, closes, comma } = progress
  if (comma !== "" && !notation.python) sink.repaired("a comma before a closing bracket")
  if (comma.length > 1) sink.write(comma.slice(1))
  progress.comma = ""
  const isList = closes[closes.length - 1] !== 125 && !inCall(progress)
  sink.write(isList ? "]" : "}")
  closes.pop()
  progress.types?.leave()
  progress.expected = "comma-or-close"
  return closes.length === 0
}

/** The call's own end stands where brackets are still open. */
function closeAll({ sink, closes }: Progress): Outcome {
  sink.repaired("missing closing brackets")
  for (const missing of closes.reverse()) sink.write(String.fromCharCode(missing))
  return "done"
}

/** @returns whether a comma stands here */
function passComma(progress: Progress, code: number): boolean {
  if (code !== COMMA) return false
  progress.comma = ","
  const isObject = progress.closes[progress.closes.length - 1] === 125 || inCall(progress)
  progress.expected = isObject ? "key-or-close" : "value-or-close"
  return true
}

/** @returns whether a colon stands here, or what is written for one */
function passColon(progress: Progress, code: number): boolean {
  if (code !== COLON && code !== EQUALS) return false
  if (code === EQUALS && progress.closes[progress.closes.length - 1] !== 41) progress.sink.repaired("= for :")
  progress.sink.write(":")
  progress.expected = "value"
  return true
}

function writeComma(progress: Progress): void {
  if (progress.comma === "") return
  progress.sink.write(progress.comma)
  progress.comma = ""
}

const isArgument = ({ closes }: Progress): boolean => closes[closes.length - 1] === 41

/** An argument that stands without its name. @returns whether the name is known */
function nameArgument(progress: Progress): boolean {
  const name = progress.sink.positional?.(progress.positions++)
  if (name === undefined) return false
  progress.sink.repaired("an argument without its name")
  progress.types?.key(`"${escapeText(name)}"`)
  progress.sink.write(`"${escapeText(name)}":`)
  progress.expected = "value"
  return true
}

function isOpening(code: number, { python }: Notation): boolean {
  return code === BRACE || code === BRACKET || (code === PARENTHESIS && python === true)
}

/** @returns whether so deep is allowed */
function open(progress: Progress, code: number): boolean {
  if (progress.closes.length >= DEEPEST) return false
  writeComma(progress)
  progress.types?.enter(code !== BRACE)
  progress.sink.write(code === BRACE ? "{" : "[")
  progress.closes.push(code === BRACE ? 125 : code === BRACKET ? 93 : 41)
  progress.expected = code === BRACE ? "key-or-close" : "value-or-close"
  return true
}

/** Reads a whole text as one value; undefined when it is not one. White space around it is left out. */
export function transcode(
  text: string,
  notation: Notation,
  repaired: (what: string) => void = () => {},
  types?: ValueTypes,
): string | undefined {
  const source = new Source()
  source.push(`${text.trim()}\n`)
  source.end()
  let json = ""
  const scan = scanValue(source, notation, { write: (piece) => (json += piece), repaired, types })
  const result = scan.next()
  if (result.done !== true || result.value !== "done") return undefined
  return source.text.slice(source.at).trim() === "" ? json : undefined
}
