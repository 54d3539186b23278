import type { Node } from "@vscode/tree-sitter-wasm"
import { RULES, type Grammar, type SyntaxRules } from "./languages.ts"
import { kindOf, nameNode } from "./outline.ts"
import { withTree } from "./parser.ts"

/** A place where a name stands as a name, not in a comment or a text. Line and column count from 1. */
export interface Occurrence {
  line: number
  column: number
  role: "definition" | "import" | "call" | "reference"
  /** Of a definition: what it defines, and the last line of it. */
  kind?: string
  end_line?: number
  /** The function or class around it. */
  within?: string
}

/** Finds a name in a source file. Only the places where the text occurs are looked up in the tree. */
export function occurrences(source: string, grammar: Grammar, name: string): Promise<Occurrence[]> {
  const rules = RULES[grammar]
  return withTree(source, grammar, (root) => {
    const found: Occurrence[] = []
    for (let at = source.indexOf(name); at !== -1; at = source.indexOf(name, at + name.length)) {
      const node = root.descendantForIndex(at, at + name.length)
      if (node === null || node.startIndex !== at || node.endIndex !== at + name.length || !isName(node)) continue
      found.push(occurrenceOf(node, rules))
    }
    return found
  })
}

function isName(node: Node): boolean {
  return node.childCount === 0 && /identifier/u.test(node.type)
}

function occurrenceOf(node: Node, rules: SyntaxRules): Occurrence {
  const place = { line: node.startPosition.row + 1, column: node.startPosition.column + 1 }
  const parent = node.parent
  const rule = parent === null ? undefined : rules.declarations[parent.type]
  const within = enclosing(parent, rules, node)
  const around = within === undefined ? {} : { within: within.name }
  if (parent !== null && rule !== undefined && parent.type !== "impl_item" && nameNode(parent, rule)?.id === node.id) {
    const kind = kindOf(parent, rule, rules, within?.container === true)
    return { ...place, role: "definition", kind, end_line: parent.endPosition.row + 1, ...around }
  }
  for (let ancestor = parent; ancestor !== null; ancestor = ancestor.parent) {
    if (rules.imports.includes(ancestor.type)) return { ...place, role: "import", ...around }
  }
  return { ...place, role: isCalled(node, rules) ? "call" : "reference", ...around }
}

function isCalled(node: Node, rules: SyntaxRules): boolean {
  let called = node
  if (
    called.parent !== null &&
    rules.qualified.includes(called.parent.type) &&
    called.parent.endIndex === called.endIndex
  )
    called = called.parent
  const { parent } = called
  const field = parent === null ? undefined : rules.calls[parent.type]
  return parent !== null && field !== undefined && parent.childForFieldName(field)?.id === called.id
}

/** The nearest declaration around a node that has a name and holds other things. */
function enclosing(
  start: Node | null,
  rules: SyntaxRules,
  leaf: Node,
): { name: string; container: boolean } | undefined {
  for (let node = start; node !== null; node = node.parent) {
    const rule = rules.declarations[node.type]
    const holds = rule !== undefined && (rule.container === true || /function|method|constructor/u.test(rule.kind))
    const name = holds ? nameNode(node, rule) : null
    if (name !== null && name.id !== leaf.id) return { name: name.text, container: rule?.container === true }
  }
  return undefined
}
