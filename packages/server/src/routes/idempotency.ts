import { createHash } from "node:crypto"

/** How long an answer is kept for its key. */
const KEPT_MS = 10 * 60_000
/** Keys that are kept, of all callers and of one. */
const MOST = 10_000
const MOST_OF_ONE = 1000
/** Bytes of answers that are kept, of all callers and of one. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_BYTES_OF_ONE = 16 * 1024 * 1024

interface Kept<Answer> {
  caller: string
  fingerprint: string
  /** Missing once the room was needed: the request was carried out, and what it answered is forgotten. */
  answer: Promise<Answer> | undefined
  done: boolean
  bytes: number
  until: number
  /** Requests that wait for the answer: it is given up when none is left. */
  waiting: number
  controller: AbortController
}

/** A request with a key. */
export interface KeyedRequest {
  /** Whose key it is: keys of different callers and tools do not meet. */
  caller: string
  scope: string
  key: string
  /** What was asked for, as text. */
  body: string
  signal: AbortSignal
}

/** What is known of an answer. */
export interface AnswerTraits<Answer> {
  bytes(answer: Answer): number
  /** Whether the answer says that nothing came of the request, so that the next one is carried out. */
  isNone(answer: Answer): boolean
}

/**
 * Answers to requests that carried an `Idempotency-Key`: a request that comes again is not carried out again, also
 * where its answer was too large to be kept. A request is given up when everyone who waits for it has gone.
 */
export class IdempotencyKeys<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>()
  readonly #traits: AnswerTraits<Answer>

  constructor(traits: AnswerTraits<Answer>) {
    this.#traits = traits
  }

  /**
   * @returns the answer; `conflict` when the key was used with another request, `gone` when its answer is kept no more
   */
  answer(request: KeyedRequest, run: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> | "conflict" | "gone" {
    this.#forgetOld()
    const name = digest([request.caller, request.scope, request.key])
    const fingerprint = digest([request.body])
    const kept = this.#kept.get(name) ?? this.#begin(name, request.caller, fingerprint, run)
    if (kept.fingerprint !== fingerprint) return "conflict"
    if (kept.answer === undefined) return "gone"
    if (!kept.done) waitFor(kept, request.signal)
    return kept.answer
  }

  #begin(name: string, caller: string, fingerprint: string, run: (signal: AbortSignal) => Promise<Answer>) {
    const controller = new AbortController()
    const kept: Kept<Answer> = {
      caller,
      fingerprint,
      answer: run(controller.signal),
      done: false,
      bytes: 0,
      until: Number.POSITIVE_INFINITY,
      waiting: 0,
      controller,
    }
    this.#kept.set(name, kept)
    void kept.answer!.then(
      (answer) => {
        // In order of their end: what follows is younger.
        this.#kept.delete(name)
        if (this.#traits.isNone(answer)) return
        Object.assign(kept, { done: true, bytes: this.#traits.bytes(answer), until: Date.now() + KEPT_MS })
        this.#kept.set(name, kept)
        this.#makeRoom(caller)
      },
      () => this.#kept.delete(name),
    )
    return kept
  }

  #forgetOld(): void {
    const now = Date.now()
    for (const [name, { until, done }] of this.#kept) {
      if (done && until >= now) break
      if (done) this.#kept.delete(name)
    }
  }

  /** Drops answers, and then keys, from the oldest on, until all is within its bounds. */
  #makeRoom(caller: string): void {
    const done = [...this.#kept].filter(([, kept]) => kept.done)
    const own = done.filter(([, kept]) => kept.caller === caller)
    drop(own, MOST_BYTES_OF_ONE)
    drop(done, MOST_BYTES)
    const surplus = [...own.slice(0, -MOST_OF_ONE), ...done.slice(0, -MOST)]
    for (const [name] of surplus) this.#kept.delete(name)
  }
}

function drop<Answer>(kept: readonly [string, Kept<Answer>][], most: number): void {
  let bytes = kept.reduce((sum, [, entry]) => sum + entry.bytes, 0)
  for (const [, entry] of kept) {
    if (bytes <= most) return
    bytes -= entry.bytes
    Object.assign(entry, { answer: undefined, bytes: 0 })
  }
}

function waitFor<Answer>(kept: Kept<Answer>, signal: AbortSignal): void {
  const leave = (): void => {
    kept.waiting--
    if (kept.waiting === 0 && !kept.done) kept.controller.abort(signal.reason)
  }
  kept.waiting++
  if (signal.aborted) return leave()
  signal.addEventListener("abort", leave, { once: true })
  void kept.answer?.finally(() => signal.removeEventListener("abort", leave)).catch(() => {})
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url")
}
