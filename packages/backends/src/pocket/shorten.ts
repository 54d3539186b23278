import type { ShapedResult } from "./shape-result.ts"

/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number

/** No token stands for more characters than this: what is longer need not be counted to be too long. */
const LONGEST_TOKEN = 32

/**
 * Cuts a result to a number of tokens: whole lines from its beginning, then how many are left out, then the line that
 * must stay. Of a line that does not fit alone the beginning is kept.
 */
export function shorten({ lines, last }: ShapedResult, limit: number, count: CountTokens): string {
  const end = last === undefined ? [] : [last]
  const whole = [...lines, ...end].join("\n")
  if (whole.length <= limit * LONGEST_TOKEN && count(whole) <= limit) return whole
  for (let kept = mostLines(lines, limit, count); kept > 0; kept--) {
    const text = [...lines.slice(0, kept), more(lines.length - kept), ...end].join("\n")
    if (count(text) <= limit) return text
  }
  const rest = [...(lines.length > 1 ? [more(lines.length - 1)] : []), ...end]
  return [begin(lines[0] ?? "", limit - count(["", ...rest].join("\n")), count), ...rest].join("\n")
}

function more(lines: number): string {
  return `[+${lines} ${lines === 1 ? "line" : "lines"}]`
}

/** As many lines as could fit if nothing stood after them; at least one less than all. */
function mostLines(lines: readonly string[], limit: number, count: CountTokens): number {
  let total = 0
  let kept = 0
  while (
    kept < lines.length - 1 &&
    (total += lines[kept]!.length > limit * LONGEST_TOKEN ? limit + 1 : count(`${lines[kept]!}\n`)) <= limit
  )
    kept++
  return kept
}

/** The longest beginning of a line within a limit, at a word's end where there is one in its second half. */
function begin(line: string, limit: number, count: CountTokens): string {
  const mark = " [cut]"
  let [fits, over] = [0, Math.min(line.length, Math.max(0, limit) * LONGEST_TOKEN) + 1]
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (count(line.slice(0, middle) + mark) <= limit) fits = middle
    else over = middle
  }
  const space = line.lastIndexOf(" ", fits)
  const cut = line.slice(0, space > fits / 2 ? space : fits)
  // Half a surrogate pair is left out.
  return cut.replace(/[\uD800-\uDBFF]$/, "").trimEnd() + mark
}
