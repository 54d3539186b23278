/** The most repetitions that llama.cpp (v0.5.0, `MAX_REPETITION_THRESHOLD`) takes. */
const MAX_REPETITIONS = 2000

/**
 * Counts as llama.cpp's parser does, to say beforehand what it will refuse. It unrolls a repetition into rules, and
 * refuses when the rules that one symbol brought, times its repetitions, come to 2,000; more than 2,000 as an upper
 * limit it takes as none.
 */
export class RepetitionCount {
  readonly #names = new Set<string>()
  #generated = 0
  #size = 1

  /** A rule name was read. */
  name(name: string): void {
    this.#names.add(name)
  }

  /** A symbol other than a group begins. */
  symbol(): void {
    this.#size = 1
  }

  /** A group begins; call the answer where it ends. */
  group(): () => void {
    const before = this.#names.size + this.#generated
    this.#generated++
    return () => {
      this.#size = Math.max(1, this.#names.size + this.#generated - before)
    }
  }

  /** The last symbol is repeated. */
  repeat(min: number, max: number | undefined): "fine" | "refused" | "unlimited" {
    if (min > MAX_REPETITIONS) return "refused"
    const unlimited = max !== undefined && max > MAX_REPETITIONS
    const limit = unlimited ? undefined : max
    const factor = limit !== undefined && limit > 0 ? limit : Math.max(1, min)
    if (this.#size * factor >= MAX_REPETITIONS) return "refused"
    this.#generated += limit === undefined ? 1 : limit - min
    this.#size *= factor
    return unlimited ? "unlimited" : "fine"
  }
}
