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
const CLOSERS: Record<string, string> = { "(": ")", "[": "]", "{": "}" }

/**
 * Cuts a template into tokens, with the white-space rules under which chat templates are rendered: `trim_blocks` (a
 * newline
 * after a block is dropped), `lstrip_blocks` (blanks before a block at the start of a line are dropped), one trailing
 * newline
 * of the template dropped, `-` and `+` at tag borders.
 *
 * @throws TemplateError `TEMPLATE_SYNTAX`
 */
export function tokenize(template: string): TokenizedTemplate {
  const source = template.replace(/\r\n?/g, "\n").replace(/\n$/, "")
  const tokens: Token[] = []
  let position = 0
  let startsLine = true

  const fail = (message: string, at: number): never => {
    throw new TemplateError("TEMPLATE_SYNTAX", message, placeOf(source, at))
  }
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position
    return pattern.exec(source)?.[0]
  }
  const addData = (text: string, at: number, sign: string, stripsLine: boolean): void => {
    let kept = text
    if (sign === "-") kept = text.trimEnd()
    else if (sign !== "+" && stripsLine) {
      const line = text.lastIndexOf("\n") + 1
      if ((line > 0 || startsLine) && text.slice(line).trim() === "") kept = text.slice(0, line)
    }
    if (kept !== "") tokens.push({ kind: "data", text: kept, at })
  }
  const close = (text: string): void => {
    position += text.length
    startsLine = text.endsWith("\n")
  }

  while (position < source.length) {
    const start = position
    OPENING.lastIndex = start
    const open = OPENING.exec(source)?.index ?? source.length
    if (open === source.length) {
      tokens.push({ kind: "data", text: source.slice(start), at: start })
      break
    }
    const kind = source[open + 1]
    const sign = /[-+]/.test(source[open + 2] ?? "") ? source[open + 2]! : ""
    addData(source.slice(start, open), start, sign, kind !== "{")
    position = open + 2 + sign.length

    if (kind === "#") {
      COMMENT_END.lastIndex = position
      const end = COMMENT_END.exec(source) ?? fail("Missing end of comment tag", open)
      position = end.index + end[0].length
      const space = match(end[0].startsWith("-") ? SPACE : /\n/y) ?? ""
      close(end[0].startsWith("+") ? "" : space)
      continue
    }
    const raw = kind === "%" ? match(RAW_BEGIN) : undefined
    if (raw !== undefined) {
      position += raw.length
      RAW_END.lastIndex = position
      const end = RAW_END.exec(source) ?? fail("Missing end of raw directive", open)
      addData(source.slice(position, end.index), position, end[1] ?? "", true)
      position = end.index
      close(end[0])
      continue
    }
    tokens.push({ kind: kind === "%" ? "block-begin" : "output-begin", text: source.slice(open, position), at: open })
    readTag(kind === "%" ? BLOCK_END : OUTPUT_END, kind === "%" ? "block-end" : "output-end", open)
  }
  tokens.push({ kind: "end", text: "", at: source.length })
  return { source, tokens }

  function readTag(endPattern: RegExp, endKind: TokenKind, open: number): void {
    const expected: string[] = []
    while (position < source.length) {
      const end = expected.length === 0 ? match(endPattern) : undefined
      if (end !== undefined) {
        tokens.push({ kind: endKind, text: end, at: position })
        close(end)
        return
      }
      const space = match(SPACE)
      if (space !== undefined) {
        position += space.length
        continue
      }
      const token = readToken()
      if (token.kind === "operator") {
        const closer = CLOSERS[token.text]
        if (closer !== undefined) expected.push(closer)
        else if (/[)\]}]/.test(token.text) && expected.pop() !== token.text)
          fail(`Unexpected '${token.text}'`, token.at)
      }
      tokens.push(token)
      position += token.text.length
    }
    fail(
      expected.length > 0 ? `Unexpected end of template, expected '${expected.at(-1)}'` : "A tag is not closed",
      open,
    )
  }

  function readToken(): Token {
    const at = position
    const afterDot = source[at - 1] === "."
    const float = afterDot ? undefined : match(FLOAT)
    if (float !== undefined) return { kind: "float", text: float, at }
    const integer = match(INTEGER)
    if (integer !== undefined) return { kind: "integer", text: integer, at }
    const name = match(NAME)
    if (name !== undefined) return { kind: "name", text: name, at }
    const string = match(STRING)
    if (string !== undefined) return { kind: "string", text: string, at }
    const operator = match(OPERATOR)
    if (operator !== undefined) return { kind: "operator", text: operator, at }
    return fail(`Unexpected character '${source[at]}'`, at)
  }
}

const ESCAPE = /\\(?:(\n)|([\\'"abfnrtv])|([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/g
const LETTERS: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }

/** The value of a string token, with Python's escapes; unknown escapes stay as they are. */
export function unquote(token: string): string {
  return token.slice(1, -1).replace(ESCAPE, (whole, newline, letter, octal, x, u, wide) => {
    if (newline !== undefined) return ""
    if (letter !== undefined) return LETTERS[letter as string] ?? (letter as string)
    const code =
      octal === undefined ? Number.parseInt((x ?? u ?? wide) as string, 16) : Number.parseInt(octal as string, 8)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
