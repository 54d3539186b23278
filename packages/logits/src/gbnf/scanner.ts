import type { GbnfPosition } from "./model.ts"

/** Thrown inside the parser only; {@link readGbnf} turns it into a problem with line and column. */
export class GbnfSyntax extends Error {
  readonly at: GbnfPosition
  readonly expected: string

  constructor(at: GbnfPosition, expected: string, found: string) {
    super(`expected ${expected}, found ${found}`)
    this.at = at
    this.expected = expected
  }
}

const NAME_CHARACTERS = new Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
const HEX = /^[0-9a-fA-F]$/
const ESCAPES: Record<string, number> = { t: 9, r: 13, n: 10, "\\": 92, '"': 34, "[": 91, "]": 93, "-": 45 }
const HEX_ESCAPES: Record<string, number> = { x: 2, u: 4, U: 8 }

/** Reads grammar text code point by code point and knows where it is. */
export class GbnfScanner {
  readonly #characters: string[]
  #index = 0
  #line = 1
  #lineStart = 0

  constructor(text: string) {
    this.#characters = Array.from(text)
  }

  /** The character at hand, or one further on; empty at the end. */
  peek(ahead = 0): string {
    return this.#characters[this.#index + ahead] ?? ""
  }

  get done(): boolean {
    return this.#index >= this.#characters.length
  }

  get at(): GbnfPosition {
    return { line: this.#line, column: this.#index - this.#lineStart + 1 }
  }

  next(): string {
    const character = this.peek()
    this.#index++
    if (character === "\n" || (character === "\r" && this.peek() !== "\n")) {
      this.#line++
      this.#lineStart = this.#index
    }
    return character
  }

  /** Takes `text` if it stands here. */
  take(text: string): boolean {
    for (let index = 0; index < text.length; index++) if (this.peek(index) !== text[index]) return false
    for (let index = 0; index < text.length; index++) this.next()
    return true
  }

  expect(text: string, expected = `'${text}'`): void {
    if (!this.take(text)) throw this.wrong(expected)
  }

  wrong(expected: string, at = this.at): GbnfSyntax {
    return new GbnfSyntax(at, expected, this.#found())
  }

  /** Skips blanks and comments; line ends only where the notation lets a rule go on. */
  space(newlines: boolean): void {
    for (;;) {
      const character = this.peek()
      if (character === "#") {
        while (!this.done && this.peek() !== "\n" && this.peek() !== "\r") this.next()
      } else if (character === " " || character === "\t" || (newlines && (character === "\n" || character === "\r"))) {
        this.next()
      } else return
    }
  }

  /** A rule name, or nothing. */
  name(): string {
    let name = ""
    while (NAME_CHARACTERS.has(this.peek())) name += this.next()
    return name
  }

  integer(expected: string): number {
    let digits = ""
    const start = this.at
    while (/^[0-9]$/.test(this.peek())) digits += this.next()
    if (digits === "") throw this.wrong(expected)
    const value = Number(digits)
    if (!Number.isSafeInteger(value) || value > 0xffff_ffff)
      throw new GbnfSyntax(start, "a number below 4294967296", digits.slice(0, 24))
    return value
  }

  /** One character of a literal or class, escapes resolved. */
  character(): number {
    if (this.done) throw this.wrong("a character")
    const start = this.at
    const first = this.next()
    if (first !== "\\") {
      const value = first.codePointAt(0) ?? 0
      if (value === 0)
        throw new GbnfSyntax(start, "a character (U+0000 ends the text for llama.cpp; write \\x00)", "U+0000")
      return value
    }
    const kind = this.peek()
    const simple = ESCAPES[kind]
    if (simple !== undefined && kind !== "") {
      this.next()
      return simple
    }
    const size = HEX_ESCAPES[kind]
    if (size === undefined)
      throw new GbnfSyntax(
        start,
        'one of the escapes \\n \\r \\t \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH',
        this.done ? "the end" : `'\\${kind}'`,
      )
    this.next()
    let value = 0
    for (let digit = 0; digit < size; digit++) {
      if (!HEX.test(this.peek())) throw this.wrong(`${size} hexadecimal digits after '\\${kind}'`)
      value = value * 16 + Number.parseInt(this.next(), 16)
    }
    if (value > 0x10ffff) throw new GbnfSyntax(start, "a code point up to 10FFFF", value.toString(16).toUpperCase())
    return value
  }

  #found(): string {
    if (this.done) return "the end of the grammar"
    const character = this.peek()
    if (character === "\n" || character === "\r") return "the end of the line"
    return `'${character}'`
  }
}
