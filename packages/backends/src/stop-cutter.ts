/** Cuts text at the first stop sequence; text that may be the beginning of one is held back. */
export interface StopCutter {
  readonly stopped: boolean
  push(text: string): string
  end(): string
}

export function createStopCutter(stop: readonly string[]): StopCutter {
  const sequences = stop.filter((sequence) => sequence !== "")
  const longest = Math.max(0, ...sequences.map((sequence) => sequence.length))
  let held = ""
  let stopped = false
  return {
    get stopped() {
      return stopped
    },
    push(text) {
      if (stopped) return ""
      held += text
      const found = sequences.map((sequence) => held.indexOf(sequence)).filter((at) => at >= 0)
      if (found.length > 0) {
        const out = held.slice(0, Math.min(...found))
        held = ""
        stopped = true
        return out
      }
      let keep = Math.min(longest - 1, held.length)
      while (keep > 0 && !sequences.some((sequence) => sequence.startsWith(held.slice(held.length - keep)))) keep--
      const out = held.slice(0, held.length - Math.max(0, keep))
      held = held.slice(out.length)
      return out
    },
    end() {
      const out = held
      held = ""
      return out
    },
  }
}
