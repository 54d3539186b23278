import { placeOf, TemplateError } from "./errors.ts"
import type { Token, TokenizedTemplate, TokenKind } from "./lexer.ts"

/** A cursor over the tokens of a template, shared by the parsers of statements and expressions. */
export class TokenCursor {
  readonly source: string
  readonly #tokens: Token[]
  #index = 0

  constructor(template: TokenizedTemplate) {
    this.source = template.source
    this.#tokens = template.tokens
  }

  get current(): Token {
    return this.#tokens[this.#index]!
  }

  get following(): Token {
    return this.#tokens[Math.min(this.#index + 1, this.#tokens.length - 1)]!
  }

  next(): Token {
    const token = this.current
    if (token.kind !== "end") this.#index += 1
    return token
  }

  is(kind: TokenKind, ...texts: string[]): boolean {
    return this.current.kind === kind && (texts.length === 0 || texts.includes(this.current.text))
  }

  /** Steps over the token if it is this one. */
  accept(kind: TokenKind, text: string): boolean {
    const found = this.is(kind, text)
    if (found) this.next()
    return found
  }

  expect(kind: TokenKind, text?: string): Token {
    if (text === undefined ? this.is(kind) : this.is(kind, text)) return this.next()
    return this.fail(`Expected ${text === undefined ? kind : `'${text}'`}, got ${describe(this.current)}`)
  }

  fail(message: string, at: number = this.current.at): never {
    throw new TemplateError("TEMPLATE_SYNTAX", message, placeOf(this.source, at))
  }
}

export function describe(token: Token): string {
  return token.kind === "end"
    ? "the end of the template"
    : token.kind.endsWith("end")
      ? "the end of the tag"
      : `'${token.text}'`
}
