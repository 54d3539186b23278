import {
  failure,
  success,
  type JsonObject,
  type JsonSchema,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { createGetDirectoryTreeTool } from "../filesystem/get-directory-tree.ts"
import { createListDirectoryTool } from "../filesystem/list-directory.ts"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { Workspace } from "@toolwright/host/paths"
import { decodeText } from "@toolwright/host/text"
import type { FoundOccurrence } from "./find-occurrences.ts"
import { EXTENSIONS, grammarOf, type Grammar } from "./languages.ts"
import type { Symbol } from "./outline.ts"
import { NAVIGATE_OUTPUT } from "./output.ts"
import { grounded, HERE } from "../ground/grounded.ts"

const FILE = grounded({ type: "string", description: "Source file." }, "path")
const NAME: JsonSchema = { type: "string", minLength: 1, description: "Name of a function, class, variable and so on." }
const WHERE = grounded(
  { type: "string", description: "Directory or file to look in; the workspace unless given." },
  HERE,
)
const MOST: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: 10_000,
  description: "Most results returned; 100 unless given.",
}
/** The older names of three actions. */
const OLDER: Readonly<Record<string, string>> = {
  get_file_outline: "outline",
  find_imports: "imports",
  get_tree: "tree",
}

/** The `navigate` tool: finds its way through code by its syntax, not by its text. */
export function createNavigateTool(workspace: Workspace): ToolDefinition {
  const actions = actionsOn(workspace)
  const older = Object.fromEntries(
    Object.entries(OLDER).map(([name, action]) => {
      const { examples: _, ...rest } = actions[action]!
      return [name, { ...rest, description: `The same as ${action}` }]
    }),
  )
  const tool = defineMultiActionTool({
    name: "navigate",
    sets: ["coding", "reading", "general"],
    title: "Navigate code",
    description:
      "Find your way through code: outline and imports of a file, definitions and references of a name, directories.",
    category: "code",
    optionality: "optional",
    usageHint:
      "Use when: the outline of a large file is enough, or a name is to be changed (references). Don't use when: " +
      "text is looked for (use search).",
    tags: ["code"],
    effects: LOOKING,
    maxOutputChars: 20_000,
    aliases: { arguments: { file: "path", file_path: "path", directory: "path", symbol: "name", depth: "max_depth" } },
    actions: { ...actions, ...older },
    outputSchema: NAVIGATE_OUTPUT,
    timeoutMs: 60_000,
  })
  // Presented as single tools, each action appears once.
  return {
    ...tool,
    actions: { argument: "action", list: tool.actions!.list.filter(({ action }) => !(action in OLDER)) },
  }
}

const LOOKING = { readOnly: true, idempotent: true, reads: ["path"] } as const

function actionsOn(workspace: Workspace): Record<string, ActionSpecification> {
  const tree = createGetDirectoryTreeTool(workspace)
  const listing = createListDirectoryTool(workspace)
  return {
    outline: {
      description: "What a source file declares: classes with their members, functions, variables, with lines",
      properties: { path: FILE },
      required: ["path"],
      effects: LOOKING,
      examples: [{ description: "What is in a file?", input: { path: "src/index.ts" } }],
      execute: (args) => runOutline(workspace, args),
    },
    imports: {
      description: "What a source file imports",
      properties: { path: FILE },
      required: ["path"],
      effects: LOOKING,
      examples: [{ description: "What does a file need?", input: { path: "src/index.ts" } }],
      execute: (args) => runImports(workspace, args),
    },
    definitions: {
      description: "Where a name is defined",
      properties: { name: NAME, path: WHERE, max_results: MOST },
      required: ["name"],
      effects: LOOKING,
      examples: [{ description: "Where is it defined?", input: { name: "createServer" } }],
      execute: (args, { signal }) => runOccurrences(workspace, args, ["definition"], signal),
    },
    references: {
      description: "Where a name is used, called, imported or defined; comments and texts do not count",
      sets: ["looking-closely"],
      brief: [],
      properties: { name: NAME, path: WHERE, max_results: MOST },
      required: ["name"],
      effects: LOOKING,
      examples: [{ description: "Who uses it?", input: { name: "createServer", path: "src" } }],
      execute: (args, { signal }) => runOccurrences(workspace, args, undefined, signal),
    },
    tree: {
      description: "A directory with everything below it",
      properties: {
        path: WHERE,
        max_depth: { type: "integer", minimum: 1, maximum: 128, description: "Levels shown; all unless given." },
      },
      effects: LOOKING,
      examples: [{ description: "Two levels of the workspace", input: { max_depth: 2 } }],
      execute: ({ action: _action, ...args }, context) => tree.handler(args, context),
    },
    list_directory: {
      description: "The entries of a directory",
      sets: ["essential"],
      does: ["list a directory"],
      properties: { path: WHERE },
      effects: LOOKING,
      examples: [{ description: "The workspace's top", input: {} }],
      execute: ({ action: _action, ...args }, context) => listing.handler({ path: ".", ...args }, context),
    },
  }
}

