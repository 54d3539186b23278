/**
 * Escapes in quoted strings. Where every text is allowed, so is every escape. In a narrower language an escape is
 * allowed where it has to be (quotes, backslash, control characters) and for characters beyond ASCII: names and fixed
 * texts thus have one spelling, and a model is not led to write `\u0061` for an `a`.
 */
import type { TextLanguage } from "./text-language.ts"

export interface EscapeState {
  readonly kind: "letter" | "hex" | "pair"
  /** Letters of the escape read so far: hexadecimal digits, or, for a pair, of the `\u` before the second half. */
  readonly read: number
  readonly value: number
  /** The first half of a surrogate pair, 0 where there is none. */
  readonly high: number
}

export interface Escapes {
  /** After a backslash; undefined where no escape could follow. */
  begin(text: number, quote: number): EscapeState | undefined
  /** The text's next state where the escape is through, or the escape further on. */
  step(text: number, escape: EscapeState, byte: number, quote: number): number | EscapeState | undefined
}

const SHORT = new Map(
  [
    ["b", 8],
    ["f", 12],
    ["n", 10],
    ["r", 13],
    ["t", 9],
  ].map(([letter, code]) => [String(letter).charCodeAt(0), Number(code)]),
)
const LETTER: EscapeState = { kind: "letter", read: 0, value: 0, high: 0 }

export function createEscapes(language: TextLanguage, kind: "json" | "python"): Escapes {
  return new EscapeReader(language, kind)
}

/** The escapes of one language in one kind of quotes. */
class EscapeReader implements Escapes {
  readonly #language: TextLanguage
  readonly #kind: "json" | "python"
  readonly #any: boolean
  /** Ranges of characters that may be written as \u….  */
  readonly #escapable: readonly (readonly [number, number])[]

  constructor(language: TextLanguage, kind: "json" | "python") {
    this.#language = language
    this.#kind = kind
    this.#any = language.any
    this.#escapable = this.#any
      ? [[0, 0x10ffff]]
      : [
          [0, 0x1f],
          [0x7f, 0x10ffff],
        ]
  }

  #within(text: number, first: number, last: number): boolean {
    return this.#escapable.some(
      ([low, high]) =>
        Math.max(low, first) <= Math.min(high, last) &&
        this.#language.within(text, Math.max(low, first), Math.min(high, last)),
    )
  }

  /** The character that a letter after the backslash stands for. */
  #shortEscape(byte: number, quote: number): number | undefined {
    if (byte === 0x5c || byte === quote) return byte
    if (byte === 0x22 && (this.#any || this.#kind === "json")) return byte
    if (this.#kind === "json" && byte === 0x2f && this.#any) return byte
    if (this.#kind === "python" && byte === 0x27 && this.#any) return byte
    return SHORT.get(byte)
  }

  /** Whether a code unit between the two can become a character that leads on. */
  #unitsWithin(text: number, first: number, last: number): boolean {
    if (first < 0xd800 && this.#within(text, first, Math.min(last, 0xd7ff))) return true
    if (last > 0xdfff && this.#within(text, Math.max(first, 0xe000), last)) return true
    const low = Math.max(first, 0xd800)
    const high = Math.min(last, 0xdbff)
    return (
      low <= high && this.#within(text, 0x10000 + ((low - 0xd800) << 10), 0x10000 + ((high - 0xd800) << 10) + 0x3ff)
    )
  }

  #hexPossible(text: number, { read, value, high }: EscapeState): boolean {
    const shift = 4 * (4 - read)
    const first = value << shift
    const last = ((value + 1) << shift) - 1
    if (high === 0) return this.#unitsWithin(text, first, last)
    const low = Math.max(first, 0xdc00)
    const top = Math.min(last, 0xdfff)
    const base = 0x10000 + ((high - 0xd800) << 10) - 0xdc00
    return low <= top && this.#within(text, base + low, base + top)
  }

  #stepHex(text: number, escape: EscapeState, byte: number): number | EscapeState | undefined {
    const digit = hexDigit(byte)
    if (digit < 0) return undefined
    const next: EscapeState = { ...escape, read: escape.read + 1, value: escape.value * 16 + digit }
    if (!this.#hexPossible(text, next)) return undefined
    if (next.read < 4) return next
    if (next.high !== 0)
      return positive(this.#language.step(text, 0x10000 + ((next.high - 0xd800) << 10) + (next.value - 0xdc00)))
    if (next.value >= 0xd800 && next.value <= 0xdbff) return { kind: "pair", read: 0, value: 0, high: next.value }
    return positive(this.#language.step(text, next.value))
  }

  begin(text: number, quote: number): EscapeState | undefined {
    const letters = [0x5c, 0x22, 0x27, 0x2f, ...SHORT.keys()]
    const short = letters.some((letter) => {
      const code = this.#shortEscape(letter, quote)
      return code !== undefined && this.#language.within(text, code, code)
    })
    return short || this.#unitsWithin(text, 0, 0xffff) ? LETTER : undefined
  }

  step(text: number, escape: EscapeState, byte: number, quote: number): number | EscapeState | undefined {
    if (escape.kind === "hex") return this.#stepHex(text, escape, byte)
    if (escape.kind === "pair") {
      if (escape.read === 0) return byte === 0x5c ? { ...escape, read: 1 } : undefined
      return byte === 0x75 ? { kind: "hex", read: 0, value: 0, high: escape.high } : undefined
    }
    if (byte === 0x75)
      return this.#unitsWithin(text, 0, 0xffff) ? { kind: "hex", read: 0, value: 0, high: 0 } : undefined
    const code = this.#shortEscape(byte, quote)
    return code === undefined ? undefined : positive(this.#language.step(text, code))
  }
}

const positive = (state: number): number | undefined => (state < 0 ? undefined : state)

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
