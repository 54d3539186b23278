/** What hears of what ends a call before it is done. */
export interface Limited {
  /** Whom the call belongs to wants it no more; told at once where that is so already. */
  aborted(): void
  /** How long it may take, in milliseconds; without end unless given. */
  readonly timeoutMs?: number
  /** Its time is over. */
  late?(): void
}

/** In Node a timer can be told whether the process is to wait for it; elsewhere nothing waits. */
type Timer = ReturnType<typeof setTimeout> & { ref?(): void; unref?(): void }

/**
 * What ends calls before they are done: the signal of whom they belong to, and time. The calls of a run follow one
 * another quickly and nearly all end by themselves. So they share one listener and one timer, which is set for the
 * first of them and looks, when it goes off, whose time is over.
 */
export class CallLimits {
  readonly signal: AbortSignal | undefined
  #keeps: boolean
  /** Who listens, and when the time of each is over by the monotonic clock. */
  readonly #open = new Map<Limited, number>()
  #listens = false
  #timer: Timer | undefined
  /** When the timer goes off. */
  #set = Infinity

  /** @param keeps whether further calls will come: listener and timer are kept until it is closed */
  constructor(signal: AbortSignal | undefined, keeps = false) {
    this.signal = signal
    this.#keeps = keeps
  }

  watch(limited: Limited): void {
    if (this.signal?.aborted === true) return limited.aborted()
    if (!this.#listens) this.signal?.addEventListener("abort", this.#abort, { once: true })
    this.#listens = true
    // Between calls there is nothing that the process should be kept alive for.
    if (this.#open.size === 0) this.#timer?.ref?.()
    const { timeoutMs } = limited
    const due = timeoutMs === undefined ? Infinity : performance.now() + delayOf(timeoutMs)
    this.#open.set(limited, due)
    if (due < this.#set) this.#setTimer(due)
  }

  /** To be called once the call has ended. */
  release(limited: Limited): void {
    this.#open.delete(limited)
    if (this.#open.size > 0) return
    if (this.#keeps) this.#timer?.unref?.()
    else this.close()
  }

  /** No further calls come: what was kept for them is given up with the last of those that are open. */
  letGo(): void {
    this.#keeps = false
    if (this.#open.size === 0) this.close()
  }

  /** Keeps nothing any more: neither a timer nor a listener. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#set = Infinity
    if (this.#listens) this.signal?.removeEventListener("abort", this.#abort)
    this.#listens = false
  }

  readonly #abort = (): void => {
    for (const limited of this.#open.keys()) limited.aborted()
  }

  #setTimer(due: number): void {
    clearTimeout(this.#timer)
    this.#set = due
    this.#timer = setTimeout(() => this.#look(), due - performance.now())
  }

  #look(): void {
    this.#timer = undefined
    this.#set = Infinity
    // A timer may go off within a millisecond before its time.
    const now = performance.now() + 1
    for (const [limited, due] of this.#open) {
      if (due > now) continue
      this.#open.set(limited, Infinity)
      limited.late?.()
    }
    const next = Math.min(...this.#open.values())
    if (next < Infinity) this.#setTimer(next)
  }
}

/** The longest delay that a timer can have (2³¹ − 1 ms, 24 days); a longer one would fire at once. */
const LONGEST_DELAY_MS = 2_147_483_647

function delayOf(timeoutMs: number): number {
  return timeoutMs < LONGEST_DELAY_MS ? timeoutMs : LONGEST_DELAY_MS
}
