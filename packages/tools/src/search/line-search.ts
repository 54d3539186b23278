import type { Workspace } from "@toolwright/host/paths"
import { decodeText, splitLines, withoutEnding } from "@toolwright/host/text"
import { compileGlobs } from "./glob.ts"
import { LARGEST_SEARCHED, MOST_HITS, type ContentQuery, type HitList } from "./query.ts"
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
): Promise<HitList> {
  const matches = await lineMatcher(query)
  const wanted = await includeTest(query.include)
  const files: string[] = []
  let start = ""
  await walkFiles(workspace, path, { includeIgnored: query.includeIgnored, signal }, (entry, place) => {
    start = place.real
    if (entry.kind === "file" && wanted(entry.path)) files.push(entry.path)
  })
  const found: HitList = { hits: [], incomplete: false }
  for (const file of files) {
    signal?.throwIfAborted()
    const content = await workspace.read(`${start}/${file}`, LARGEST_SEARCHED).catch(() => undefined)
    if (content === undefined) continue
    for (const line of matchingLines(content.bytes, matches)) {
      if (found.hits.length === MOST_HITS) return { ...found, incomplete: true }
      found.hits.push({ path: file, line })
    }
  }
  return found
}

/** Numbers of the matching lines of a content; none when it is binary. */
export function matchingLines(bytes: Uint8Array, matches: (line: string) => boolean): number[] {
  const text = decodeText(bytes)?.text
  if (text === undefined || text.includes("\0")) return []
  return splitLines(text).flatMap((line, index) => (matches(withoutEnding(line)) ? [index + 1] : []))
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
