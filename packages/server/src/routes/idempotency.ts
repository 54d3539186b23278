import { createHash } from "node:crypto"

/** How long an answer is kept for its key, and how many are, at most. */
const KEPT_MS = 10 * 60_000
const MOST = 1000

interface Kept<Answer> {
  fingerprint: string
  answer: Promise<Answer>
  until: number
}

/** Answers to requests that carried an `Idempotency-Key`: a request that comes again is not carried out again. */
export class IdempotencyKeys<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>()

  /**
   * @param scope whose key it is: keys of different tokens and tools do not meet
   * @returns the answer, or `conflict` when the key was used with another request
   */
  answer(scope: string, key: string, body: string, run: () => Promise<Answer>): Promise<Answer> | "conflict" {
    const now = Date.now()
    for (const [name, { until }] of this.#kept) {
      // In order of arrival: what follows is younger.
      if (until >= now && this.#kept.size < MOST) break
      this.#kept.delete(name)
    }
    const name = `${scope}\u0000${key}`
    const fingerprint = createHash("sha256").update(body).digest("hex")
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept.fingerprint === fingerprint ? kept.answer : "conflict"
    const answer = run()
    this.#kept.set(name, { fingerprint, answer, until: now + KEPT_MS })
    answer.catch(() => this.#kept.delete(name))
    return answer
  }
}
