import type { Node } from "@vscode/tree-sitter-wasm"
import { RULES, type Grammar } from "./languages.ts"
import { withTree } from "./parser.ts"

/** An import: of what, which names, where, and as it is written. */
export interface Import {
  module: string
  names: string[]
  line: number
  text: string
}

/** Lists what a source file imports, also `require`, `import()` and re-exports. */
export function imports(source: string, grammar: Grammar): Promise<Import[]> {
  return withTree(source, grammar, (root) => {
    const ecmascript = grammar === "typescript" || grammar === "tsx" || grammar === "javascript"
    const found = [...RULES[grammar].imports]
    const nodes = root.descendantsOfType(ecmascript ? [...found, "export_statement", "call_expression"] : found)
    return nodes.flatMap((node) => (node === null ? [] : importsOf(node, grammar)))
  })
}

function importsOf(node: Node, grammar: Grammar): Import[] {
  switch (grammar) {
    case "python":
      return pythonImports(node)
    case "go":
      return node
        .descendantsOfType("import_spec")
        .flatMap((spec) =>
          spec === null
            ? []
            : [entry(spec, unquoted(spec.childForFieldName("path")), [spec.childForFieldName("name")?.text])],
        )
    case "rust":
      return [rustImport(node)]
    case "java": {
      const path = node.namedChildren.find((child) => child !== null && /identifier/u.test(child.type))?.text ?? ""
      const star = node.namedChildren.some((child) => child?.type === "asterisk")
      return [entry(node, star ? path : path.replace(/\.[^.]+$/u, ""), [star ? "*" : path.split(".").at(-1)])]
    }
    default:
      return ecmascriptImports(node)
  }
}

function ecmascriptImports(node: Node): Import[] {
  if (node.type === "call_expression") {
    const called = node.childForFieldName("function")
    const argument = node.childForFieldName("arguments")?.namedChildren[0]
    if (argument?.type !== "string" || (called?.text !== "require" && called?.type !== "import")) return []
    return [entry(node, unquoted(argument), [])]
  }
  const source = node.childForFieldName("source")
  if (source === null) return []
  const clause = node.namedChildren.find((child) => child?.type === "import_clause" || child?.type === "export_clause")
  const names = (clause?.namedChildren ?? []).flatMap((child): (string | undefined)[] => {
    if (child?.type === "identifier") return [`default as ${child.text}`]
    if (child?.type === "namespace_import") return [child.text]
    if (child?.type === "named_imports") return child.namedChildren.map((one) => one?.text)
    return child?.type === "export_specifier" ? [child.text] : []
  })
  return [entry(node, unquoted(source), node.type === "export_statement" && clause === undefined ? ["*"] : names)]
}

function pythonImports(node: Node): Import[] {
  const names = node.childrenForFieldName("name").flatMap((child) => (child === null ? [] : [child.text]))
  if (node.type === "import_statement")
    return names.map((name) => entry(node, name.split(" as ")[0]!, name.includes(" as ") ? [name] : []))
  const module =
    node.type === "future_import_statement" ? "__future__" : (node.childForFieldName("module_name")?.text ?? "")
  const star = node.namedChildren.some((child) => child?.type === "wildcard_import")
  return [entry(node, module, star ? ["*"] : names)]
}

function rustImport(node: Node): Import {
  const argument = node.childForFieldName("argument") ?? node.childForFieldName("name")
  if (argument === null) return entry(node, "", [])
  const textOf = (field: string): string | undefined => argument.childForFieldName(field)?.text
  const path = textOf("path")
  if (path === undefined || argument.type === "use_as_clause")
    return entry(node, path ?? argument.text, [textOf("alias")])
  const list = argument.childForFieldName("list")
  return entry(node, path, list === null ? [textOf("name")] : list.namedChildren.map((child) => child?.text))
}

function entry(node: Node, module: string, names: readonly (string | undefined)[]): Import {
  const text = node.text.replace(/\s*\n\s*/gu, " ")
  return {
    module,
    names: names.filter((name) => name !== undefined),
    line: node.startPosition.row + 1,
    text: text.length > 200 ? `${text.slice(0, 200)}…` : text,
  }
}

function unquoted(node: Node | null): string {
  return node?.text.replace(/^['"`]|['"`]$/gu, "") ?? ""
}
