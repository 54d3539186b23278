/** The words of a grammar in Lark: https://lark-parser.readthedocs.io/en/stable/grammar.html */
import { grammarError } from "../grammar/grammar-error.ts"
import type { GbnfPosition } from "../gbnf/model.ts"

export type LarkTokenKind =
  | "rule"
  | "terminal"
  | "string"
  | "regex"
  | "number"
  | "directive"
  | "sign"
  | "newline"
  | "end"

export interface LarkToken {
  readonly kind: LarkTokenKind
  readonly text: string
  readonly at: GbnfPosition
}

const PATTERNS: readonly (readonly [kind: LarkTokenKind | "space", pattern: RegExp])[] = [
  ["space", /(?:[ \t\f]|\/\/[^\n]*|#[^\n]*|\\\r?\n)+/y],
  ["newline", /\r?\n|\r/y],
  ["directive", /%[a-z_]+/y],
  ["rule", /[!?]{0,2}_?[a-z][_a-z0-9]*/y],
  ["terminal", /[!?]{0,2}_?[A-Z][_A-Z0-9]*/y],
  ["string", /"(?:\\.|[^"\\\n])*"i?/y],
  ["regex", /\/(?!\/)(?:\\.|[^/\\\n])+\/[a-z]*/y],
  ["number", /-?\d+/y],
  ["sign", /->|\.\.|[:|()[\]{}*+?~.,=&<>]/y],
]

/** Signs between which line ends say nothing. */
const OPENING = new Set(["(", "[", "{"])
const CLOSING = new Set([")", "]", "}"])

/** @throws ToolwrightError `INVALID_GRAMMAR` for a character that begins nothing */
export function larkTokens(source: string): LarkToken[] {
  const tokens: LarkToken[] = []
  let at = 0
  let line = 1
  let lineStart = 0
  let depth = 0
  const place = (): GbnfPosition => ({ line, column: at - lineStart + 1 })
  while (at < source.length) {
    const [kind, text] = wordAt(source, at)
    if (kind === undefined) throw larkError(place(), `nothing begins with ${JSON.stringify(source.slice(at, at + 12))}`)
    if (OPENING.has(text)) depth++
    else if (CLOSING.has(text)) depth--
    if (kind !== "space" && (kind !== "newline" || depth <= 0)) tokens.push({ kind, text, at: place() })
    at += text.length
    const breaks = text.split("\n").length - 1
    if (breaks === 0) continue
    line += breaks
    lineStart = at - (text.length - text.lastIndexOf("\n") - 1)
  }
  tokens.push({ kind: "end", text: "", at: place() })
  return tokens
}

function wordAt(source: string, at: number): [kind: LarkTokenKind | "space" | undefined, text: string] {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match !== null && match[0] !== "") return [kind, match[0]]
  }
  return [undefined, ""]
}

export function larkError({ line, column }: GbnfPosition, what: string, hint?: string): Error {
  return grammarError(`The Lark grammar, line ${line}, column ${column}: ${what}.`, hint === undefined ? {} : { hint })
}
