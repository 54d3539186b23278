import type { SseReader } from "./sse.ts"

/** Splits a stream of JSON lines into its lines; empty ones are passed over. */
export function createLineReader(): SseReader {
  let pieces: string[] = []
  let waiting = 0
  const whole = (last: string): string[] => {
    const line = pieces.length === 0 ? last : [...pieces, last].join("")
    pieces = []
    waiting = 0
    return line.trim() === "" ? [] : [line]
  }
  return {
    get waiting() {
      return waiting
    },
    push(text) {
      const lines: string[] = []
      let start = 0
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", start)) {
        lines.push(...whole(text.slice(start, at)))
        start = at + 1
      }
      if (start < text.length) {
        pieces.push(text.slice(start))
        waiting += text.length - start
      }
      return lines
    },
    end: () => whole(""),
  }
}
