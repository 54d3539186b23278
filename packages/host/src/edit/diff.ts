import { splitLines, withoutEnding } from "../text/lines.ts"
import type { Change } from "./apply.ts"

const CONTEXT_LINES = 3
/** Lines added and removed in one region up to which the shortest difference is looked for. */
const MOST_EDITS = 500
/** Changes whose lines are compared: more are not shown anyway. */
const MOST_CHANGES = 500
/** Longest region whose lines are compared, in characters. */
const LONGEST_REGION = 1024 * 1024
/** Longest diff in a result, in characters. */
export const DIFF_LIMIT = 8000

/**
 * A unified diff of known changes. Only the lines around them are compared, so it costs the same for a file of any
 * size.
 *
 * @param before the original text
 * @param changes in the order of the text, not overlapping
 * @param path shown in the header
 * @param limit longest diff in characters; what is beyond is counted in a last line
 */
export async function unifiedDiff(
  before: string,
  changes: readonly Change[],
  path: string,
  limit = DIFF_LIMIT,
): Promise<string> {
  const { structuredPatch } = await import("diff")
  const lines: string[] = []
  let lineNumber = 1
  let scanned = 0
  let shift = 0
  for (const region of regionsOf(before, changes.slice(0, MOST_CHANGES))) {
    lineNumber += newlinesIn(before, scanned, region.start)
    scanned = region.start
    if (region.end - region.start > LONGEST_REGION) {
      lines.push(`@@ from line ${lineNumber} @@`, "… lines too long to be shown")
      continue
    }
    const old = before.slice(region.start, region.end)
    const changed = replaced(before, region)
    const options = { context: CONTEXT_LINES, maxEditLength: MOST_EDITS }
    const hunks = structuredPatch(path, path, old, changed, "", "", options)?.hunks ?? [wholeHunk(old, changed)]
    for (const hunk of hunks) {
      const oldStart = hunk.oldStart + lineNumber - 1
      const newStart = hunk.newStart + lineNumber - 1 + shift
      lines.push(`@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@`, ...hunk.lines)
    }
    shift += newlinesIn(changed, 0, changed.length) - newlinesIn(old, 0, old.length)
  }
  if (lines.length === 0) return ""
  if (changes.length > MOST_CHANGES) lines.push(`… ${changes.length - MOST_CHANGES} more places`)
  return bounded([`--- ${path}`, `+++ ${path}`, ...lines], limit)
}

/**
 * All lines out, all lines in: for changes so large that the shortest way would take long to find, and nobody would
 * read it.
 */
function wholeHunk(
  old: string,
  changed: string,
): { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] } {
  const removed = splitLines(old).map((line) => `-${withoutEnding(line)}`)
  const added = splitLines(changed).map((line) => `+${withoutEnding(line)}`)
  return { oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length, lines: [...removed, ...added] }
}

interface Region {
  start: number
  end: number
  /** Where the line of its last change ends. */
  lastLine: number
  changes: Change[]
}

/** Whole lines around the changes; changes that are near each other share a region. */
function regionsOf(text: string, changes: readonly Change[]): Region[] {
  const regions: Region[] = []
  for (const change of changes) {
    const last = regions.at(-1)
    // In one long line many places may change: its ends are looked for once.
    if (last !== undefined && last.end - last.start > LONGEST_REGION && change.end < last.lastLine) {
      last.changes.push(change)
      continue
    }
    const start = linesBack(text, change.start, CONTEXT_LINES)
    const end = linesForward(text, change.end, CONTEXT_LINES)
    const lastLine = linesForward(text, change.end, 0)
    if (last !== undefined && start <= last.end) {
      last.end = Math.max(last.end, end)
      last.lastLine = lastLine
      last.changes.push(change)
    } else {
      regions.push({ start, end, lastLine, changes: [change] })
    }
  }
  return regions
}

function linesBack(text: string, offset: number, count: number): number {
  let at = offset
  for (let step = 0; step <= count; step += 1) {
    if (at === 0) return 0
    const newline = text.lastIndexOf("\n", at - 1)
    if (newline === -1) return 0
    at = step === count ? newline + 1 : newline
  }
  return at
}

function linesForward(text: string, offset: number, count: number): number {
  let at = offset
  for (let step = 0; step <= count; step += 1) {
    const newline = text.indexOf("\n", at)
    if (newline === -1) return text.length
    at = newline + 1
  }
  return at
}

function replaced(text: string, region: Region): string {
  let result = ""
  let at = region.start
  for (const change of region.changes) {
    result += text.slice(at, change.start) + change.replacement
    at = change.end
  }
  return result + text.slice(at, region.end)
}

function newlinesIn(text: string, start: number, end: number): number {
  let count = 0
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count += 1
  return count
}

function bounded(lines: readonly string[], limit: number): string {
  let length = 0
  for (const [index, line] of lines.entries()) {
    length += line.length + 1
    if (length > limit) return `${lines.slice(0, index).join("\n")}\n… ${lines.length - index} more lines of diff`
  }
  return lines.join("\n")
}
