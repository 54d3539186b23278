/** Strings as lexemes: a language of texts, written in a style. */
import { memory } from "@toolwright/toolbox"
import type { StringStyle } from "./string-style.ts"
import { beginCharacter, continueCharacter, type PartialCharacter, rangeOf } from "../automaton/code-points.ts"
import { createEscapes, type EscapeState } from "./escapes.ts"
import { createLexeme, type Lexeme } from "./lexeme.ts"
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
      return quotedLexeme(language, [DOUBLE], "json")
    case "python":
      return quotedLexeme(language, [DOUBLE, SINGLE], "python")
    case "delimited":
      return markedLexeme(language, style.open, [style.close], true)
    case "bare":
      return markedLexeme(language, "", style.stop, false)
  }
}

function quotedLexeme(language: TextLanguage, quotes: readonly number[], kind: "json" | "python"): Lexeme {
  const escapes = createEscapes(language, kind)
  const inBody = (text: number, quote: number): State | undefined =>
    text < 0 ? undefined : { at: "body", text, quote }

  function stepBody(state: Extract<State, { at: "body" }>, byte: number): State | undefined {
    const { text, quote } = state
    if (byte === quote) {
      const outcome = language.outcome(text)
      return outcome < 0 ? undefined : { at: "after", outcome }
    }
    if (byte === BACKSLASH) {
      const escape = escapes.begin(text, quote)
      return escape === undefined ? undefined : { at: "escape", text, quote, escape }
    }
    if (byte < 0x20 || (byte === 0x7f && kind === "python")) return undefined
    if (byte < 0x80) return inBody(language.step(text, byte), quote)
    const partial = beginCharacter(byte)
    return partial === undefined || !possible(language, text, partial)
      ? undefined
      : { at: "character", text, quote, partial }
  }

  return createLexeme<State>({
    start: { at: "before" },
    step(state, byte) {
      switch (state.at) {
        case "before":
          return quotes.includes(byte) ? { at: "body", text: language.start, quote: byte } : undefined
        case "body":
          return stepBody(state, byte)
        case "character": {
          const partial = continueCharacter(state.partial, byte)
          if (partial === undefined || !possible(language, state.text, partial)) return undefined
          return partial.left > 0 ? { ...state, partial } : inBody(language.step(state.text, partial.bits), state.quote)
        }
        case "escape": {
          const next = escapes.step(state.text, state.escape, byte, state.quote)
          if (next === undefined) return undefined
          return typeof next === "number" ? inBody(next, state.quote) : { ...state, escape: next }
        }
        case "after":
          return undefined
      }
    },
    outcome: (state) => (state.at === "after" ? state.outcome : -1),
    key: keyOf,
    bytes(state) {
      if (state.at === "before") return quotes
      if (state.at === "after") return []
      const few = state.at === "body" ? language.few?.(state.text) : undefined
      return few === undefined ? undefined : [...new Set([...few.map(leadByte), state.quote, BACKSLASH])]
    },
    freedom(state) {
      const limit = kind === "json" && state.at === "body" ? language.freedom(state.text) : 0
      return limit === 0 ? undefined : { limit, anyEscape: language.any }
    },
    takes: (state, slice) => kind === "json" && state.at === "body" && language.takes?.(state.text, slice) === true,
    nearly(state) {
      const near = kind === "json" && state.at === "body" ? language.nearly?.(state.text) : undefined
      if (near === undefined) return undefined
      const lexeme = freeString()
      const except = [...(near.ends ? [DOUBLE] : []), ...near.except.flatMap(beginnings)]
      const { outcome } = near
      return { lexeme, state: lexeme.next(lexeme.start, DOUBLE), outcome: () => outcome, except: [...new Set(except)] }
    },
    ends(state) {
      if (state.at === "before") return language.ends?.(language.start) ?? 0n
      if (state.at === "after") return 1n << BigInt(state.outcome)
      return (state.at === "body" ? language.ends?.(state.text) : undefined) ?? 0n
    },
    canonical(state) {
      if (kind !== "json" || state.at !== "body" || language === FREE_LANGUAGE) return undefined
      const outcome = language.settled?.(state.text)
      if (outcome === undefined) return undefined
      const lexeme = freeString()
      return { lexeme, state: lexeme.next(lexeme.start, DOUBLE), outcome: () => outcome }
    },
  })
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
    case "escape":
      return `e${state.text},${state.quote},${state.escape.read},${state.escape.kind},${state.escape.value},${state.escape.high}`
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
