import type { CodePointRange } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode } from "./model.ts"

/**
 * The grammar as text that llama.cpp reads, the same bytes for the same grammar: one rule a line, non-ASCII and control
 * characters as escapes.
 */
export function printGbnf(grammar: GbnfGrammar): string {
  return grammar.rules.map((rule) => `${rule.name} ::= ${printNode(rule.body, "choice")}\n`).join("")
}

/** A text as a literal. */
export function printLiteral(text: string): string {
  // Most texts need no escape.
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`
  return `"${Array.from(text, (character) => printCharacter(character.codePointAt(0)!, '"')).join("")}"`
}

/** How tightly the surroundings bind: a choice stands alone, a sequence in a choice, an item before a repetition. */
type Place = "choice" | "sequence" | "item"

function printNode(node: GbnfNode, place: Place): string {
  switch (node.kind) {
    case "literal":
      return within(place, node.text.length === 0, `"${node.text.map((code) => printCharacter(code, '"')).join("")}"`)
    case "class":
      return `[${node.negated ? "^" : ""}${node.ranges.map(printRange).join("")}]`
    case "any":
      return "."
    case "token":
      return `${node.negated ? "!" : ""}${node.id === undefined ? node.text : `<[${node.id}]>`}`
    case "rule":
      return node.name
    case "sequence": {
      const text = node.items.map((item) => printNode(item, "sequence")).join(" ")
      return within(place, true, text === "" ? '""' : text)
    }
    case "choice": {
      const text = node.options.map((option) => printNode(option, "choice")).join(" | ")
      return place === "choice" ? text : `(${text})`
    }
    case "repeat": {
      const item = printNode(node.item, "item")
      return `${node.item.kind === "repeat" ? `(${item})` : item}${printBounds(node.min, node.max)}`
    }
  }
}

/** In brackets, where what stands before a repetition is no item by itself. */
function within(place: Place, needed: boolean, text: string): string {
  return needed && place === "item" ? `(${text})` : text
}

function printBounds(min: number, max: number | undefined): string {
  if (max === undefined) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`
  if (min === 0 && max === 1) return "?"
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function printRange([first, last]: CodePointRange): string {
  const from = printCharacter(first, "]")
  return first === last ? from : `${from}-${printCharacter(last, "]")}`
}

const NAMED: Record<number, string> = { 9: "\\t", 10: "\\n", 13: "\\r", 92: "\\\\" }

/** In a class `[`, `]`, `^` and `-` have a meaning; `^` knows no short escape. */
function printCharacter(code: number, closing: '"' | "]"): string {
  const named = NAMED[code]
  if (named !== undefined) return named
  const character = String.fromCodePoint(code)
  if (closing === '"' ? character === '"' : character === "[" || character === "]") return `\\${character}`
  const special = closing === "]" && (character === "^" || character === "-")
  if (code >= 0x20 && code < 0x7f && !special) return character
  if (code <= 0xff) return `\\x${hex(code, 2)}`
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0")
}
