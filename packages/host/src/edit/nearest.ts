import { splitLines, withoutEnding } from "../text/lines.ts"

/** Lines of a file that resemble what was looked for. */
export interface NearBlock {
  startLine: number
  endLine: number
  /** 0 to 1. */
  similarity: number
  /** The lines with their numbers, as shown to a model. */
  numbered: string
}

const LONGEST_LINE = 400
const MOST_LINES_COMPARED = 30_000
const MOST_LINES_SHOWN = 30
const LEAST_SIMILARITY = 0.35
/** A line that holds more of the wanted text's letter pairs than this is worth showing, however long it is. */
const MUCH_HELD = 0.7

/** Work that looking for something alike may cost in all, in characters compared and lines counted. */
const MOST_WORK = 4_000_000

/** Looks for something alike in one text, for one wanted text after the other, until its work is used up. */
export type NearestFinder = (wanted: string, count?: number) => NearBlock[]

interface Work {
  left: number
}

/**
 * The blocks of a file most like texts that are not in it, best first. Lines that are equal but for blanks vote for the
 * block they would belong to; the longest wanted lines are also compared by their letter pairs (Sørensen–Dice). However
 * long the texts are, the work is bounded for all of them together; then nothing more is found.
 */
export function nearestIn(text: string): NearestFinder {
  const work: Work = { left: MOST_WORK }
  let made: { lines: readonly string[]; plain: readonly string[] } | undefined
  return (wanted, count = 3) => {
    if (made === undefined) {
      const lines = firstLines(text, MOST_LINES_COMPARED).map(withoutEnding)
      made = { lines, plain: lines.map(squeezed) }
    }
    return nearest(made, firstLines(wanted, MOST_LINES_SOUGHT).map(withoutEnding), work, count)
  }
}

const MOST_LINES_SOUGHT = 2000

function nearest(
  { lines, plain }: { lines: readonly string[]; plain: readonly string[] },
  wanted: readonly string[],
  work: Work,
  count: number,
): NearBlock[] {
  const sought = wanted.map(squeezed)
  const starts = new Map<number, number>()
  const vote = (start: number, weight: number): void => {
    const inside = Math.max(0, Math.min(start, lines.length - 1))
    starts.set(inside, (starts.get(inside) ?? 0) + weight)
  }
  voteByEqualLines(plain, sought, vote, work)
  voteBySimilarLines(plain, sought, vote, work)
  const candidates = [...starts].sort((a, b) => b[1] - a[1]).slice(0, 40)
  const compare = sought.map((line) => similarityTo(line, sought.length === 1))
  const blocks = candidates
    .map(([start]) => ({ start, similarity: blockSimilarity(plain, { sought, compare }, start, work) }))
    .filter((block) => block.similarity >= LEAST_SIMILARITY)
    .sort((a, b) => b.similarity - a.similarity || a.start - b.start)
  const chosen: typeof blocks = []
  for (const block of blocks) {
    if (chosen.length === count) break
    if (chosen.every((other) => Math.abs(other.start - block.start) >= Math.max(1, sought.length))) chosen.push(block)
  }
  return chosen.map(({ start, similarity }) => {
    const end = Math.min(lines.length, start + sought.length)
    return { startLine: start + 1, endLine: end, similarity, numbered: numberLines(lines.slice(start, end), start + 1) }
  })
}

/** The first lines of a text; what comes after them is not looked at. */
function firstLines(text: string, most: number): string[] {
  let end = 0
  for (let count = 0; count < most; count++) {
    const newline = text.indexOf("\n", end)
    if (newline === -1) return splitLines(text)
    end = newline + 1
  }
  return splitLines(text.slice(0, end))
}

/** Lines with their numbers in front, `12: text`; long blocks and lines are cut. */
export function numberLines(lines: readonly string[], firstLine: number): string {
  const shown = lines.slice(0, MOST_LINES_SHOWN).map((line, index) => {
    return `${firstLine + index}: ${line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line}`
  })
  if (lines.length > MOST_LINES_SHOWN) shown.push(`… ${lines.length - MOST_LINES_SHOWN} more lines`)
  return shown.join("\n")
}

