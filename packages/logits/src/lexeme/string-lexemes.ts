/** Strings as lexemes: a language of texts, written in a style. */
import { memory } from "@toolwright/toolbox"
import type { StringStyle } from "./string-style.ts"
import { beginCharacter, continueCharacter, type PartialCharacter, rangeOf } from "../automaton/code-points.ts"
import { createEscapes, type Escapes, type EscapeState } from "./escapes.ts"
import { type Canonical, createLexeme, type Freedom, type Lexeme, type LexemeRule, type Nearly } from "./lexeme.ts"
import { markerAutomaton } from "../automaton/markers.ts"
import { inSlice } from "./slices.ts"
import { FREE_LANGUAGE, type TextLanguage } from "./text-language.ts"

type State =
  | { readonly at: "before" }
  | { readonly at: "body"; readonly text: number; readonly quote: number }
  | { readonly at: "character"; readonly text: number; readonly quote: number; readonly partial: PartialCharacter }
  | { readonly at: "escape"; readonly text: number; readonly quote: number; readonly escape: EscapeState }
  | { readonly at: "after"; readonly outcome: number }

const BACKSLASH = 0x5c
const DOUBLE = 0x22
const SINGLE = 0x27

/** A string of the language in the style; the outcome is the language's own. */
export function stringLexeme(style: StringStyle, language: TextLanguage): Lexeme {
  switch (style.kind) {
    case "json":
      return createLexeme(new QuotedString(language, [DOUBLE], "json"))
    case "python":
      return createLexeme(new QuotedString(language, [DOUBLE, SINGLE], "python"))
    case "delimited":
      return markedLexeme(language, style.open, [style.close], true)
    case "bare":
      return markedLexeme(language, "", style.stop, false)
  }
}

/** A string in quotes, with escapes. */
class QuotedString implements LexemeRule<State> {
  readonly start: State = { at: "before" }
  readonly #language: TextLanguage
  readonly #quotes: readonly number[]
  readonly #kind: "json" | "python"
  readonly #escapes: Escapes

  constructor(language: TextLanguage, quotes: readonly number[], kind: "json" | "python") {
    this.#language = language
    this.#quotes = quotes
    this.#kind = kind
    this.#escapes = createEscapes(language, kind)
  }

