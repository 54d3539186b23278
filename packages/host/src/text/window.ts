import { countLines, splitLines } from "./lines.ts"

/** What a model is shown of a file at once, whichever limit comes first. */
export const WINDOW_LINES = 2000
export const WINDOW_BYTES = 50 * 1024
/** `maxOutputChars` of tools whose output is a window: the window and the note below it. */
export const WINDOW_OUTPUT_CHARS = WINDOW_BYTES + 1024

export interface WindowOptions {
  /** Number of the text's first line in the file. */
  firstLine?: number
  /** Lines of the whole file, where known. */
  totalLines?: number
  /** Lines of the text itself, where they have been counted. */
  lineCount?: number
  /** How to go on, given the next line's number. */
  next(line: number): string
}

/**
 * A text as a model is shown it: whole lines up to the limits, then a note that says which part of how much it was and
 * how to get the rest. A single line beyond the limit is cut, and the note says so.
 */
export function windowOf(text: string, { firstLine = 1, totalLines, lineCount, next }: WindowOptions): string {
  const byteLength = Buffer.byteLength(text)
  if (byteLength <= WINDOW_BYTES && (lineCount ?? countLines(text)) <= WINDOW_LINES) return text
  const lines = splitLines(text)
  let bytes = 0
  let count = 0
  while (count < lines.length && count < WINDOW_LINES) {
    bytes += Buffer.byteLength(lines[count]!)
    if (bytes > WINDOW_BYTES) break
    count += 1
  }
  const total = totalLines ?? firstLine + lines.length - 1
  if (count === 0) {
    const line = lines[0]!
    const shown = Buffer.from(line.slice(0, WINDOW_BYTES))
      .subarray(0, WINDOW_BYTES)
      .toString("utf8")
      .replace(/\ufffd+$/u, "")
    const rest = lines.length > 1 ? ` ${next(firstLine + 1)} to continue.` : ""
    return (
      `${shown}\n[Line ${firstLine} of ${total} is ${Buffer.byteLength(line)} bytes long; the first ` +
      `${WINDOW_BYTES} are shown.${rest}]`
    )
  }
  const last = firstLine + count - 1
  const shown = lines.slice(0, count).join("")
  return (
    `${shown}${shown.endsWith("\n") ? "" : "\n"}[Showing lines ${firstLine}–${last} of ${total}. ${next(last + 1)} ` +
    "to continue.]"
  )
}
