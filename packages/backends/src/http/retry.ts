import { ToolwrightError } from "@toolwright/toolbox"

/** A failure after which the same request may be tried again: the connection failed, or the server did. */
export class Retryable {
  readonly failure: ToolwrightError
  readonly reason: string
  /** The server said that it takes no more requests for now; `askedMs` is for how long, where it said that too. */
  readonly busy: { askedMs: number | undefined } | undefined

  constructor(failure: ToolwrightError, reason: string, busy?: { askedMs: number | undefined }) {
    this.failure = failure
    this.reason = reason
    this.busy = busy
  }
}

/** When a request is tried again. */
export interface RetrySettings {
  /** Milliseconds before each retry after a failure; their number is the number of retries. */
  delaysMs: readonly number[]
  /** Milliseconds that a busy server is waited for, all waits of one request together. */
  busyMs: number
}

/** One wait before the next try. */
export interface Wait {
  attempt: number
  delayMs: number
  reason: string
}

/** A busy server is asked so often, whatever it says. */
const MOST_BUSY_TRIES = 8
const SHORTEST_WAIT = 100
const LONGEST_BACK_OFF = 30_000

/**
 * Decides how long to wait after each failure of one request. A busy server is waited for as long as it asks, or twice
 * as long each time where it does not say; other failures have their own delays.
 */
export function createRetries({ delaysMs, busyMs }: RetrySettings): { after(thrown: Retryable): Wait } {
  let failures = 0
  let busyTries = 0
  let waited = 0
  return {
    /** @throws ToolwrightError the failure itself, when nothing is to be hoped for from another try */
    after({ failure, reason, busy }) {
      const attempt = failures + busyTries + 1
      if (busy === undefined) {
        const delayMs = delaysMs[failures++]
        if (delayMs === undefined) throw failure
        return { attempt, delayMs, reason }
      }
      const backOff = Math.min(LONGEST_BACK_OFF, 1000 * 2 ** busyTries++)
      const delayMs = Math.max(SHORTEST_WAIT, Math.ceil(busy.askedMs ?? backOff))
      if (busyTries > MOST_BUSY_TRIES) throw failure
      if (waited + delayMs > busyMs) throw tooLongAWait(failure, delayMs, busyMs)
      waited += delayMs
      return { attempt, delayMs, reason }
    },
  }
}

function tooLongAWait(failure: ToolwrightError, delayMs: number, busyMs: number): ToolwrightError {
  const asked =
    `The next try would be in ${Math.ceil(delayMs / 1000)} seconds; all waits together may take ` +
    `${Math.round(busyMs / 1000)}.`
  return new ToolwrightError(failure.code, `${failure.message} ${asked}`, {
    cause: failure,
    hint: failure.hint ?? "Try again later.",
    retryAfterMs: delayMs,
  })
}
