import { success, type ToolDefinition, type JsonSchema } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { visibleName } from "@toolwright/host/text"
import type { PathTest } from "../search/path-test.ts"
import { listingText } from "./list-directory.ts"
import { EXCLUDE_PATTERNS, PATH_ALIASES, PATH_OR_HERE } from "./schemas.ts"
import { FILE_PATTERN, grounded } from "../ground/grounded.ts"

/** Records of runs are many, and nothing that anybody looks for among the files of a project. */
const DEFAULT_EXCLUDES = [".toolwright"]

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    path: PATH_OR_HERE,
    pattern: grounded(
      { type: "string", minLength: 1, description: "E.g. *.ts, src/**/index.ts, or part of a name" },
      FILE_PATTERN,
    ),
    exclude_patterns: {
      ...EXCLUDE_PATTERNS,
      description: `${EXCLUDE_PATTERNS.description}; .toolwright unless given`,
    },
    max_results: {
      type: "integer",
      minimum: 1,
      maximum: 1_000_000,
      description: "Most results returned; 10000 unless given",
    },
  },
  required: ["path", "pattern"],
  additionalProperties: false,
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    matches: { type: "array", items: { type: "string" }, description: "Absolute paths" },
    total: { type: "integer" },
    truncated: { type: "boolean" },
  },
  required: ["path", "matches", "total", "truncated"],
}

export function createSearchFilesTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "search_files",
    sets: ["filesystem"],
    title: "Search files",
    description:
      "Finds files and directories below a directory by name. A pattern with * ? [ ] or { } is a glob (over the " +
      "path when it has a slash); any other pattern is looked for inside names, whatever the case.",
    category: "code",
    optionality: "required",
    usageHint: "Finds names, not contents; for contents use search with action grep.",
    tags: ["filesystem", "read", "search"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: { arguments: { ...PATH_ALIASES, excludePatterns: "exclude_patterns", query: "pattern", glob: "pattern" } },
    maxOutputChars: 30_000,
    parameters: PARAMETERS,
    outputSchema: OUTPUT,
    examples: [
      { description: "All TypeScript files", input: { path: ".", pattern: "*.ts" } },
      { description: 'Names with "index" in them', input: { path: ".", pattern: "index" } },
    ],
    async execute(args, { signal }) {
      const {
        path,
        pattern,
        exclude_patterns = DEFAULT_EXCLUDES,
        max_results = 10_000,
      } = args as unknown as SearchFilesArguments
      const { compileGlobs } = await import("../search/glob.ts")
      const matches = nameTest(pattern, await compileGlobs([pattern]))
      const excluded = exclude_patterns.length === 0 ? () => false : await compileGlobs(exclude_patterns)
      const found: string[] = []
      const { shown, stopped } = await workspace.walk(
        path,
        (entry) => {
          if (excluded(entry.path)) return "skip"
          if (matches(entry.path)) found.push(entry.path)
          return undefined
        },
        { signal },
      )
      found.sort()
      const base = shown.endsWith("/") ? shown : `${shown}/`
      const listed = found.slice(0, max_results).map((below) => base + below)
      const truncated = stopped !== undefined || listed.length < found.length
      const output =
        found.length === 0
          ? `Nothing below ${shown} matches ${JSON.stringify(pattern)}.`
          : listingText(listed.map(visibleName))
      return success({ output, data: { path: shown, matches: listed, total: found.length, truncated } })
    },
  })
}

interface SearchFilesArguments {
  path: string
  pattern: string
  exclude_patterns?: string[]
  max_results?: number
}

function nameTest(pattern: string, glob: PathTest): PathTest {
  if (/[*?[\]{}/]/u.test(pattern)) return glob
  const wanted = pattern.toLowerCase()
  return (path) =>
    path
      .slice(path.lastIndexOf("/") + 1)
      .toLowerCase()
      .includes(wanted)
}
