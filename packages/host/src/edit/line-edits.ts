import { failure, type ToolResult } from "@toolwright/toolbox"
import { dominantEnding, splitLines } from "../text/lines.ts"
import type { Change, EditOutcome } from "./apply.ts"

/** Lines counted from 1, both ends included. */
export interface LineRange {
  start_line: number
  end_line: number
}

/** Replaces whole lines; an empty `content` deletes them. */
export function replaceLines(text: string, range: LineRange, content: string, path: string): EditOutcome {
  const lines = splitLines(text)
  const wrong = checkRange(range, lines.length, path)
  if (wrong !== undefined) return { refused: wrong }
  const before = lines.slice(0, range.start_line - 1).join("").length
  const old = lines.slice(range.start_line - 1, range.end_line).join("")
  const replacement = content === "" ? "" : asLines(content, text, old.endsWith("\n"))
  return changed(text, { start: before, end: before + old.length, replacement }, range.start_line)
}

/** Inserts lines before the given one; the number after the last line appends. */
export function insertLines(text: string, line: number, content: string, path: string): EditOutcome {
  const lines = splitLines(text)
  if (line < 1 || line > lines.length + 1) {
    return {
      refused: outOfRange(
        `is no line ${line}`,
        lines.length,
        path,
        `Use 1 to ${lines.length + 1}; ${lines.length + 1} appends.`,
      ),
    }
  }
  const start = lines.slice(0, line - 1).join("").length
  const open = start === text.length && text !== "" && !text.endsWith("\n")
  const replacement = open ? dominantEnding(text) + asLines(content, text, false) : asLines(content, text, true)
  return changed(text, { start, end: start, replacement }, line)
}

/** A content as whole lines with the file's line ending. */
function asLines(content: string, text: string, closed: boolean): string {
  const ending = dominantEnding(text)
  const lines = content.replace(/\r?\n/gu, ending)
  if (closed) return lines.endsWith(ending) ? lines : lines + ending
  return lines.endsWith(ending) ? lines.slice(0, -ending.length) : lines
}

function changed(text: string, change: Change, line: number): EditOutcome {
  return {
    text: text.slice(0, change.start) + change.replacement + text.slice(change.end),
    changes: [change],
    applied: [{ line, replacements: 1, matched: "exact" }],
  }
}

export function checkRange({ start_line, end_line }: LineRange, total: number, path: string): ToolResult | undefined {
  if (start_line > end_line) {
    return failure({
      code: "INVALID_RANGE",
      message: `start_line ${start_line} lies after end_line ${end_line}`,
      hint: `Call it with start_line ${end_line} and end_line ${start_line}.`,
    })
  }
  if (start_line >= 1 && end_line <= total) return undefined
  return outOfRange(
    start_line === end_line ? `is no line ${start_line}` : `are no lines ${start_line}–${end_line}`,
    total,
    path,
    total === 0 ? "The file is empty." : `Use lines from 1 to ${total}.`,
  )
}

function outOfRange(what: string, total: number, path: string, hint: string): ToolResult {
  return failure({
    code: "INVALID_RANGE",
    message: `There ${what} in ${path}: it has ${total} ${total === 1 ? "line" : "lines"}`,
    hint,
    details: { line_count: total },
  })
}
