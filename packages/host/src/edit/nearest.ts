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

/**
 * The blocks of a file most like a text that is not in it, best first. Lines that are equal but for blanks vote for the
 * block they
 * would belong to; the longest wanted lines are also compared by their letter pairs (Sørensen–Dice).
 */
export function nearestBlocks(text: string, wanted: string, count = 3): NearBlock[] {
  const lines = splitLines(text).map(withoutEnding)
  const sought = splitLines(wanted).map(withoutEnding)
  const compared = lines.slice(0, MOST_LINES_COMPARED)
  const starts = new Map<number, number>()
  const vote = (start: number, weight: number): void => {
    const inside = Math.max(0, Math.min(start, lines.length - 1))
    starts.set(inside, (starts.get(inside) ?? 0) + weight)
  }
  voteByEqualLines(compared, sought, vote)
  voteBySimilarLines(compared, sought, vote)
  const candidates = [...starts].sort((a, b) => b[1] - a[1]).slice(0, 40)
  const blocks = candidates
    .map(([start]) => ({ start, similarity: blockSimilarity(lines, sought, start) }))
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
): void {
  const wanted = new Map<string, number[]>()
  for (const [index, line] of sought.entries()) {
    const key = squeezed(line)
    if (key.length > 2) wanted.set(key, [...(wanted.get(key) ?? []), index])
  }
  for (const [at, line] of lines.entries()) {
    const indexes = line.length > LONGEST_LINE ? undefined : wanted.get(squeezed(line))
    for (const index of indexes ?? []) vote(at - index, 1)
  }
}

function voteBySimilarLines(
  lines: readonly string[],
  sought: readonly string[],
  vote: (start: number, weight: number) => void,
): void {
  const longest = [...sought.entries()]
    .map(([index, line]) => ({ index, line: squeezed(line) }))
    .filter(({ line }) => line.length > 3)
    .sort((a, b) => b.line.length - a.line.length)
    .slice(0, 3)
  for (const { index, line } of longest) {
    const compare = similarityTo(line, sought.length === 1)
    for (const [at, candidate] of lines.entries()) {
      const similarity = compare(squeezed(candidate))
      if (similarity > 0.5) vote(at - index, similarity)
    }
  }
}

function blockSimilarity(lines: readonly string[], sought: readonly string[], start: number): number {
  let sum = 0
  let weight = 0
  for (const [index, line] of sought.entries()) {
    const wanted = squeezed(line)
    const there = squeezed(lines[start + index] ?? "")
    const share = Math.max(wanted.length, 1)
    weight += share
    sum += share * (wanted === there ? 1 : similarityTo(wanted, sought.length === 1)(there))
  }
  return weight === 0 ? 0 : sum / weight
}

function squeezed(line: string): string {
  return line.slice(0, LONGEST_LINE).trim().replace(/\s+/gu, " ")
}

/**
 * How alike a line is; with `within`, also how much of the wanted text it holds, for that may be only a part of a line.
 */
function similarityTo(wanted: string, within: boolean): (candidate: string) => number {
  const pairs = new Map<number, number>()
  for (let index = 0; index + 1 < wanted.length; index += 1) {
    const pair = pairAt(wanted, index)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  const total = Math.max(0, wanted.length - 1)
  return (candidate) => {
    const other = Math.max(0, candidate.length - 1)
    if (total + other === 0) return wanted === candidate ? 1 : 0
    if (Math.min(total, other) * 4 < Math.max(total, other) && !(within && other > total)) return 0
    const left = new Map(pairs)
    let common = 0
    for (let index = 0; index + 1 < candidate.length; index += 1) {
      const pair = pairAt(candidate, index)
      const count = left.get(pair) ?? 0
      if (count === 0) continue
      left.set(pair, count - 1)
      common += 1
    }
    const held = within && total >= 5 ? common / total : 0
    return Math.max((2 * common) / (total + other), held > MUCH_HELD ? held * 0.95 : 0)
  }
}

function pairAt(text: string, index: number): number {
  return text.charCodeAt(index) * 65_536 + text.charCodeAt(index + 1)
}
