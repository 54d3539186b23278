/** About how many characters a value takes as JSON, without writing it; counted to a little above `most`. */
export function sizeOf(value: unknown, most: number): number {
  let size = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && size <= most) {
    const next = waiting.pop()
    size += typeof next === "string" ? next.length + 2 : 4
    if (typeof next !== "object" || next === null) continue
    for (const [key, inner] of Object.entries(next)) {
      size += key.length
      waiting.push(inner)
    }
  }
  return size
}
