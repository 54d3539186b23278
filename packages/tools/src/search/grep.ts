import { lstatSync } from "node:fs"
import { ToolwrightError } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { decodeText, splitLines, withoutEnding } from "@toolwright/host/text"
import { includeTest, lineMatcher, matchingLines, searchDirectory } from "./line-search.ts"
import { SEARCH_BOUNDS, type ContentQuery, type Hit, type HitList, type SearchBounds } from "./query.ts"
import { hasTrapAbove, hasTrapBelow } from "./ignore-traps.ts"
import { ripgrepPath, runRipgrep } from "./ripgrep.ts"
import { walkFiles } from "./walk-files.ts"

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
  /** Files that were not looked into since they are too large. */
  leftOut: readonly string[]
  /** Whether the time of a search was over before all was looked at. */
  late: boolean
}

export interface GrepOptions {
  maxResults: number
  /** Lines before and after each match. */
  context: number
  signal?: AbortSignal | undefined
  /** Which engine to use; ripgrep where it is there unless given. */
  engine?: "ripgrep" | "re2js"
  bounds?: SearchBounds
  /** The ripgrep to use; that of its package unless given. */
  executable?: string
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
  const executable = options.engine === "re2js" ? undefined : (options.executable ?? (await ripgrepPath()))
  const engine = executable === undefined ? "re2js" : "ripgrep"
  const inFile = !stat.isDirectory()
  const found = inFile
    ? await findInFile(workspace, path, query, executable, options.signal)
    : await findInDirectory({ workspace, path, query, signal: options.signal, bounds: options.bounds }, executable)
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
  const { incomplete, late = false } = found
  const leftOut = (found.leftOut ?? [])
    .filter(visible)
    .map((file) => `${shown.endsWith("/") ? shown : `${shown}/`}${file}`)
  return { matches, total: hits.length - unreadable, incomplete, engine, leftOut, late }
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
  const lines = await matchingLines(bytes, await lineMatcher(query), signal)
  return { hits: lines.map((line) => ({ path: "", line })), incomplete: false }
}

/** Whoever searches longer may be held up by what is no ignore file; most searches never get so far. */
const LOOK_AFTER_MS = 300
/** And whoever searches longer than this by a file that takes it all: then such are looked for. */
const LARGE_AFTER_MS = 1500

/** A search of all files below a directory. */
interface DirectorySearch {
  workspace: Workspace
  path: string
  query: ContentQuery
  signal: AbortSignal | undefined
  bounds: SearchBounds | undefined
}

/** By ripgrep, or by ourselves where it is not there or would wait for what stands in an ignore file's place. */
async function findInDirectory(search: DirectorySearch, executable: string | undefined): Promise<HitList> {
  const { workspace, path, query, signal, bounds = SEARCH_BOUNDS } = search
  const ourselves = () => searchDirectory(workspace, path, query, signal, bounds)
  if (executable === undefined || hasTrapAbove(await workspace.realPath(path, "read"))) return ourselves()
  const first = await watchedRipgrep(search, executable)
  if (first.heldUp === "trap") return ourselves()
  if (first.heldUp !== "large") return first.found
  const leftOut = await largeFiles(search)
  const { found } = await watchedRipgrep(search, executable, bounds.fileBytes)
  return { ...found, leftOut }
}

/** Why a run of ripgrep was broken off: what it would wait for, files that are too large, or its time. */
type HeldUp = "trap" | "large" | "late"

/** One run of ripgrep, which is broken off where something holds it up. @param fileBytes larger files are left out */
async function watchedRipgrep(
  { workspace, path, query, signal, bounds = SEARCH_BOUNDS }: DirectorySearch,
  executable: string,
  fileBytes?: number,
): Promise<{ found: HitList; heldUp?: HeldUp }> {
  const stop = new AbortController()
  const hits: HitList = { hits: [], incomplete: true, late: true }
  const hold = (why: HeldUp): void => stop.abort(why)
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  const lookFor = (why: HeldUp, look: () => Promise<boolean>) => async (): Promise<void> => {
    if (await look().catch(() => false)) hold(why)
  }
  const trapped = lookFor("trap", () => hasTrapBelow(workspace, path, either))
  const filled = lookFor(
    "large",
    async () => (await largeFiles({ workspace, path, query, signal: either, bounds }, 1)).length > 0,
  )
  const timers = [
    setTimeout(() => void trapped(), LOOK_AFTER_MS),
    setTimeout(() => hold("late"), bounds.ms),
    ...(fileBytes === undefined ? [setTimeout(() => void filled(), LARGE_AFTER_MS)] : []),
  ]
  const target = { ...(fileBytes === undefined ? {} : { fileBytes }), onMemory: () => hold("large"), into: hits.hits }
  try {
    return {
      found: await workspace.inDirectory(path, (cwd) => runRipgrep(executable, query, { cwd, ...target }, either)),
    }
  } catch (thrown) {
    if (!stop.signal.aborted || signal?.aborted === true) throw thrown
    return { found: hits, heldUp: stop.signal.reason as HeldUp }
  } finally {
    for (const timer of timers) clearTimeout(timer)
    stop.abort()
  }
}

/** Files that a search would look into and that are larger than its bounds. @param most ends with so many */
async function largeFiles(
  { workspace, path, query, signal, bounds = SEARCH_BOUNDS }: DirectorySearch,
  most = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const wanted = await includeTest(query.include)
  const found: string[] = []
  await walkFiles(
    workspace,
    path,
    { includeIgnored: query.includeIgnored, signal },
    ({ kind, path: below }, { real }) => {
      if (kind !== "file" || !wanted(below)) return undefined
      if ((lstatSync(`${real}/${below}`, { throwIfNoEntry: false })?.size ?? 0) > bounds.fileBytes) found.push(below)
      return found.length >= most ? "stop" : undefined
    },
  )
  return found
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
