import { ToolwrightError } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { decodeText, splitLines, withoutEnding } from "@toolwright/host/text"
import { compileGlobs } from "./glob.ts"
import { createTurns } from "@toolwright/host"
import { MOST_HITS, SEARCH_BOUNDS, type ContentQuery, type HitList, type SearchBounds } from "./query.ts"
import { invalidPattern } from "./ripgrep.ts"
import { walkFiles } from "./walk-files.ts"

/**
 * The search without ripgrep, for platforms that its package has no binary for: the same files, the same lines.
 * Patterns run in RE2, whose time grows with the text alone, whatever a model writes.
 */
export async function searchDirectory(
  workspace: Workspace,
  path: string,
  query: ContentQuery,
  signal: AbortSignal | undefined,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<HitList> {
  const over = performance.now() + bounds.ms
  const matches = await lineMatcher(query)
  const wanted = await includeTest(query.include)
  const files: string[] = []
  let start = ""
  const { stopped } = await walkFiles(
    workspace,
    path,
    { includeIgnored: query.includeIgnored, signal },
    (entry, place) => {
      start = place.real
      if (entry.kind === "file" && wanted(entry.path)) files.push(entry.path)
    },
  )
  const leftOut: string[] = []
  const found: HitList = { hits: [], incomplete: stopped !== undefined, leftOut }
  let left = bounds.bytes
  for (const file of files) {
    signal?.throwIfAborted()
    const content = await workspace.read(`${start}/${file}`, bounds.fileBytes).catch((thrown: unknown) => {
      if (ToolwrightError.isInstance(thrown) && thrown.code === "FILE_TOO_LARGE") leftOut.push(file)
    })
    if (content === undefined) continue
    left -= content.bytes.length
    for (const line of await matchingLines(content.bytes, matches, signal)) {
      if (found.hits.length === MOST_HITS) return { ...found, incomplete: true }
      found.hits.push({ path: file, line })
    }
    if (left < 0 || performance.now() > over) return { ...found, incomplete: true, late: true }
  }
  return found
}

/**
 * Numbers of the matching lines of a content; none when it is binary. Works in slices, so that other work and
 * cancellation get their turn.
 */
export async function matchingLines(
  bytes: Uint8Array,
  matches: (line: string) => boolean,
  signal?: AbortSignal,
): Promise<number[]> {
  const text = decodeText(bytes)?.text
  if (text === undefined || text.includes("\0")) return []
  const found: number[] = []
  const turn = createTurns()
  for (const [index, line] of splitLines(text).entries()) {
    const waiting = turn()
    if (waiting !== undefined) await waiting
    signal?.throwIfAborted()
    if (matches(withoutEnding(line))) found.push(index + 1)
  }
  return found
}

/** @throws ToolwrightError `INVALID_PATTERN` */
export async function lineMatcher(query: ContentQuery): Promise<(line: string) => boolean> {
  const { RE2JS } = await import("re2js")
  const source = query.fixed ? RE2JS.quote(query.pattern) : query.pattern
  const whole = query.word ? `(?:^|\\W)(?:${source})(?:\\W|$)` : source
  try {
    const expression = RE2JS.compile(whole, query.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return (line) => expression.matcher(line).find()
  } catch (thrown) {
    throw invalidPattern(query.pattern, thrown instanceof Error ? thrown.message : String(thrown))
  }
}

/** Whether a path is wanted by globs, those with `!` in front being what is not wanted. */
export async function includeTest(globs: readonly string[]): Promise<(path: string) => boolean> {
  const wanted = globs.filter((glob) => !glob.startsWith("!"))
  const unwanted = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1))
  const isWanted = wanted.length === 0 ? () => true : await compileGlobs(wanted)
  const isUnwanted = unwanted.length === 0 ? () => false : await compileGlobs(unwanted)
  return (path) => isWanted(path) && !isUnwanted(path)
}
