import { ToolwrightError } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { decodeText, splitLines, withoutEnding } from "@toolwright/host/text"
import { includeTest, lineMatcher, matchingLines, searchDirectory } from "./line-search.ts"
import type { ContentQuery, Hit, HitList } from "./query.ts"
import { hasTrapAbove, hasTrapBelow } from "./ignore-traps.ts"
import { ripgrepPath, runRipgrep } from "./ripgrep.ts"

/** A matching line with its text. */
export interface LineMatch {
  path: string
  line: number
  text: string
  /** Lines before and after, when context was asked for. */
  before?: string[]
  after?: string[]
}

export interface GrepResult {
  matches: LineMatch[]
  /** Matching lines in all; a lower bound when `incomplete`. */
  total: number
  incomplete: boolean
  engine: "ripgrep" | "re2js"
}

export interface GrepOptions {
  maxResults: number
  /** Lines before and after each match. */
  context: number
  signal?: AbortSignal | undefined
  /** Which engine to use; ripgrep where it is there unless given. */
  engine?: "ripgrep" | "re2js"
}

/** Paths that no tool accepts; what lies there cannot be read. */
const UNNAMEABLE = /[\u0000-\u001f\u007f]/u
/** Files whose lines are read side by side. */
const READ_AT_ONCE = 8
/** Longest line shown, in characters. */
const LONGEST_LINE = 500

/**
 * Finds lines in a file or in all files below a directory.
 *
 * The engine only says where; the lines themselves are read through the workspace, so that nothing but files inside it
 * can be in the result, whatever happens to names while the engine runs.
 *
 * @throws ToolwrightError `INVALID_PATTERN` and those of the workspace
 */
export async function grep(
  workspace: Workspace,
  path: string,
  query: ContentQuery,
  options: GrepOptions,
): Promise<GrepResult> {
  const { stat, shown, real } = await workspace.stat(path)
  const executable = options.engine === "re2js" ? undefined : await ripgrepPath()
  const engine = executable === undefined ? "re2js" : "ripgrep"
  const inFile = !stat.isDirectory()
  const found = inFile
    ? await findInFile(workspace, path, query, executable, options.signal)
    : await findInDirectory(workspace, path, query, executable, options.signal)
  const wanted = await includeTest(query.include)
  const visible = (file: string) =>
    wanted(file) && !UNNAMEABLE.test(file) && workspace.policy.readable(`${real}/${file}`)
  const hits = inFile ? found.hits : found.hits.filter(({ path }) => visible(path))
  hits.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
  const matches: LineMatch[] = []
  let unreadable = 0
  const files = [...byFile(hits.slice(0, options.maxResults))]
  for (let index = 0; index < files.length; index += READ_AT_ONCE) {
    const group = files.slice(index, index + READ_AT_ONCE)
    const contents = await Promise.all(group.map(([file]) => readLines(workspace, inFile ? path : `${real}/${file}`)))
    for (const [at, [file, lines]] of group.entries()) {
      const content = contents[at]
      const name = inFile ? shown : `${shown.endsWith("/") ? shown : `${shown}/`}${file}`
      if (content === "too large")
        matches.push(...lines.map((line) => ({ path: name, line, text: "(not shown: the file is too large)" })))
      else if (content === undefined) unreadable += lines.length
      else matches.push(...lines.flatMap((line) => matchAt(content, line, name, options.context)))
    }
  }
  return { matches, total: hits.length - unreadable, incomplete: found.incomplete, engine }
}

async function findInFile(
  workspace: Workspace,
  path: string,
  query: ContentQuery,
  executable: string | undefined,
  signal: AbortSignal | undefined,
): Promise<HitList> {
  const { bytes } = await workspace.read(path)
  if (executable !== undefined) return runRipgrep(executable, query, { cwd: "/", input: bytes }, signal)
  const lines = matchingLines(bytes, await lineMatcher(query))
  return { hits: lines.map((line) => ({ path: "", line })), incomplete: false }
}

/** Whoever searches longer may be held up by what is no ignore file; most searches never get so far. */
const LOOK_AFTER_MS = 300

/** By ripgrep, or by ourselves where it is not there or would wait for what stands in an ignore file's place. */
async function findInDirectory(
  workspace: Workspace,
  path: string,
  query: ContentQuery,
  executable: string | undefined,
  signal: AbortSignal | undefined,
): Promise<HitList> {
  const ourselves = () => searchDirectory(workspace, path, query, signal)
  if (executable === undefined || hasTrapAbove(await workspace.realPath(path, "read"))) return ourselves()
  const trapped = new AbortController()
  const either = signal === undefined ? trapped.signal : AbortSignal.any([signal, trapped.signal])
  const look = async (): Promise<void> => {
    if (await hasTrapBelow(workspace, path, either).catch(() => false)) trapped.abort()
  }
  const timer = setTimeout(() => void look(), LOOK_AFTER_MS)
  try {
    return await workspace.inDirectory(path, (cwd) => runRipgrep(executable, query, { cwd }, either))
  } catch (thrown) {
    if (!trapped.signal.aborted || signal?.aborted === true) throw thrown
    return ourselves()
  } finally {
    clearTimeout(timer)
  }
}

function byFile(hits: readonly Hit[]): Map<string, number[]> {
  const files = new Map<string, number[]>()
  for (const { path, line } of hits) {
    const lines = files.get(path)
    if (lines === undefined) files.set(path, [line])
    else lines.push(line)
  }
  return files
}

/** Undefined when the file is gone by now, or turned out to be no text. */
async function readLines(workspace: Workspace, path: string): Promise<string[] | "too large" | undefined> {
  try {
    const text = decodeText((await workspace.read(path)).bytes)?.text
    return text === undefined ? undefined : splitLines(text)
  } catch (thrown) {
    return ToolwrightError.isInstance(thrown) && thrown.code === "FILE_TOO_LARGE" ? "too large" : undefined
  }
}

function matchAt(lines: readonly string[], line: number, path: string, context: number): LineMatch[] {
  const text = lines[line - 1]
  if (text === undefined) return []
  const match: LineMatch = { path, line, text: shorten(text) }
  if (context > 0) {
    match.before = lines.slice(Math.max(0, line - 1 - context), line - 1).map(shorten)
    match.after = lines.slice(line, line + context).map(shorten)
  }
  return [match]
}

function shorten(line: string): string {
  const text = withoutEnding(line)
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text
}
