import { success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { visibleControls, visibleName } from "@toolwright/host/text"
import { definitionPattern } from "./definition-pattern.ts"
import { findFiles } from "./find-files.ts"
import { grep, type GrepOptions, type GrepResult } from "./grep.ts"
import { MOST_CHARS, type ContentQuery } from "./query.ts"

/**
 * Lines of a file or of the files below a directory. A pattern that is no regular expression is looked for as plain
 * text, and the result says so: `console.log(` is what its author means to find.
 */
export async function runGrep(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const {
    path = ".",
    pattern,
    max_results = 100,
    context = 0,
  } = args as unknown as SearchArguments & { pattern: string }
  const { result, note } = await grepOrText(workspace, path, queryOf(pattern, args), {
    maxResults: max_results,
    context,
    signal,
  })
  return answer(result, `No lines match ${JSON.stringify(pattern)}.`, note)
}

/** The search, and a note where the pattern had to be taken as plain text. */
async function grepOrText(
  workspace: Workspace,
  path: string,
  query: ContentQuery,
  options: GrepOptions,
): Promise<{ result: GrepResult; note?: string }> {
  try {
    return { result: await grep(workspace, path, query, options) }
  } catch (thrown) {
    if (query.fixed || !ToolwrightError.isInstance(thrown) || thrown.code !== "INVALID_PATTERN") throw thrown
    const result = await grep(workspace, path, { ...query, fixed: true }, options)
    return {
      result,
      note: `[${thrown.message}. It was looked for as plain text. Look-around and back-references are not supported.]`,
    }
  }
}

/** Lines that define a name. */
export async function runFindDefinition(
  workspace: Workspace,
  args: JsonObject,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { path = ".", name, max_results = 100 } = args as unknown as SearchArguments & { name: string }
  const bare = name.replace(/\(.*$/u, "").replace(/^.*(?:\.|::)/u, "")
  const query = queryOf(definitionPattern(bare), { include_ignored: args["include_ignored"] })
  const result = await grep(workspace, path, query, { maxResults: max_results, context: 0, signal })
  return answer(
    result,
    `No definition of ${JSON.stringify(bare)} found. Try grep with word set to true to find its uses.`,
  )
}

/** Files by glob. */
export async function runFindFiles(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const {
    path = ".",
    pattern,
    max_results = 100,
    include_ignored = false,
  } = args as unknown as SearchArguments & { pattern: string }
  const { files, total, incomplete } = await findFiles(workspace, path, pattern, {
    includeIgnored: include_ignored,
    maxResults: max_results,
    signal,
  })
  const truncated = incomplete || total > files.length
  const lines = total === 0 ? [`No files match ${JSON.stringify(pattern)}.`] : files
  return success({
    output: bounded(
      lines.map(visibleName),
      truncated
        ? `[${files.length} of ${incomplete ? "at least " : ""}${total} files. Narrow the search with path or pattern` +
            `${incomplete ? ": there are too many files and folders to look at all" : ", or raise max_results"}.]`
        : undefined,
    ),
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
  const {
    fixed = false,
    ignore_case = false,
    word = false,
    include,
    include_ignored = false,
  } = args as {
    fixed?: boolean
    ignore_case?: boolean
    word?: boolean
    include?: string
    include_ignored?: boolean
  }
  return {
    pattern,
    fixed,
    ignoreCase: ignore_case,
    word,
    include: include === undefined ? [] : [include],
    includeIgnored: include_ignored,
  }
}

function answer(result: GrepResult, none: string, note?: string): ToolResult {
  const { matches, total, incomplete, engine, leftOut } = result
  const truncated = incomplete || total > matches.length
  const lines = matches.flatMap(({ path, line, text, before = [], after = [] }) => {
    const name = visibleName(path)
    return [
      ...before.map((context, index) => `${name}:${line - before.length + index}- ${context}`),
      `${name}:${line}: ${text}`,
      ...after.map((context, index) => `${name}:${line + 1 + index}- ${context}`),
    ].map(visibleControls)
  })
  const more =
    `[${matches.length} of ${incomplete ? "at least " : ""}${total} matching lines. Narrow the search with path or ` +
    "include, or raise max_results.]"
  const text = total === 0 ? none : bounded(lines, truncated ? more : undefined)
  const notes = [...limitsTold(result), ...(note === undefined ? [] : [note])]
  return success({
    output: [text, ...notes].join("\n"),
    data: { matches, total, truncated, ...(leftOut.length === 0 ? {} : { left_out: leftOut.slice(0, MOST_LEFT_OUT) }) },
    metadata: { engine, ...(note === undefined ? {} : { plainText: true }) },
  })
}

const MOST_LEFT_OUT = 100
const LEFT_OUT_SHOWN = 5

/** What a search did not look at. */
function limitsTold({ leftOut, late }: GrepResult): string[] {
  const shown = leftOut.slice(0, LEFT_OUT_SHOWN).map(visibleName)
  const more = leftOut.length > shown.length ? ` and ${leftOut.length - shown.length} more` : ""
  return [
    ...(late ? ["[The search was ended: there is more to look at than it has time for. Narrow it with path.]"] : []),
    ...(shown.length === 0 ? [] : [`[Not searched, too large: ${shown.join(", ")}${more}. Use bash for these.]`]),
  ]
}

/** Lines as long as a model should be shown, and how many were left out. */
function bounded(lines: readonly string[], note: string | undefined): string {
  let length = 0
  const fitting = lines.findIndex((line) => (length += line.length + 1) > MOST_CHARS - 400)
  const shown = fitting === -1 ? lines : lines.slice(0, fitting)
  const cut = fitting === -1 ? [] : [`[${lines.length - fitting} more lines. Narrow the search with path or include.]`]
  return [...shown, ...cut, ...(note === undefined ? [] : [note])].join("\n")
}
