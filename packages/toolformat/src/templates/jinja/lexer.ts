import { placeOf, TemplateError } from "./errors.ts"

/** Kinds of tokens: text between tags, the borders of tags, and what stands inside them. */
export type TokenKind =
  | "data"
  | "output-begin"
  | "output-end"
  | "block-begin"
  | "block-end"
  | "name"
  | "string"
  | "integer"
  | "float"
  | "operator"
  | "end"

export interface Token {
  kind: TokenKind
  text: string
  /** Offset in the normalised source. */
  at: number
}

/** A template's text as Jinja reads it, and its tokens. */
export interface TokenizedTemplate {
  source: string
  tokens: Token[]
}

const OPENING = /\{[{%#]/g
const RAW_BEGIN = /\s*raw\s*(?:-%\}\s*|%\})/y
const RAW_END = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\}\n?)/g
const COMMENT_END = /[-+]?#\}/g
const BLOCK_END = /\+%\}|-%\}\s*|%\}\n?/y
const OUTPUT_END = /-\}\}\s*|\}\}/y
const SPACE = /\s+/y
const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y
const INTEGER = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|\d(?:_?\d)*/y
const NAME = /[\p{L}\p{M}\p{N}_]+/uy
const STRING = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y
/** What stands inside tags, in the order in which it is tried. */
const TOKENS: readonly (readonly [TokenKind, RegExp])[] = [
  ["float", FLOAT],
  ["integer", INTEGER],
  ["name", NAME],
  ["string", STRING],
  ["operator", OPERATOR],
]
const CLOSERS: Record<string, string> = { "(": ")", "[": "]", "{": "}" }

/**
 * Cuts a template into tokens, with the white-space rules under which chat templates are rendered: `trim_blocks` (a
 * newline after a block is dropped), `lstrip_blocks` (blanks before a block at the start of a line are dropped), one
 * trailing newline of the template dropped, `-` and `+` at tag borders.
 *
 * @throws TemplateError `TEMPLATE_SYNTAX`
 */
export function tokenize(template: string): TokenizedTemplate {
  const source = template.replace(/\r\n?/g, "\n").replace(/\n$/, "")
  return { source, tokens: new Tokenizer(source).read() }
}

/** One reading of a template: the place in it, and the tokens up to there. */
class Tokenizer {
  readonly #source: string
  readonly #tokens: Token[] = []
  #position = 0
  /** Whether the text at the current place stands at the start of a line. */
  #startsLine = true

  constructor(source: string) {
    this.#source = source
  }

  read(): Token[] {
    while (this.#position < this.#source.length) this.#readOn()
    this.#tokens.push({ kind: "end", text: "", at: this.#source.length })
    return this.#tokens
  }

  /** The text up to the next tag, and the tag. */
  #readOn(): void {
    const source = this.#source
    const start = this.#position
    const open = this.#find(OPENING)?.index ?? source.length
    if (open === source.length) {
      this.#tokens.push({ kind: "data", text: source.slice(start), at: start })
      this.#position = open
      return
    }
    const kind = source[open + 1]
    const sign = /[-+]/.test(source[open + 2] ?? "") ? source[open + 2]! : ""
    this.#addData(source.slice(start, open), start, sign, kind !== "{")
    this.#position = open + 2 + sign.length
    if (kind === "#") this.#skipComment(open)
    else if (kind !== "%") this.#readTag("output-begin", OUTPUT_END, open)
    else if (!this.#readRaw(open)) this.#readTag("block-begin", BLOCK_END, open)
  }

  #skipComment(open: number): void {
    const end = this.#find(COMMENT_END) ?? this.#fail("Missing end of comment tag", open)
    this.#position = end.index + end[0].length
    const space = this.#match(end[0].startsWith("-") ? SPACE : /\n/y) ?? ""
    this.#close(end[0].startsWith("+") ? "" : space)
  }

  /** Text that is no template. @returns whether such begins here */
  #readRaw(open: number): boolean {
    const begin = this.#match(RAW_BEGIN)
    if (begin === undefined) return false
    this.#position += begin.length
    const end = this.#find(RAW_END) ?? this.#fail("Missing end of raw directive", open)
    this.#addData(this.#source.slice(this.#position, end.index), this.#position, end[1] ?? "", true)
    this.#position = end.index
    this.#close(end[0])
    return true
  }

  #readTag(kind: "block-begin" | "output-begin", endPattern: RegExp, open: number): void {
    this.#tokens.push({ kind, text: this.#source.slice(open, this.#position), at: open })
    const expected: string[] = []
    while (this.#position < this.#source.length) {
      const end = expected.length === 0 ? this.#match(endPattern) : undefined
      if (end !== undefined) {
        this.#tokens.push({ kind: kind === "block-begin" ? "block-end" : "output-end", text: end, at: this.#position })
        return this.#close(end)
      }
      this.#position += this.#match(SPACE)?.length ?? this.#readToken(expected).length
    }
    const missing = expected.at(-1)
    this.#fail(missing ? `Unexpected end of template, expected '${missing}'` : "A tag is not closed", open)
  }

  /** @param expected the closing brackets that are due */
  #readToken(expected: string[]): string {
    const at = this.#position
    const isAfterDot = this.#source[at - 1] === "."
    for (const [kind, pattern] of TOKENS) {
      const text = kind === "float" && isAfterDot ? undefined : this.#match(pattern)
      if (text === undefined) continue
      if (kind === "operator") this.#checkBracket(text, expected)
      this.#tokens.push({ kind, text, at })
      return text
    }
    return this.#fail(`Unexpected character '${this.#source[at]}'`, at)
  }

  #checkBracket(text: string, expected: string[]): void {
    const closer = CLOSERS[text]
    if (closer !== undefined) expected.push(closer)
    else if (/[)\]}]/.test(text) && expected.pop() !== text) this.#fail(`Unexpected '${text}'`, this.#position)
  }

  #addData(text: string, at: number, sign: string, stripsLine: boolean): void {
    let kept = text
    if (sign === "-") kept = text.trimEnd()
    else if (sign !== "+" && stripsLine) {
      const line = text.lastIndexOf("\n") + 1
      if ((line > 0 || this.#startsLine) && text.slice(line).trim() === "") kept = text.slice(0, line)
    }
    if (kept !== "") this.#tokens.push({ kind: "data", text: kept, at })
  }

  /** Goes past the end of a tag. */
  #close(text: string): void {
    this.#position += text.length
    this.#startsLine = text.endsWith("\n")
  }

  #find(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position
    return pattern.exec(this.#source)
  }

  #match(pattern: RegExp): string | undefined {
    return this.#find(pattern)?.[0]
  }

  #fail(message: string, at: number): never {
    throw new TemplateError("TEMPLATE_SYNTAX", message, placeOf(this.#source, at))
  }
}

const ESCAPE = /\\(?:(\n)|([\\'"abfnrtv])|([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/g
const LETTERS: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }

/** The value of a string token, with Python's escapes; unknown escapes stay as they are. */
export function unquote(token: string): string {
  return token.slice(1, -1).replace(ESCAPE, (whole: string, ...groups: (string | undefined)[]) => {
    const [newline, letter, octal, ...hexadecimal] = groups
    if (newline !== undefined) return ""
    if (letter !== undefined) return LETTERS[letter] ?? letter
    const digits = hexadecimal.slice(0, 3).find((group) => group !== undefined) ?? ""
    const code = octal === undefined ? Number.parseInt(digits, 16) : Number.parseInt(octal, 8)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
