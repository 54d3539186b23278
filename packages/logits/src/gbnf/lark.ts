/**
 * Grammars in the Lark dialect of llguidance, which vLLM, SGLang and OpenAI's custom tools can be told to read. It
 * knows lexemes, which take as much as they can: whatever does not contain itself is one lexeme, so that few are left
 * to meet.
 */
import type { CodePointRange } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode } from "./model.ts"
import { parseGbnf } from "./parse.ts"

/**
 * A grammar in GBNF as Lark text: the same bytes for the same grammar. It begins with `start`.
 *
 * @throws ToolwrightError `GBNF_SYNTAX`, `GBNF_INVALID`
 * @example
 * gbnfToLark('root ::= "yes" | "no"') // 'start: "yes" | "no"\n'
 */
export function gbnfToLark(grammar: string | GbnfGrammar): string {
  const { rules } = typeof grammar === "string" ? parseGbnf(grammar) : grammar
  const bodies = new Map(rules.map(({ name, body }) => [name, body]))
  const names = namesOf(bodies)
  return Array.from(bodies, ([name, body]) => {
    const { text, body: without = body } = names.get(name)!
    return `${text}: ${print(without, "choice", names)}\n`
  }).join("")
}

/** What a rule is called. */
interface Name {
  readonly text: string
  /**
   * Of a lexeme that may be empty, which none is allowed to: what it is without that. Where it is used it gets a `?`.
   */
  readonly body?: GbnfNode
}

/**
 * Rules that contain themselves, by whatever way, and those that lead to them are written small; others are lexemes.
 */
function namesOf(bodies: ReadonlyMap<string, GbnfNode>): Map<string, Name> {
  const nullable = nullableRules(bodies)
  const mayBeEmpty = (node: GbnfNode): boolean => isNullable(node, nullable)
  const uses = new Map(Array.from(bodies, ([name, body]) => [name, [...usedBy(body)]]))
  const isLexeme = (name: string): boolean => name !== "root" && !leadsToLoop(name, uses)
  for (const [name, body] of bodies)
    if (nullable.has(name) && withoutEmpty(body, mayBeEmpty) === undefined) uses.get(name)!.push(NO_LEXEME)
  const names = new Map<string, Name>()
  const taken = new Set<string>()
  for (const [name, body] of bodies) {
    const plain = name === "root" ? "start" : name.replaceAll(/[^A-Za-z0-9]/g, "_")
    const base = isLexeme(name) ? `T_${plain.toUpperCase()}` : name === "root" ? plain : `r_${plain.toLowerCase()}`
    let text = base
    for (let count = 2; taken.has(text); count++) text = `${base}_${count}`
    taken.add(text)
    const without = isLexeme(name) && nullable.has(name) ? withoutEmpty(body, mayBeEmpty) : undefined
    names.set(name, without === undefined ? { text } : { text, body: without })
  }
  return names
}

/** The rules that match the empty text. */
function nullableRules(bodies: ReadonlyMap<string, GbnfNode>): Set<string> {
  const nullable = new Set<string>()
  for (let size = -1; size < nullable.size;) {
    size = nullable.size
    for (const [name, body] of bodies) if (isNullable(body, nullable)) nullable.add(name)
  }
  return nullable
}

function isNullable(node: GbnfNode, rules: ReadonlySet<string>): boolean {
  if (node.kind === "literal") return node.text.length === 0
  if (node.kind === "rule") return rules.has(node.name)
  if (node.kind === "sequence") return node.items.every((item) => isNullable(item, rules))
  if (node.kind === "choice") return node.options.some((option) => isNullable(option, rules))
  return node.kind === "repeat" && (node.min === 0 || isNullable(node.item, rules))
}

/** What else a choice or a repetition matches, where that is easily said. */
function withoutEmpty(node: GbnfNode, mayBeEmpty: (node: GbnfNode) => boolean): GbnfNode | undefined {
  if (node.kind === "repeat")
    return node.min === 0 && node.max !== 0 && !mayBeEmpty(node.item) ? { ...node, min: 1 } : undefined
  if (node.kind !== "choice") return undefined
  const options = node.options.filter((option) => !isEmpty(option))
  return options.length > 0 && !options.some(mayBeEmpty) ? { kind: "choice", options } : undefined
}

function* usedBy(node: GbnfNode): Generator<string> {
  if (node.kind === "rule") yield node.name
  else if (node.kind === "sequence") for (const item of node.items) yield* usedBy(item)
  else if (node.kind === "choice") for (const option of node.options) yield* usedBy(option)
  else if (node.kind === "repeat") yield* usedBy(node.item)
  // Tokens stand in no lexeme.
  else if (node.kind === "token") yield NO_LEXEME
}

const NO_LEXEME = "<no lexeme>"

function leadsToLoop(start: string, uses: ReadonlyMap<string, readonly string[]>): boolean {
  const state = new Map<string, "open" | "done">()
  const visit = (name: string): boolean => {
    if (name === NO_LEXEME || state.get(name) === "open") return true
    if (state.get(name) === "done") return false
    state.set(name, "open")
    const loops = (uses.get(name) ?? []).some(visit)
    state.set(name, "done")
    return loops
  }
  return visit(start)
}

type Place = "choice" | "sequence" | "item"
type Names = ReadonlyMap<string, Name>

function print(node: GbnfNode, place: Place, names: Names): string {
  switch (node.kind) {
    case "literal":
      return JSON.stringify(String.fromCodePoint(...node.text))
    case "class":
      return `/[${node.negated ? "^" : ""}${node.ranges.map(printRange).join("")}]/`
    case "any":
      return "/(?s:.)/"
    case "token":
      return node.id === undefined ? String(node.text) : `<[${node.negated ? "^" : ""}${node.id}]>`
    case "rule":
      return printUse(names.get(node.name) ?? { text: node.name }, place)
    case "sequence":
      return printSequence(node.items, place, names)
    case "choice":
      return printChoice(node.options, place, names)
    case "repeat":
      return `${print(node.item, "item", names)}${printBounds(node.min, node.max)}`
  }
}

function printUse({ text, body }: Name, place: Place): string {
  if (body === undefined) return text
  return place === "item" ? `(${text}?)` : `${text}?`
}

function printSequence(items: readonly GbnfNode[], place: Place, names: Names): string {
  if (items.length === 0) return '""'
  if (items.length === 1) return print(items[0]!, place, names)
  const text = items.map((item) => print(item, "sequence", names)).join(" ")
  return place === "item" ? `(${text})` : text
}

/** What may be empty is said by a question mark. */
function printChoice(options: readonly GbnfNode[], place: Place, names: Names): string {
  const said = options.filter((option) => !isEmpty(option))
  const text = said.map((option) => print(option, "choice", names)).join(" | ")
  if (said.length < options.length) {
    const optional = `(${text === "" ? '""' : text})?`
    return place === "item" ? `(${optional})` : optional
  }
  return place === "choice" ? text : `(${text})`
}

function isEmpty(node: GbnfNode): boolean {
  return (node.kind === "literal" && node.text.length === 0) || (node.kind === "sequence" && node.items.every(isEmpty))
}

function printBounds(min: number, max: number | undefined): string {
  if (max === undefined) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`
  if (min === 0 && max === 1) return "?"
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function printRange([first, last]: CodePointRange): string {
  return first === last ? printCharacter(first) : `${printCharacter(first)}-${printCharacter(last)}`
}

const printCharacter = (code: number): string =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
    ? String.fromCodePoint(code)
    : `\\x{${code.toString(16).toUpperCase()}}`
