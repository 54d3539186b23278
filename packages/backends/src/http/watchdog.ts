import { timedOut, type FailureContext } from "../failures.ts"

/** How long a server is waited for, in milliseconds. */
export interface Patience {
  /** Without any byte. */
  stallMs: number
  /** For all of one reply. */
  replyMs: number
}

/**
 * Ends a request that takes too long. Time in which its reader does something else does not count. One timer serves all
 * the waits of a request: a reply has one for each token.
 */
export class Watchdog {
  /** Ends what waits for the server; called once. */
  onAbort: (() => void) | undefined
  readonly #patience: Patience
  readonly #context: FailureContext
  readonly #caller: AbortSignal | undefined
  readonly #byCaller = (): void => this.#abort()
  #forFetch: AbortController | undefined
  #late = false
  #waited = 0
  #since: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(patience: Patience, context: FailureContext, caller: AbortSignal | undefined) {
    this.#patience = patience
    this.#context = context
    this.#caller = caller
    caller?.addEventListener("abort", this.#byCaller, { once: true })
  }

  get aborted(): boolean {
    return this.#late || this.#caller?.aborted === true
  }

  /** For `fetch`: aborted by the caller, or when the time is over. */
  get signal(): AbortSignal {
    this.#forFetch ??= new AbortController()
    if (this.aborted) this.#forFetch.abort()
    return this.#forFetch.signal
  }

  /** Waits for the server. */
  async wait<Value>(server: Promise<Value>): Promise<Value> {
    this.#since = performance.now()
    if (this.#timer === undefined) this.#arm(this.#left())
    try {
      return await server
    } finally {
      this.#waited += performance.now() - this.#since
      this.#since = undefined
    }
  }

  /** The failure for an abort: the caller's own reason, or that the time was over. */
  failure(): unknown {
    if (this.#caller?.aborted === true) return this.#caller.reason
    const { stallMs, replyMs } = this.#patience
    const said =
      this.#waited >= replyMs
        ? `did not end its reply within ${inSeconds(replyMs)} seconds`
        : `sent nothing for ${inSeconds(stallMs)} seconds`
    return timedOut(`The model server at ${this.#context.url} ${said}.`)
  }

  /** Nothing is waited for any more. */
  rest(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#caller?.removeEventListener("abort", this.#byCaller)
    this.onAbort = undefined
  }

  #left(): number {
    return Math.max(0, Math.min(this.#patience.stallMs, this.#patience.replyMs - this.#waited))
  }

  #arm(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#look(), milliseconds)
  }

  /** The time of the wait that the timer was set for is over: another may have begun since, or none. */
  #look(): void {
    this.#timer = undefined
    if (this.#since === undefined) return
    const left = this.#left() - (performance.now() - this.#since)
    if (left > 0) return this.#arm(left)
    this.#waited += performance.now() - this.#since
    this.#since = performance.now()
    this.#late = true
    this.#abort()
  }

  #abort(): void {
    this.#forFetch?.abort()
    this.onAbort?.()
    this.onAbort = undefined
  }
}

export function inSeconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10
}
