import { success, type JsonObject, type JsonSchema, type ToolDefinition, type ToolResult } from "@toolwright/toolbox"
import { defineMultiActionTool } from "../multi-action.ts"
import type { Workspace } from "../paths/workspace.ts"
import { visibleControls, visibleName } from "../text/escapes.ts"
import { definitionPattern } from "./definition-pattern.ts"
import { findFiles } from "./find-files.ts"
import { grep, type GrepResult } from "./grep.ts"
import { PATTERN, QUERY_PROPERTIES, type ContentQuery } from "./query.ts"

const directory: JsonSchema = {
  type: "string",
  description: "Directory (or file) to search; the first allowed directory unless given",
}
const max_results: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: 10_000,
  description: "Most results returned; 100 unless given",
}
const include_ignored: JsonSchema = {
  type: "boolean",
  description: "Search also what .gitignore leaves out; false unless given",
}
const effects = { readOnly: true, idempotent: true, reads: ["path"] } as const
const MOST_CHARS = 20_000

/** The `search` tool of coding agents: lines by pattern, files by name, definitions by name. */
export function createSearchTool(workspace: Workspace): ToolDefinition {
  return defineMultiActionTool({
    name: "search",
    title: "Search",
    description: "Finds lines in files, files by name, and where a name is defined.",
    category: "code",
    optionality: "required",
    usageHint: "Search before you read: it is cheaper than reading whole files. Narrow with path and include when there are many results.",
    tags: ["filesystem", "code", "search"],
    effects,
    maxOutputChars: MOST_CHARS,
    aliases: {
      arguments: { query: "pattern", regex: "pattern", directory: "path", dir: "path", glob: "include", file_pattern: "include", symbol: "name" },
    },
    output: {
      type: "object",
      properties: {
        matches: { type: "array", items: { type: "object" }, description: "path, line, text" },
        files: { type: "array", items: { type: "string" } },
        total: { type: "integer" },
        truncated: { type: "boolean" },
      },
      required: ["total", "truncated"],
    },
    actions: {
      grep: {
        description: "Finds the lines of files that match a pattern.",
        properties: {
          pattern: PATTERN,
          path: directory,
          include: { type: "string", description: "Only files that match this glob, e.g. *.ts; with ! in front, only others" },
          ...QUERY_PROPERTIES,
          context: { type: "integer", minimum: 0, maximum: 20, description: "Lines shown before and after each match; 0 unless given" },
          include_ignored,
          max_results,
        },
        required: ["pattern"],
        effects,
        examples: [{ description: "Find to-do notes in TypeScript files", input: { pattern: "TO-?DO", include: "*.ts" } }],
        run: (args, { signal }) => runGrep(workspace, args, signal),
      },
      find_files: {
        description: "Finds files by a glob over their name, or over their path when the glob has a slash.",
        properties: { pattern: { type: "string", minLength: 1, description: "E.g. *.test.ts or src/**/index.ts" }, path: directory, include_ignored, max_results },
        required: ["pattern"],
        effects,
        examples: [{ description: "All TypeScript files", input: { pattern: "*.ts" } }],
        run: (args, { signal }) => runFindFiles(workspace, args, signal),
      },
      find_in_file: {
        description: "Finds the lines of one file that match a pattern.",
        properties: {
          path: { type: "string", description: "File to search" },
          pattern: PATTERN,
          ...QUERY_PROPERTIES,
          context: { type: "integer", minimum: 0, maximum: 20, description: "Lines shown before and after each match; 0 unless given" },
          max_results,
        },
        required: ["path", "pattern"],
        effects,
        examples: [{ description: "Find an export", input: { path: "src/index.ts", pattern: "^export" } }],
        run: (args, { signal }) => runGrep(workspace, args, signal),
      },
      find_definition: {
        description: "Finds the lines that define a function, class, type, method or constant.",
        properties: { name: { type: "string", minLength: 1, description: "The name, without brackets" }, path: directory, include_ignored, max_results },
        required: ["name"],
        effects,
        examples: [{ description: "Where is answer defined?", input: { name: "answer" } }],
        run: (args, { signal }) => runFindDefinition(workspace, args, signal),
      },
    },
  })
}

async function runGrep(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const { path = ".", pattern, max_results = 100, context = 0 } = args as unknown as SearchArguments & { pattern: string }
  const result = await grep(workspace, path, queryOf(pattern, args), { maxResults: max_results, context, signal })
  return answer(result, `No lines match ${JSON.stringify(pattern)}.`)
}

async function runFindDefinition(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const { path = ".", name, max_results = 100 } = args as unknown as SearchArguments & { name: string }
  const bare = name.replace(/\(.*$/u, "").replace(/^.*(?:\.|::)/u, "")
  const query = queryOf(definitionPattern(bare), { include_ignored: args["include_ignored"] })
  const result = await grep(workspace, path, query, { maxResults: max_results, context: 0, signal })
  return answer(result, `No definition of ${JSON.stringify(bare)} found. Try grep with word set to true to find its uses.`)
}

async function runFindFiles(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const { path = ".", pattern, max_results = 100, include_ignored = false } = args as unknown as SearchArguments & { pattern: string }
  const { files, total } = await findFiles(workspace, path, pattern, { includeIgnored: include_ignored, maxResults: max_results, signal })
  const truncated = total > files.length
  const lines = total === 0 ? [`No files match ${JSON.stringify(pattern)}.`] : files
  return success({
    output: bounded(lines.map(visibleName), truncated ? `[${files.length} of ${total} files. Narrow the pattern or raise max_results.]` : undefined),
    data: { files, total, truncated },
  })
}

interface SearchArguments {
  path?: string
  max_results?: number
  context?: number
  include_ignored?: boolean
}

function queryOf(pattern: string, args: JsonObject): ContentQuery {
  const { fixed = false, ignore_case = false, word = false, include, include_ignored = false } = args as {
    fixed?: boolean
    ignore_case?: boolean
    word?: boolean
    include?: string
    include_ignored?: boolean
  }
  return { pattern, fixed, ignoreCase: ignore_case, word, include: include === undefined ? [] : [include], includeIgnored: include_ignored }
}

function answer({ matches, total, incomplete, engine }: GrepResult, none: string): ToolResult {
  const truncated = incomplete || total > matches.length
  const lines = matches.flatMap(({ path, line, text, before = [], after = [] }) => {
    const name = visibleName(path)
    return [
      ...before.map((context, index) => `${name}:${line - before.length + index}- ${context}`),
      `${name}:${line}: ${text}`,
      ...after.map((context, index) => `${name}:${line + 1 + index}- ${context}`),
    ].map(visibleControls)
  })
  const more = `[${matches.length} of ${incomplete ? "at least " : ""}${total} matching lines. Narrow the search with path or include, or raise max_results.]`
  return success({
    output: total === 0 ? none : bounded(lines, truncated ? more : undefined),
    data: { matches, total, truncated },
    metadata: { engine },
  })
}

/** Lines as long as a model should be shown, and how many were left out. */
function bounded(lines: readonly string[], note: string | undefined): string {
  let length = 0
  const fitting = lines.findIndex((line) => (length += line.length + 1) > MOST_CHARS - 400)
  const shown = fitting === -1 ? lines : lines.slice(0, fitting)
  const cut = fitting === -1 ? [] : [`[${lines.length - fitting} more lines. Narrow the search with path or include.]`]
  return [...shown, ...cut, ...(note === undefined ? [] : [note])].join("\n")
}