function voteByEqualLines(
  lines: readonly string[],
  sought: readonly string[],
  vote: (start: number, weight: number) => void,
  work: Work,
): void {
  const wanted = new Map<string, number[]>()
  for (const [index, key] of sought.entries()) {
    if (key.length <= 2) continue
    const indexes = wanted.get(key)
    if (indexes === undefined) wanted.set(key, [index])
    else indexes.push(index)
  }
  for (const [at, line] of lines.entries()) {
    const indexes = wanted.get(line) ?? []
    work.left -= 1 + indexes.length
    if (work.left < 0) return
    for (const index of indexes) vote(at - index, 1)
  }
}

function voteBySimilarLines(
  lines: readonly string[],
  sought: readonly string[],
  vote: (start: number, weight: number) => void,
  work: Work,
): void {
  const longest = [...sought.entries()]
    .map(([index, line]) => ({ index, line }))
    .filter(({ line }) => line.length > 3)
    .sort((a, b) => b.line.length - a.line.length)
    .slice(0, 3)
  for (const { index, line } of longest) {
    const compare = similarityTo(line, sought.length === 1)
    for (const [at, candidate] of lines.entries()) {
      const similarity = compare(candidate, work)
      if (work.left < 0) return
      if (similarity > 0.5) vote(at - index, similarity)
    }
  }
}

function blockSimilarity(
  lines: readonly string[],
  { sought, compare }: { sought: readonly string[]; compare: readonly ReturnType<typeof similarityTo>[] },
  start: number,
  work: Work,
): number {
  let sum = 0
  let weight = 0
  for (const [index, wanted] of sought.entries()) {
    const there = lines[start + index] ?? ""
    const share = Math.max(wanted.length, 1)
    weight += share
    work.left -= 1
    if (work.left < -BLOCKS_WORK) return 0
    sum += share * (wanted === there ? 1 : compare[index]!(there, work))
  }
  return weight === 0 ? 0 : sum / weight
}

/** What was voted for when the work was used up may still be compared for so much more. */
const BLOCKS_WORK = 1_000_000

function squeezed(line: string): string {
  return line.slice(0, LONGEST_LINE).trim().replace(/\s+/gu, " ")
}

/**
 * How alike a line is; with `within`, also how much of the wanted text it holds, for that may be only a part of a line.
 */
function similarityTo(wanted: string, within: boolean): (candidate: string, work: Work) => number {
  const indexes = new Map<number, number>()
  const counts: number[] = []
  for (let index = 0; index + 1 < wanted.length; index += 1) {
    const pair = pairAt(wanted, index)
    const known = indexes.get(pair)
    if (known === undefined) indexes.set(pair, counts.push(1) - 1)
    else counts[known]! += 1
  }
  /** How many of each pair a candidate may still have in common. */
  const open = new Int32Array(counts.length)
  const total = Math.max(0, wanted.length - 1)
  return (candidate, work) => {
    const other = Math.max(0, candidate.length - 1)
    work.left -= 1
    if (total + other === 0) return wanted === candidate ? 1 : 0
    if (Math.min(total, other) * 4 < Math.max(total, other) && !(within && other > total)) return 0
    work.left -= candidate.length
    open.set(counts)
    let common = 0
    for (let index = 0; index + 1 < candidate.length; index += 1) {
      const known = indexes.get(pairAt(candidate, index))
      if (known === undefined || open[known] === 0) continue
      open[known]! -= 1
      common += 1
    }
    const held = within && total >= 5 ? common / total : 0
    return Math.max((2 * common) / (total + other), held > MUCH_HELD ? held * 0.95 : 0)
  }
}

function pairAt(text: string, index: number): number {
  return text.charCodeAt(index) * 65_536 + text.charCodeAt(index + 1)
}
