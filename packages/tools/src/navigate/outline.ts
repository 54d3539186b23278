import type { Node } from "@vscode/tree-sitter-wasm"
import { RULES, type Declaration, type Grammar, type SyntaxRules } from "./languages.ts"
import { withTree } from "./parser.ts"

/** Something that a file declares. Lines count from 1. */
export interface Symbol {
  name: string
  kind: string
  line: number
  end_line: number
  /** The first line of the declaration. */
  signature: string
  members?: Symbol[]
}

/**
 * Lists what a source file declares, with the members of classes and the like; what functions hold inside is left out.
 */
export function outline(source: string, grammar: Grammar): Promise<Symbol[]> {
  return withTree(source, grammar, (root) => declarationsIn(root, RULES[grammar], false))
}

function declarationsIn(node: Node, rules: SyntaxRules, inContainer: boolean): Symbol[] {
  const symbols: Symbol[] = []
  for (const child of node.namedChildren) {
    if (child === null) continue
    const rule = rules.declarations[child.type]
    if (rule !== undefined) {
      const symbol = symbolOf(child, rule, rules, inContainer)
      if (symbol !== undefined) symbols.push(symbol)
    } else if (rules.transparent.includes(child.type)) symbols.push(...declarationsIn(child, rules, inContainer))
  }
  return symbols
}

function symbolOf(node: Node, rule: Declaration, rules: SyntaxRules, inContainer: boolean): Symbol | undefined {
  const name = nameNode(node, rule)
  if (name === null) return undefined
  const kind = kindOf(node, rule, rules, inContainer)
  const members = rule.container === true ? declarationsIn(node, rules, true) : []
  // The wrapper belongs to it: `export`, decorators, `const`.
  const whole = wrapperOf(node)
  return {
    name: name.text,
    kind,
    line: whole.startPosition.row + 1,
    end_line: whole.endPosition.row + 1,
    signature: signatureOf(node),
    ...(members.length === 0 ? {} : { members }),
  }
}

/** The node that holds a declaration's name; null when it declares no plain name (a pattern, an attribute). */
export function nameNode(node: Node, rule: Declaration): Node | null {
  const name = node.childForFieldName(rule.name ?? "name")
  return name === null || /pattern|attribute|subscript|member_expression|list|tuple/u.test(name.type) ? null : name
}

/** What a declaration is, seen from where it stands. */
export function kindOf(node: Node, rule: Declaration, rules: SyntaxRules, inContainer: boolean): string {
  const value = node.childForFieldName("value")?.type
  if (
    rule.kind === "variable" &&
    value !== undefined &&
    /^(?:arrow_function|function_expression|function|generator_function|lambda)$/u.test(value)
  )
    return "function"
  if (rule.kind === "type") {
    const type = node.childForFieldName("type")?.type
    if (type === "struct_type") return "struct"
    if (type === "interface_type") return "interface"
  }
  return inContainer ? (rules.members?.[rule.kind] ?? rule.kind) : rule.kind
}

function wrapperOf(node: Node): Node {
  let whole = node
  for (
    let parent = node.parent;
    parent !== null &&
    /^(?:export_statement|decorated_definition|lexical_declaration|variable_declaration|ambient_declaration)$/u.test(
      parent.type,
    );
    parent = parent.parent
  ) {
    if (parent.namedChildren.filter((child) => child?.type === node.type).length > 1) break
    whole = parent
  }
  return whole
}

function signatureOf(node: Node): string {
  const body = node.childForFieldName("body")
  const text = body === null ? node.text : node.text.slice(0, Math.max(0, body.startIndex - node.startIndex))
  const line = text
    .split("\n")
    .map((part) => part.trim())
    .join(" ")
    .replace(/\s*[{:]?\s*$/u, "")
  return line.length > 160 ? `${line.slice(0, 160)}…` : line
}
