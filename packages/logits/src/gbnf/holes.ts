/** GBNF text of grammars with grounded values: printed once around them, and for each conversation filled in. */
import { memory } from "@toolwright/toolbox"
import { fillHoles, freePrefix, type LoweredAround } from "../lowering/index.ts"
import type { Grammar, PlainExpression } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode } from "./model.ts"
import { printGbnf, printLiteral } from "./print.ts"

/** Text with the numbers of holes between its pieces. */
interface PrintedAround {
  readonly pieces: readonly string[]
  /** Of the hole after each piece but the last. */
  readonly holes: readonly number[]
  readonly prefix: string
}

const printedOf = memory.derived((_around: LoweredAround): { text?: PrintedAround } => ({}))

/**
 * @param convert gives the GBNF of the rules around, those of the holes included
 * @param check throws where llama.cpp would not read a text
 */
export function printAround(
  grammar: Grammar,
  around: LoweredAround,
  convert: (around: LoweredAround) => GbnfGrammar,
  check: (text: string) => void,
): string {
  const kept = printedOf(around)
  if (kept.text === undefined) {
    const text = split(convert(around), around)
    check(`${text.pieces.join(text.prefix)}${text.prefix} ::= "x"\n`)
    kept.text = text
  }
  const { pieces, holes, prefix } = kept.text
  const names: string[] = []
  let said = ""
  const add = (name: string, body: PlainExpression): void => {
    said += `${name} ::= ${printGraphRule(body)}\n`
  }
  fillHoles(grammar, around.holes, prefix, add, (hole, name) => {
    names[around.holes.indexOf(hole)] = name
  })
  return pieces.map((piece, index) => (index < holes.length ? piece + names[holes[index]!]! : piece)).join("") + said
}

/** Stands where a hole's name will; nothing that is printed has it. */
const MARK = "\u0001"

function split({ rules }: GbnfGrammar, { holes }: LoweredAround): PrintedAround {
  const numbers = new Map<string, number>()
  for (const { name, body } of rules) {
    const text = body.kind === "literal" ? String.fromCodePoint(...body.text) : undefined
    const index = holes.findIndex(({ stand }) => stand === text)
    if (index >= 0) numbers.set(name, index)
  }
  // The start rule says itself what it would only refer to, so it can be a hole by itself.
  const kept = rules.filter(({ name }) => name === "root" || !numbers.has(name))
  const marked = kept.map(({ name, body }) => ({
    name,
    body: markHoles(numbers.has(name) ? { kind: "rule", name } : body, numbers),
  }))
  const parts = printGbnf({ rules: marked }).split(MARK)
  return {
    pieces: parts.filter((_, index) => index % 2 === 0),
    holes: parts.filter((_, index) => index % 2 === 1).map(Number),
    prefix: freePrefix(rules.map(({ name }) => name)),
  }
}

function markHoles(node: GbnfNode, numbers: ReadonlyMap<string, number>): GbnfNode {
  switch (node.kind) {
    case "rule": {
      const number = numbers.get(node.name)
      return number === undefined ? node : { kind: "rule", name: `${MARK}${number}${MARK}` }
    }
    case "sequence":
      return { ...node, items: node.items.map((item) => markHoles(item, numbers)) }
    case "choice":
      return { ...node, options: node.options.map((option) => markHoles(option, numbers)) }
    case "repeat":
      return { ...node, item: markHoles(node.item, numbers) }
    default:
      return node
  }
}

/** What rules of graphs consist of: literals and names, one after the other and to choose from. */
function printGraphRule(expression: PlainExpression): string {
  switch (expression.kind) {
    case "literal":
      return printLiteral(expression.text)
    case "rule":
      return expression.name
    case "sequence":
      return expression.parts.map(printGraphRule).join(" ")
    case "choice":
      return expression.options.map(printGraphRule).join(" | ")
    default:
      throw new TypeError(`a graph has no ${expression.kind}`)
  }
}
