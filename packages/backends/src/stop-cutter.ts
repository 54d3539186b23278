/** Cuts text at the first stop sequence; text that may be the beginning of one is held back. */
export interface StopCutter {
  readonly stopped: boolean
  /** The sequence that it was cut at. */
  readonly found: string | undefined
  push(text: string): string
  end(): string
}

export function createStopCutter(stop: readonly string[]): StopCutter {
  const sequences = stop.filter((sequence) => sequence !== "")
  const longest = Math.max(0, ...sequences.map((sequence) => sequence.length))
  let held = ""
  let cutAt: string | undefined
  return {
    get stopped() {
      return cutAt !== undefined
    },
    get found() {
      return cutAt
    },
    push(text) {
      if (cutAt !== undefined) return ""
      held += text
      const found = sequences
        .map((sequence) => ({ sequence, at: held.indexOf(sequence) }))
        .filter(({ at }) => at >= 0)
        .toSorted((one, other) => one.at - other.at)[0]
      if (found !== undefined) {
        const out = held.slice(0, found.at)
        held = ""
        cutAt = found.sequence
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
