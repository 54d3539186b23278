import { setTimeout as sleep } from "node:timers/promises"
import { ToolwrightError } from "@toolwright/toolbox"

/** What a network or a server that starts answers; a wrong password or a database that does not exist stays so. */
const AWAY = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
  // It starts, shuts down, or has crashed; it has no room for one more.
  "57P01",
  "57P02",
  "57P03",
  "53300",
])
/** What the driver says in words alone. */
const AWAY_WORDS = /timeout|terminated unexpectedly|ended unexpectedly/i
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/** How {@link onceThere} waits. */
export interface OnceThereOptions {
  signal: AbortSignal
  /** Told once why it waits, and once that it goes on. */
  log(line: string): void
}

/**
 * Opens what stands on a database's server, and waits while that is away: whoever starts workers and the server
 * together need not start them in order.
 *
 * @throws ToolwrightError what `open` throws where waiting does not help, or the signal was aborted
 */
export async function onceThere<Opened>(
  open: () => Promise<Opened>,
  { signal, log }: OnceThereOptions,
): Promise<Opened> {
  let waited = false
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      const opened = await open()
      if (waited) log("The database is there.")
      return opened
    } catch (thrown) {
      if (!isAway(thrown) || signal.aborted) throw thrown
      if (!waited) log(`${(thrown as ToolwrightError).message} It is tried again until it is there; Ctrl-C stops.`)
      waited = true
      await sleep(pause, undefined, { signal }).catch(() => {})
      if (signal.aborted) throw thrown
    }
  }
}

function isAway(thrown: unknown): boolean {
  if (!ToolwrightError.isInstance(thrown) || thrown.code !== "DATABASE_UNAVAILABLE") return false
  const said = (cause: unknown): boolean => {
    if (!(cause instanceof Error)) return false
    const { code } = cause as { code?: unknown }
    if (cause instanceof AggregateError && cause.errors.some(said)) return true
    return AWAY.has(String(code)) || (code === undefined && AWAY_WORDS.test(cause.message))
  }
  return said(thrown.cause)
}
