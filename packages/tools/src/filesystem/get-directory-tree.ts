import { success, type ToolDefinition, type JsonSchema } from "@toolwright/toolbox"
import { definePathTool, type EntryKind, type Workspace } from "@toolwright/host/paths"
import { deniedNote, entryLabel, LISTING_LINES } from "./list-directory.ts"
import { EXCLUDE_PATTERNS, PATH_ALIASES } from "./schemas.ts"
import { grounded, HERE } from "../ground/grounded.ts"

/** A file or directory of a tree; directories have `children`, sorted by name. */
export interface TreeNode {
  name: string
  type: EntryKind
  children?: TreeNode[]
}

const DEFAULT_EXCLUDES = [".git", ".toolwright", "node_modules"]
const MOST_ENTRIES = 100_000

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    tree: {
      type: "array",
      items: { type: "object" },
      description: "Nodes: name, type, and for directories children",
    },
    files: { type: "integer" },
    directories: { type: "integer" },
    truncated: { type: "boolean", description: "Whether a limit left something out" },
  },
  required: ["path", "tree", "files", "directories", "truncated"],
}

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    path: grounded({ type: "string", description: "Directory; the first allowed directory unless given" }, HERE),
    max_depth: { type: "integer", minimum: 1, maximum: 128, description: "Levels shown; all unless given" },
    exclude_patterns: {
      ...EXCLUDE_PATTERNS,
      description: `${EXCLUDE_PATTERNS.description}; .git, .toolwright and node_modules unless given`,
    },
  },
  additionalProperties: false,
}

export function createGetDirectoryTreeTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "get_directory_tree",
    sets: ["filesystem"],
    title: "Get directory tree",
    description: "Returns a directory with everything below it as a tree. Links are shown, not followed.",
    category: "code",
    optionality: "optional",
    usageHint:
      "Use when: what lies deeper matters; max_depth gives an overview of a large project. Don't use when: one " +
      "directory is enough (use list_directory).",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: {
      arguments: { ...PATH_ALIASES, excludePatterns: "exclude_patterns", depth: "max_depth" },
    },
    maxOutputChars: 30_000,
    parameters: PARAMETERS,
    outputSchema: OUTPUT,
    examples: [{ description: "Two levels of the workspace", input: { path: ".", max_depth: 2 } }],
    async execute(args, { signal }) {
      const { path = ".", max_depth, exclude_patterns = DEFAULT_EXCLUDES } = args as unknown as TreeArguments
      const { compileGlobs } = await import("../search/glob.ts")
      const excluded = exclude_patterns.length === 0 ? () => false : await compileGlobs(exclude_patterns)
      const tree: TreeNode[] = []
      const places = new Map<string, TreeNode[]>([["", tree]])
      const counts = { files: 0, directories: 0 }
      const { shown, stopped, denied } = await workspace.walk(
        path,
        ({ name, path: below, parent, kind }) => {
          if (excluded(below)) return "skip"
          const node: TreeNode = kind === "directory" ? { name, type: kind, children: [] } : { name, type: kind }
          places.get(parent)!.push(node)
          if (node.children === undefined) counts.files += 1
          else {
            counts.directories += 1
            places.set(below, node.children)
          }
          return undefined
        },
        { signal, sorted: true, maxEntries: MOST_ENTRIES, ...(max_depth === undefined ? {} : { maxDepth: max_depth }) },
      )
      const summary =
        `${counts.directories} directories, ${counts.files} ` +
        `files${stopped === undefined ? "" : " (not all of them: a limit was reached)"}`
      return success({
        output: [`${shown}/`, ...treeLines(tree), summary, ...(denied === 0 ? [] : [deniedNote(denied)])].join("\n"),
        data: { path: shown, tree, ...counts, truncated: stopped !== undefined },
      })
    },
  })
}

interface TreeArguments {
  path?: string
  max_depth?: number
  exclude_patterns?: string[]
}

function treeLines(tree: readonly TreeNode[]): string[] {
  const lines: string[] = []
  let left = 0
  const visit = (nodes: readonly TreeNode[], indent: string): void => {
    for (const node of nodes) {
      if (lines.length < LISTING_LINES) lines.push(indent + entryLabel(node))
      else left += 1
      if (node.children !== undefined) visit(node.children, `${indent}  `)
    }
  }
  visit(tree, "  ")
  if (left > 0) lines.push(`[${left} more entries. Use max_depth, exclude_patterns, or a deeper path.]`)
  return lines
}
