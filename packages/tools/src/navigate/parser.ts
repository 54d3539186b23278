import { createRequire } from "node:module"
import type { Language, Node, Parser, Tree } from "@vscode/tree-sitter-wasm"
import type { Grammar } from "./languages.ts"

const require = createRequire(import.meta.url)
const loaded = new Map<Grammar, Promise<Parser>>()
let engine: Promise<typeof import("@vscode/tree-sitter-wasm")> | undefined

/** The package is written for browsers, editors and old modules: it names what it holds when it is required alone. */
async function start(): Promise<typeof import("@vscode/tree-sitter-wasm")> {
  const module = require("@vscode/tree-sitter-wasm") as typeof import("@vscode/tree-sitter-wasm")
  await module.Parser.init()
  return module
}

async function load(grammar: Grammar): Promise<Parser> {
  engine ??= start()
  const { Parser, Language } = await engine
  const file = require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`)
  const language: Language = await Language.load(file)
  const parser = new Parser()
  parser.setLanguage(language)
  return parser
}

/**
 * Parses a source text and gives its tree to `use`; the tree is freed afterwards. Engine and grammar (WebAssembly) are
 * loaded on first need.
 * A text with errors has a tree too, with the broken parts marked.
 */
export async function withTree<Value>(source: string, grammar: Grammar, use: (root: Node) => Value): Promise<Value> {
  let parser = loaded.get(grammar)
  if (parser === undefined) {
    parser = load(grammar)
    loaded.set(grammar, parser)
    parser.catch(() => loaded.delete(grammar))
  }
  const tree: Tree | null = (await parser).parse(source)
  if (tree === null) throw new Error(`The ${grammar} parser gave no tree.`)
  try {
    return use(tree.rootNode)
  } finally {
    tree.delete()
  }
}
