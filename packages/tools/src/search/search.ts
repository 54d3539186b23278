import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { Workspace } from "@toolwright/host/paths"
import { MOST_CHARS, PATTERN, QUERY_PROPERTIES } from "./query.ts"
import { FILE_PATTERN, grounded, HERE } from "../ground/grounded.ts"

const directory = grounded(
  { type: "string", description: "Directory (or file) to search; the first allowed directory unless given" },
  HERE,
)
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

const ALIASES: NonNullable<ToolDefinition["aliases"]> = {
  arguments: {
    query: "pattern",
    regex: "pattern",
    directory: "path",
    dir: "path",
    glob: "include",
    file_pattern: "include",
    symbol: "name",
  },
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    matches: { type: "array", items: { type: "object" }, description: "path, line, text" },
    files: { type: "array", items: { type: "string" } },
    total: { type: "integer" },
    truncated: { type: "boolean" },
    left_out: { type: "array", items: { type: "string" }, description: "Files that are too large to be searched" },
  },
  required: ["total", "truncated"],
}

/** The `search` tool of coding agents: lines by pattern, files by name, definitions by name. */
export function createSearchTool(workspace: Workspace): ToolDefinition {
  return defineMultiActionTool({
    name: "search",
    sets: ["coding", "reading", "general"],
    title: "Search",
    description: "Finds lines in files, files by name, and where a name is defined.",
    category: "code",
    optionality: "required",
    usageHint:
      "Search before you read: it is cheaper than reading whole files. Narrow with path and include when there " +
      "are many results.",
    tags: ["filesystem", "code", "search"],
    effects,
    maxOutputChars: MOST_CHARS,
    aliases: ALIASES,
    outputSchema: OUTPUT,
    actions: {
      grep: grepAction(workspace),
      find_files: {
        description: "Finds files by a glob over their name, or over their path when the glob has a slash.",
        sets: ["finding"],
        brief: ["path"],
        properties: {
          pattern: grounded(
            { type: "string", minLength: 1, description: "E.g. *.test.ts or src/**/index.ts" },
            FILE_PATTERN,
          ),
          path: directory,
          include_ignored,
          max_results,
        },
        required: ["pattern"],
        effects,
        examples: [{ description: "All TypeScript files", input: { pattern: "*.ts" } }],
        execute: async (args, { signal }) => (await import("./actions.ts")).runFindFiles(workspace, args, signal),
      },
      find_in_file: findInFileAction(workspace),
      find_definition: {
        description: "Finds the lines that define a function, class, type, method or constant.",
        sets: ["looking-closely"],
        brief: [],
        properties: {
          name: { type: "string", minLength: 1, description: "The name, without brackets" },
          path: directory,
          include_ignored,
          max_results,
        },
        required: ["name"],
        effects,
        examples: [{ description: "Where is answer defined?", input: { name: "answer" } }],
        execute: async (args, { signal }) => (await import("./actions.ts")).runFindDefinition(workspace, args, signal),
      },
    },
  })
}

function findInFileAction(workspace: Workspace): ActionSpecification {
  return {
    description: "Finds the lines of one file that match a pattern.",
    properties: {
      path: grounded({ type: "string", description: "File to search" }, "path"),
      pattern: PATTERN,
      ...QUERY_PROPERTIES,
      context: {
        type: "integer",
        minimum: 0,
        maximum: 20,
        description: "Lines shown before and after each match; 0 unless given",
      },
      max_results,
    },
    required: ["path", "pattern"],
    effects,
    examples: [{ description: "Find an export", input: { path: "src/index.ts", pattern: "^export" } }],
    execute: async (args, { signal }) => (await import("./actions.ts")).runGrep(workspace, args, signal),
  }
}

function grepAction(workspace: Workspace): ActionSpecification {
  return {
    description: "Finds the lines of files that match a pattern.",
    sets: ["essential"],
    brief: ["path", "include"],
    properties: {
      pattern: PATTERN,
      path: directory,
      include: grounded(
        { type: "string", description: "Only files that match this glob, e.g. *.ts; with ! in front, only others" },
        FILE_PATTERN,
      ),
      ...QUERY_PROPERTIES,
      context: {
        type: "integer",
        minimum: 0,
        maximum: 20,
        description: "Lines shown before and after each match; 0 unless given",
      },
      include_ignored,
      max_results,
    },
    required: ["pattern"],
    effects,
    examples: [{ description: "Find to-do notes in TypeScript files", input: { pattern: "TO-?DO", include: "*.ts" } }],
    execute: async (args, { signal }) => (await import("./actions.ts")).runGrep(workspace, args, signal),
  }
}