  step(state: State, byte: number): State | undefined {
    switch (state.at) {
      case "before":
        return this.#quotes.includes(byte) ? { at: "body", text: this.#language.start, quote: byte } : undefined
      case "body":
        return this.#stepBody(state, byte)
      case "character": {
        const partial = continueCharacter(state.partial, byte)
        if (partial === undefined || !possible(this.#language, state.text, partial)) return undefined
        if (partial.left > 0) return { ...state, partial }
        return inBody(this.#language.step(state.text, partial.bits), state.quote)
      }
      case "escape": {
        const next = this.#escapes.step(state.text, state.escape, byte, state.quote)
        if (next === undefined) return undefined
        return typeof next === "number" ? inBody(next, state.quote) : { ...state, escape: next }
      }
      case "after":
        return undefined
    }
  }

  #stepBody({ text, quote }: Extract<State, { at: "body" }>, byte: number): State | undefined {
    if (byte === quote) {
      const outcome = this.#language.outcome(text)
      return outcome < 0 ? undefined : { at: "after", outcome }
    }
    if (byte === BACKSLASH) {
      const escape = this.#escapes.begin(text, quote)
      return escape === undefined ? undefined : { at: "escape", text, quote, escape }
    }
    if (byte < 0x20 || (byte === 0x7f && this.#kind === "python")) return undefined
    if (byte < 0x80) return inBody(this.#language.step(text, byte), quote)
    const partial = beginCharacter(byte)
    return partial === undefined || !possible(this.#language, text, partial)
      ? undefined
      : { at: "character", text, quote, partial }
  }

  outcome(state: State): number {
    return state.at === "after" ? state.outcome : -1
  }

  key(state: State): string | number {
    return keyOf(state)
  }

  bytes(state: State): readonly number[] | undefined {
    if (state.at === "before") return this.#quotes
    if (state.at === "after") return []
    const few = state.at === "body" ? this.#language.few?.(state.text) : undefined
    return few === undefined ? undefined : [...new Set([...few.map(leadByte), state.quote, BACKSLASH])]
  }

  /** The state of the text where the lexeme is inside a JSON string, between two characters. */
  #textIn(state: State): number | undefined {
    return this.#kind === "json" && state.at === "body" ? state.text : undefined
  }

  freedom(state: State): Freedom | undefined {
    const text = this.#textIn(state)
    const limit = text === undefined ? 0 : this.#language.freedom(text)
    return limit === 0 ? undefined : { limit, anyEscape: this.#language.any }
  }

  takes(state: State, slice: number): boolean {
    const text = this.#textIn(state)
    return text !== undefined && this.#language.takes?.(text, slice) === true
  }

  nearly(state: State): Nearly | undefined {
    const text = this.#textIn(state)
    const near = text === undefined ? undefined : this.#language.nearly?.(text)
    if (near === undefined) return undefined
    const except = [...(near.ends ? [DOUBLE] : []), ...near.except.flatMap(beginnings)]
    return { ...inFreeString(near.outcome), except: [...new Set(except)] }
  }

  ends(state: State): bigint {
    if (state.at === "before") return this.#language.ends?.(this.#language.start) ?? 0n
    if (state.at === "after") return 1n << BigInt(state.outcome)
    return (state.at === "body" ? this.#language.ends?.(state.text) : undefined) ?? 0n
  }

  canonical(state: State): Canonical | undefined {
    const text = this.#language === FREE_LANGUAGE ? undefined : this.#textIn(state)
    const outcome = text === undefined ? undefined : this.#language.settled?.(text)
    return outcome === undefined ? undefined : inFreeString(outcome)
  }
}

const inBody = (text: number, quote: number): State | undefined => (text < 0 ? undefined : { at: "body", text, quote })

/** Just behind the opening quote of any string, with the outcome that its end has here. */
function inFreeString(outcome: number): Canonical {
  const lexeme = freeString()
  return { lexeme, state: lexeme.next(lexeme.start, DOUBLE), outcome: () => outcome }
}

/** The bytes with which a character may begin in a string: its own, and that of an escape. */
function beginnings(code: number): number[] {
  if (code < 0x20 || code === DOUBLE || code === BACKSLASH) return [BACKSLASH]
  return code < 0x7f ? [code] : [leadByte(code), BACKSLASH]
}

/** The first byte of a character in UTF-8. */
function leadByte(code: number): number {
  if (code < 0x80) return code
  if (code < 0x800) return 0xc0 | (code >> 6)
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18)
}

const freeOf = memory.derived((language: TextLanguage): Lexeme => stringLexeme({ kind: "json" }, language))

/** Any JSON string without needless escapes: one for all. */
export const freeString = (): Lexeme => freeOf(FREE_LANGUAGE)

function possible(language: TextLanguage, text: number, partial: PartialCharacter): boolean {
  const { first, last } = rangeOf(partial)
  return first <= last && language.within(text, first, last)
}

function keyOf(state: State): string | number {
  switch (state.at) {
    case "before":
      return -1
    case "body":
      return state.text * 2 + (state.quote === SINGLE ? 1 : 0)
    case "character":
      return `c${state.text},${state.quote},${state.partial.bits},${state.partial.left},${state.partial.size}`
    case "escape": {
      const { read, kind, value, high } = state.escape
      return `e${state.text},${state.quote},${read},${kind},${value},${high}`
    }
    case "after":
      return `a${state.outcome}`
  }
}

/**
 * Text without escapes in which none of the markers stands. With `closing`, the one marker ends the lexeme and belongs
 * to it; without, the lexeme may end wherever the language allows, and what follows has to begin with a marker.
 */
function markedLexeme(language: TextLanguage, open: string, markers: readonly string[], closing: boolean): Lexeme {
  const opening = new TextEncoder().encode(open)
  const automaton = markerAutomaton(markers)
  interface Marked {
    /** How much of the opening has been read; all of it in the text. */
    readonly opened: number
    readonly text: number
    readonly marker: number
    readonly partial: PartialCharacter | undefined
    /** Inside the closing marker: the outcome of the text before, which can no longer grow. -1 outside. */
    readonly closed: number
  }
  const closeBytes = new TextEncoder().encode(closing ? markers[0]! : "")
  const begin: Marked = { opened: 0, text: language.start, marker: automaton.start, partial: undefined, closed: -1 }

  /** Texts that end before the characters that the marker automaton holds: tracked by the state at which each began. */
  function step(state: Marked, byte: number): Marked | undefined {
    if (state.opened < opening.length)
      return opening[state.opened] === byte ? { ...state, opened: state.opened + 1 } : undefined
    if (state.partial === undefined && byte < 0x80) return read(state, byte)
    const partial = state.partial === undefined ? beginCharacter(byte) : continueCharacter(state.partial, byte)
    if (partial === undefined) return undefined
    if (partial.left === 0) return read(state, partial.bits)
    return possible(language, state.text, partial) || automaton.within(state.marker, rangeOf(partial))
      ? { ...state, partial }
      : undefined
  }

  function read(state: Marked, codePoint: number): Marked | undefined {
    const marker = automaton.step(state.marker, codePoint)
    if (automaton.complete(marker)) return undefined
    const text = language.step(state.text, codePoint)
    return text < 0 ? undefined : { ...state, text, marker, partial: undefined }
  }

  const inner = createLexeme<Marked>({
    start: begin,
    step,
    outcome: (state) =>
      state.opened < opening.length || state.partial !== undefined ? -1 : language.outcome(state.text),
    key: ({ opened, text, marker, partial }) =>
      `${opened},${text},${marker},${partial?.bits},${partial?.left},${partial?.size}`,
    bytes: (state) => (state.opened < opening.length ? [opening[state.opened]!] : undefined),
    takes: ({ opened, text, marker, partial }, slice) =>
      closing &&
      opened === opening.length &&
      partial === undefined &&
      marker === automaton.start &&
      !markers.some((one) => inSlice(slice, one.codePointAt(0) ?? 0)) &&
      language.takes?.(text, slice) === true,
  })
  return closing ? closedLexeme(inner, closeBytes) : inner
}

/**
 * The inner lexeme and then the closing bytes. Both are followed at once while they agree; the closing wins where it
 * completes.
 */
function closedLexeme(inner: Lexeme, close: Uint8Array): Lexeme {
  interface Closing {
    readonly inner: number
    /**
     * For every place at which the closing may have begun: how many of its bytes have been read, and the outcome before
     * it.
     */
    readonly begun: readonly (readonly [read: number, outcome: number])[]
  }
  return createLexeme<Closing>({
    start: { inner: inner.start, begun: [] },
    step(state, byte) {
      const next = state.inner < 0 ? -1 : inner.next(state.inner, byte)
      const begun = state.begun.flatMap(([read, outcome]): (readonly [number, number])[] =>
        close[read] === byte ? [[read + 1, outcome]] : [],
      )
      const outcome = state.inner < 0 ? -1 : inner.outcome(state.inner)
      if (outcome >= 0 && close[0] === byte) begun.push([1, outcome])
      return next < 0 && begun.length === 0 ? undefined : { inner: next, begun }
    },
    outcome: (state) => state.begun.find(([read]) => read === close.length)?.[1] ?? -1,
    key: (state) => `${state.inner};${state.begun.join(";")}`,
    takes: (state, slice) => state.inner >= 0 && inner.takes(state.inner, slice),
    bytes(state) {
      if (state.inner >= 0) return inner.bytes(state.inner)
      return [...new Set(state.begun.flatMap(([read]) => (read < close.length ? [close[read]!] : [])))]
    },
  })
}
