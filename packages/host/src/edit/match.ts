import { dominantEnding, splitLines } from "../text/lines.ts"

/** How exactly a text was found; each rung is tried only when the ones before found nothing. */
export type Rung = "exact" | "line-endings" | "trailing-whitespace" | "indentation" | "punctuation"

/** Where a text was found, in UTF-16 code units of the original, and what to put there. */
export interface Match {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

export interface Found {
  readonly rung: Rung
  readonly matches: readonly Match[]
}

/**
 * Finds a text as a model wrote it. Only differences that cannot change meaning are bridged, in this order: none; line
 * endings;
 * blanks at line ends; one indentation added to or missing from all lines; typographic for plain punctuation. Matches
 * are ranges of
 * the original text, so what lies outside them is untouched by whatever is put there.
 *
 * @param text the file's text
 * @param wanted what to find, not empty
 * @param replacement what to put there; line endings and indentation follow the place where it goes
 */
export function findMatches(text: string, wanted: string, replacement: string): Found | undefined {
  const exact = occurrences(text, wanted)
  if (exact.length > 0) {
    const put = followingEndings(text, wanted, replacement)
    return { rung: "exact", matches: exact.map((start) => ({ start, end: start + wanted.length, replacement: put })) }
  }
  return (
    throughProjection(text, wanted, replacement, "line-endings", (line) => line) ??
    lineMatches(text, wanted, replacement, "trailing-whitespace") ??
    lineMatches(text, wanted, replacement, "indentation") ??
    throughProjection(text, wanted, replacement, "punctuation", plainPunctuation)
  )
}

function occurrences(text: string, wanted: string): number[] {
  const starts: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) starts.push(at)
  return starts
}

/** A text that uses `\r\n` gets it in what is put in, unless what was found shows that this place is an exception. */
function followingEndings(text: string, wanted: string, replacement: string): string {
  if (!replacement.includes("\n") || !text.includes("\r\n")) return replacement
  if (wanted.includes("\n") || replacement.includes("\r\n")) return replacement
  return withEndings(replacement, dominantEnding(text))
}

function withEndings(text: string, ending: string): string {
  return text.replace(/\r?\n/gu, ending)
}

/** Finds through a view of both texts that has `\n` only and each character replaced by at most one other. */
function throughProjection(
  text: string,
  wanted: string,
  replacement: string,
  rung: Rung,
  project: (text: string) => string,
): Found | undefined {
  const view = project(text.replaceAll("\r\n", "\n"))
  const needle = project(wanted.replaceAll("\r\n", "\n"))
  const starts = occurrences(view, needle)
  if (starts.length === 0) return undefined
  const originalOffset = offsetsOf(text)
  const matches = starts.map((at) => {
    const start = originalOffset(at)
    const end = originalOffset(at + needle.length)
    const there = text.slice(start, end)
    return { start, end, replacement: withEndings(replacement, dominantEnding(there.includes("\n") ? there : text)) }
  })
  return { rung, matches }
}

/** Offset in the text, given one in its view without the `\r` of line endings. */
function offsetsOf(text: string): (offset: number) => number {
  const removed: number[] = []
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) removed.push(at - removed.length)
  return (offset) => {
    let low = 0
    let high = removed.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (removed[middle]! < offset) low = middle + 1
      else high = middle
    }
    return offset + low
  }
}

const PLAIN: Record<string, string> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201a": "'",
  "\u201b": "'",
  "\u201c": '"',
  "\u201d": '"',
  "\u201e": '"',
  "\u201f": '"',
  "\u2010": "-",
  "\u2011": "-",
  "\u2012": "-",
  "\u2013": "-",
  "\u2014": "-",
  "\u2212": "-",
  "\u00a0": " ",
  "\u2007": " ",
  "\u202f": " ",
}

/** Typographic quotes, dashes and blanks as the plain ones, character for character. */
export function plainPunctuation(text: string): string {
  return text.replace(
    /[\u2018-\u201f\u2010-\u2014\u2212\u00a0\u2007\u202f]/gu,
    (character) => PLAIN[character] ?? character,
  )
}

/** Finds whole lines that are alike up to blanks at their ends and, on the rung for it, one common indentation. */
function lineMatches(
  text: string,
  wanted: string,
  replacement: string,
  rung: "trailing-whitespace" | "indentation",
): Found | undefined {
  const lines = splitLines(text)
  const needle = splitLines(wanted)
  const trimmed = lines.map((line) => line.trimEnd())
  const sought = needle.map((line) => line.trimEnd())
  if (sought.every((line) => line === "")) return undefined
  const matches: Match[] = []
  const offsets = lineOffsets(lines)
  const first = sought.findIndex((line) => line !== "")
  const bare = sought[first]!.trimStart()
  for (let at = 0; at + sought.length <= trimmed.length; at += 1) {
    if (!trimmed[at + first]!.endsWith(bare)) continue
    const shift = shiftBetween(sought, trimmed, at)
    if (shift === undefined || (rung === "trailing-whitespace" && (shift.added !== "" || shift.missing !== "")))
      continue
    matches.push(
      placeLines({ lines, offsets, at, count: sought.length, wanted, replacement: reindent(replacement, shift) }),
    )
    at += sought.length - 1
  }
  return matches.length === 0 ? undefined : { rung, matches }
}

/** The indentation that all lines of a file have beyond the wanted ones, or lack. */
interface Shift {
  added: string
  missing: string
}

function shiftBetween(sought: readonly string[], lines: readonly string[], at: number): Shift | undefined {
  let shift: Shift | undefined
  for (const [index, line] of sought.entries()) {
    const there = lines[at + index]!
    if (line === "" || there === "") {
      if (line !== there) return undefined
      continue
    }
    const added = there.endsWith(line) ? there.slice(0, there.length - line.length) : undefined
    const missing = line.endsWith(there) ? line.slice(0, line.length - there.length) : undefined
    if (added === undefined && missing === undefined) return undefined
    const own: Shift = { added: added ?? "", missing: missing ?? "" }
    if (/\S/u.test(own.added + own.missing)) return undefined
    if (shift !== undefined && (shift.added !== own.added || shift.missing !== own.missing)) return undefined
    shift = own
  }
  return shift
}

function reindent(text: string, { added, missing }: Shift): string {
  if (added === "" && missing === "") return text
  return splitLines(text)
    .map((line) => {
      if (line.trim() === "") return line
      return added + (missing !== "" && line.startsWith(missing) ? line.slice(missing.length) : line)
    })
    .join("")
}

function lineOffsets(lines: readonly string[]): number[] {
  const offsets = [0]
  for (const line of lines) offsets.push(offsets.at(-1)! + line.length)
  return offsets
}

function placeLines(place: {
  lines: readonly string[]
  offsets: readonly number[]
  at: number
  count: number
  wanted: string
  replacement: string
}): Match {
  const { lines, offsets, at, count, wanted, replacement } = place
  const last = lines[at + count - 1]!
  const ending = /\r?\n$/u.exec(last)?.[0] ?? ""
  const end = offsets[at + count]! - (wanted.endsWith("\n") ? 0 : ending.length)
  const there = lines.slice(at, at + count).join("")
  const put = withEndings(replacement, dominantEnding(there.includes("\n") ? there : lines.join("")))
  return { start: offsets[at]!, end, replacement: put }
}
