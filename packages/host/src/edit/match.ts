import { countLines, dominantEnding, splitLines } from "../text/lines.ts"

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

/** Places that one edit may change. */
export const MOST_MATCHES = 100_000

/** Where an edit matches more places than may be changed at once. */
export interface TooMany {
  readonly tooMany: true
}
const TOO_MANY: TooMany = { tooMany: true }

/** Finds texts in one file's text. */
export type Finder = (wanted: string, replacement: string) => Found | TooMany | undefined

/**
 * Finds texts as a model wrote them. Only differences that cannot change meaning are bridged, in this order: none; line
 * endings; blanks at line ends; one indentation added to or missing from all lines; typographic for plain punctuation.
 * Matches are ranges of the original text, so what lies outside them is untouched by whatever is put there.
 *
 * The time grows with the text and the wanted ones, whatever they hold; what each rung looks at is made once for all.
 *
 * @param text the file's text
 * @returns for a text to find, not empty, and what to put there, whose line endings and indentation follow the place
 */
export function finderIn(text: string): Finder {
  const endings = once(() => dominantEnding(text))
  const lines = once(() => linesOf(text))
  const unified = once(() => text.replaceAll("\r\n", "\n"))
  const plain = once(() => plainPunctuation(unified()))
  const offset = once(() => offsetsOf(text))
  return (wanted, replacement) => {
    const exact = occurrences(text, wanted)
    if ("tooMany" in exact) return exact
    if (exact.length > 0) {
      const put = followingEndings(text, wanted, replacement, endings)
      return { rung: "exact", matches: exact.map((start) => ({ start, end: start + wanted.length, replacement: put })) }
    }
    const needle = wanted.replaceAll("\r\n", "\n")
    const seen = { text, endings, offset, needle, replacement }
    const line = { wanted, replacement, endings }
    return (
      throughView({ ...seen, rung: "line-endings", view: unified() }) ??
      lineMatches(lines(), { ...line, rung: "trailing-whitespace" }) ??
      lineMatches(lines(), { ...line, rung: "indentation" }) ??
      throughView({ ...seen, needle: plainPunctuation(needle), rung: "punctuation", view: plain() })
    )
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

/** Where a text occurs, as far as that is not too often. */
function occurrences(text: string, wanted: string): number[] | TooMany {
  const starts: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    if (starts.length === MOST_MATCHES) return TOO_MANY
    starts.push(at)
  }
  return starts
}

/** A text that uses `\r\n` gets it in what is put in, unless what was found shows that this place is an exception. */
function followingEndings(text: string, wanted: string, replacement: string, endings: () => string): string {
  if (!replacement.includes("\n") || !text.includes("\r\n")) return replacement
  if (wanted.includes("\n") || replacement.includes("\r\n")) return replacement
  return withEndings(replacement, endings())
}

function withEndings(text: string, ending: string): string {
  return text.replace(/\r?\n/gu, ending)
}

/** Finds through a view of both texts that has `\n` only and each character replaced by at most one other. */
function throughView(seen: {
  text: string
  endings: () => string
  offset: () => (offset: number) => number
  view: string
  needle: string
  replacement: string
  rung: Rung
}): Found | TooMany | undefined {
  const { text, needle, replacement, rung } = seen
  const starts = occurrences(seen.view, needle)
  if ("tooMany" in starts) return starts
  if (starts.length === 0) return undefined
  const originalOffset = seen.offset()
  const matches = starts.map((at) => {
    const start = originalOffset(at)
    const end = originalOffset(at + needle.length)
    const there = text.slice(start, end)
    const ending = there.includes("\n") ? dominantEnding(there) : seen.endings()
    return { start, end, replacement: withEndings(replacement, ending) }
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

/** The lines of a text, and what looking for others in them needs. */
interface Lines {
  readonly lines: readonly string[]
  readonly trimmed: readonly string[]
  readonly bare: readonly string[]
  readonly offsets: readonly number[]
}

/** A text of more lines is looked through as a whole only: nobody edits such a file by its indentation. */
const MOST_LINES = 1_000_000

function linesOf(text: string): Lines {
  const lines = countLines(text) > MOST_LINES ? [] : splitLines(text)
  const trimmed = lines.map((line) => line.trimEnd())
  return { lines, trimmed, bare: trimmed.map((line) => line.trimStart()), offsets: lineOffsets(lines) }
}

/** Lines that are compared once more for one edit, since they lie in places that could match. */
const MOST_COMPARED_AGAIN = 2_000_000

/** Finds whole lines that are alike up to blanks at their ends and, on the rung for it, one common indentation. */
function lineMatches(
  { lines, trimmed, bare, offsets }: Lines,
  edit: { wanted: string; replacement: string; rung: "trailing-whitespace" | "indentation"; endings: () => string },
): Found | TooMany | undefined {
  const { wanted, replacement, rung, endings } = edit
  const sought = splitLines(wanted).map((line) => line.trimEnd())
  if (sought.every((line) => line === "")) return undefined
  const exactly = rung === "trailing-whitespace"
  const starts = exactly
    ? sequenceStarts(trimmed, sought)
    : sequenceStarts(
        bare,
        sought.map((line) => line.trimStart()),
      )
  const matches: Match[] = []
  let compared = 0
  let next = 0
  for (const at of starts) {
    if (at < next) continue
    compared += exactly ? 1 : sought.length
    if (compared > MOST_COMPARED_AGAIN) return undefined
    const shift = exactly ? NO_SHIFT : shiftBetween(sought, trimmed, at)
    if (shift === undefined) continue
    if (matches.length === MOST_MATCHES) return TOO_MANY
    const put = reindent(replacement, shift)
    matches.push(placeLines({ lines, offsets, at, count: sought.length, wanted, replacement: put, endings }))
    next = at + sought.length
  }
  return matches.length === 0 ? undefined : { rung, matches }
}

/**
 * Where a sequence begins in another, overlapping places included; in time that is linear in both (Knuth–Morris–Pratt).
 */
function sequenceStarts(all: readonly string[], sought: readonly string[]): number[] {
  const fallback: number[] = [0]
  for (let index = 1, length = 0; index < sought.length; index++) {
    while (length > 0 && sought[index] !== sought[length]) length = fallback[length - 1]!
    if (sought[index] === sought[length]) length += 1
    fallback.push(length)
  }
  const starts: number[] = []
  for (let index = 0, length = 0; index < all.length; index++) {
    while (length > 0 && all[index] !== sought[length]) length = fallback[length - 1]!
    if (all[index] === sought[length]) length += 1
    if (length === sought.length) {
      starts.push(index - length + 1)
      length = fallback[length - 1]!
    }
  }
  return starts
}

/** The indentation that all lines of a file have beyond the wanted ones, or lack. */
interface Shift {
  added: string
  missing: string
}

const NO_SHIFT: Shift = { added: "", missing: "" }

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
  endings: () => string
}): Match {
  const { lines, offsets, at, count, wanted, replacement } = place
  const last = lines[at + count - 1]!
  const ending = /\r?\n$/u.exec(last)?.[0] ?? ""
  const end = offsets[at + count]! - (wanted.endsWith("\n") ? 0 : ending.length)
  const there = lines.slice(at, at + count).join("")
  const put = withEndings(replacement, there.includes("\n") ? dominantEnding(there) : place.endings())
  return { start: offsets[at]!, end, replacement: put }
}
