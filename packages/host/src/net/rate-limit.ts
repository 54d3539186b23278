import { NetworkError } from "./network-error.ts"

const WINDOW_MS = 60_000
const MAX_HOSTS = 1000

/**
 * A limiter that lets `perMinute` requests a host through in any 60 seconds.
 *
 * @returns a function to call before each request; it throws a retryable `RATE_LIMITED` that says how long to wait
 */
export function createRateLimiter(perMinute: number, now: () => number): (host: string) => void {
  const recent = new Map<string, number[]>()
  return (host) => {
    const time = now()
    const times = (recent.get(host) ?? []).filter((earlier) => time - earlier < WINDOW_MS)
    if (times.length >= perMinute) {
      const waitMs = WINDOW_MS - (time - (times[0] ?? time))
      throw new NetworkError(
        "RATE_LIMITED",
        `More than ${perMinute} requests to ${host} within a minute; the next is allowed in ` +
          `${Math.ceil(waitMs / 1000)} s.`,
        { retryable: true, details: { host, retryAfterMs: waitMs } },
      )
    }
    times.push(time)
    recent.delete(host)
    recent.set(host, times)
    if (recent.size > MAX_HOSTS) recent.delete(recent.keys().next().value as string)
  }
}
