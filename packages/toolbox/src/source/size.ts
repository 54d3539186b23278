/**
 * Depth of nesting beyond which a value is of no use: what is made for anybody ends far above, and much code recurs.
 */
const DEEPEST = 500

/**
 * About how many characters a value takes as JSON, without writing it; counted to a little above `most`. One that is
 * nested too deeply for anybody counts as one that takes more.
 */
export function sizeOf(value: unknown, most: number): number {
  let size = 0
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  while (waiting.length > 0 && size <= most) {
    const { value: next, depth } = waiting.pop()!
    size += typeof next === "string" ? next.length + 2 : 4
    if (typeof next !== "object" || next === null) continue
    if (depth >= DEEPEST) return Math.max(size, most) + 1
    for (const [key, inner] of Object.entries(next)) {
      size += key.length
      waiting.push({ value: inner, depth: depth + 1 })
    }
  }
  return size
}

const MOST = 2 ** 40

/** Whether what was read from a JSON text is nested too deeply for anybody: much code recurs into values. */
export function isTooDeep(value: unknown, text: string): boolean {
  return text.length > 2 * DEEPEST && sizeOf(value, MOST) > MOST
}