async function readSource(
  workspace: Workspace,
  args: JsonObject,
): Promise<{ path: string; source: string; grammar: Grammar } | ToolResult> {
  const path = String(args.path)
  const { bytes, shown } = await workspace.read(path)
  const grammar = grammarOf(path)
  if (grammar === undefined) {
    return failure({
      code: "UNSUPPORTED_LANGUAGE",
      message: `${path} is in no language that can be parsed here.`,
      hint:
        `Files that end with ${EXTENSIONS.map((extension) => `.${extension}`).join(", ")} can; read others as ` +
        "text, or search them.",
    })
  }
  const source = decodeText(bytes)?.text
  if (source === undefined) return failure({ code: "BINARY_FILE", message: `${path} is no text.` })
  return { path: shown, source, grammar }
}

async function runOutline(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const read = await readSource(workspace, args)
  if ("success" in read) return read
  const { outline } = await import("./outline.ts")
  const symbols = await outline(read.source, read.grammar)
  return success({
    output: symbols.length === 0 ? "It declares nothing." : outlineLines(symbols, "").join("\n"),
    data: { path: read.path, language: read.grammar, symbols },
  })
}

function outlineLines(symbols: readonly Symbol[], margin: string): string[] {
  return symbols.flatMap((one) => [
    `${margin}${one.line === one.end_line ? one.line : `${one.line}-${one.end_line}`}: ${labelOf(one)}`,
    ...outlineLines(one.members ?? [], `${margin}  `),
  ])
}

/** The signature, with the kind in front where the signature does not say it. */
function labelOf({ kind, name, signature }: Symbol): string {
  const shown = signature.includes(name) ? signature : name
  return new RegExp(String.raw`\b${kind}\b`, "u").test(shown) ? shown : `${kind} ${shown}`
}

async function runImports(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const read = await readSource(workspace, args)
  if ("success" in read) return read
  const { imports } = await import("./imports.ts")
  const found = await imports(read.source, read.grammar)
  return success({
    output: found.length === 0 ? "It imports nothing." : found.map((one) => `${one.line}: ${one.text}`).join("\n"),
    data: { path: read.path, language: read.grammar, imports: found },
  })
}

async function runOccurrences(
  workspace: Workspace,
  args: JsonObject,
  roles: readonly "definition"[] | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const name = String(args.name)
  const path = typeof args.path === "string" ? args.path : "."
  const limit = typeof args.max_results === "number" ? args.max_results : 100
  const { findOccurrences } = await import("./find-occurrences.ts")
  const { found, incomplete } = await findOccurrences(workspace, path, name, {
    signal,
    ...(roles === undefined ? {} : { roles }),
  })
  const shown = found.slice(0, limit)
  const what = roles === undefined ? "references" : "definitions"
  const notes = [
    ...(found.length > shown.length
      ? [`[${found.length - shown.length} more; narrow them with path, or raise max_results]`]
      : []),
    ...(incomplete ? ["[some files were not looked at: too many, or too large]"] : []),
  ]
  const elsewhere =
    roles === undefined
      ? "It may stand in comments, texts or other languages: use search."
      : "It may come from a library: look at its references."
  const none = `No ${what} of '${name}' in code below ${path === "." ? "the workspace's top" : path}. ${elsewhere}`
  return success({
    output: found.length === 0 ? none : [...shown.map(occurrenceLine), ...notes].join("\n"),
    data: { name, [what]: shown, total: found.length, truncated: found.length > shown.length || incomplete },
  })
}

function occurrenceLine({ path, line, column, role, kind, within, text }: FoundOccurrence): string {
  const what = role === "definition" ? `definition (${kind})` : role
  return `${path}:${line}:${column} ${what}${within === undefined ? "" : ` in ${within}`}: ${text}`
}
