import type { Row } from "./rows.ts"

/**
 * What two runs have at one place: the same call, one with other arguments or another end, or a call of one of them
 * alone.
 */
export interface Pair {
  a?: Row
  b?: Row
  difference: "none" | "end" | "arguments" | "only a" | "only b"
}

/** So many calls of each are compared; beyond them runs are told by their ends. */
export const MOST_COMPARED = 1500

/** How much it is worth to set two calls side by side. */
function likeness(a: Row, b: Row): number {
  if (a.name !== b.name) return 0
  return a.args === b.args ? 3 : 1
}

/** Sets the calls of two runs side by side, so that as many as can be stand beside their like. Their order stays. */
export function align(first: readonly Row[], second: readonly Row[]): Pair[] {
  const calls = (rows: readonly Row[]): Row[] => rows.filter(({ kind }) => kind === "call").slice(0, MOST_COMPARED)
  const [a, b] = [calls(first), calls(second)]
  const width = b.length + 1
  // The best that comes of what is left from each place on.
  const best = new Int32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const like = likeness(a[i]!, b[j]!)
      const skipped = Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!)
      best[i * width + j] = like === 0 ? skipped : Math.max(skipped, like + best[(i + 1) * width + j + 1]!)
    }
  const pairs: Pair[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const here = i < a.length && j < b.length ? likeness(a[i]!, b[j]!) : 0
    const now = best[i * width + j]!
    if (here > 0 && now === here + best[(i + 1) * width + j + 1]!) pairs.push(paired(a[i++]!, b[j++]!))
    else if (j >= b.length || (i < a.length && now === best[(i + 1) * width + j]!))
      pairs.push({ a: a[i++]!, difference: "only a" })
    else pairs.push({ b: b[j++]!, difference: "only b" })
  }
  return pairs
}

function paired(a: Row, b: Row): Pair {
  if (a.args !== b.args) return { a, b, difference: "arguments" }
  return { a, b, difference: a.ok === b.ok && a.code === b.code && a.text === b.text ? "none" : "end" }
}
