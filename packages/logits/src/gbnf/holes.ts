/** GBNF text of grammars with grounded values: printed once around them, and for each conversation filled in. */
import { fillHoles, freePrefix, type LoweredAround } from "../grammar/lower/index.ts"
import type { Grammar, PlainExpression } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode } from "./model.ts"
import { printGbnf } from "./print.ts"

/** Text with the numbers of holes between its pieces. */
interface PrintedAround {
  readonly pieces: readonly string[]
  /** Of the hole after each piece but the last. */
  readonly holes: readonly number[]
  readonly prefix: string
}

const printed = new WeakMap<LoweredAround, PrintedAround>()

/** @param convert gives the checked GBNF of the rules around, those of the holes included */
export function printAround(grammar: Grammar, around: LoweredAround, convert: (around: LoweredAround) => GbnfGrammar): string {
  let known = printed.get(around)
  if (known === undefined) printed.set(around, (known = split(convert(around), around)))
  const { pieces, holes, prefix } = known
  const names: string[] = []
  const rules: { name: string; body: GbnfNode }[] = []
  fillHoles(grammar, around.holes, prefix, (name, body) => rules.push({ name, body: nodeOf(body) }), (hole, name) => {
    names[around.holes.indexOf(hole)] = name
  })
  const text = pieces.map((piece, index) => (index < holes.length ? piece + names[holes[index]!]! : piece)).join("")
  return text + printGbnf({ rules })
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
  const marked = rules.filter(({ name }) => !numbers.has(name)).map(({ name, body }) => ({ name, body: markHoles(body, numbers) }))
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
function nodeOf(expression: PlainExpression): GbnfNode {
  switch (expression.kind) {
    case "literal":
      return { kind: "literal", text: Array.from(expression.text, (character) => character.codePointAt(0)!) }
    case "rule":
      return { kind: "rule", name: expression.name }
    case "sequence":
      return { kind: "sequence", items: expression.parts.map(nodeOf) }
    case "choice":
      return { kind: "choice", options: expression.options.map(nodeOf) }
    default:
      throw new TypeError(`a graph has no ${expression.kind}`)
  }
}
