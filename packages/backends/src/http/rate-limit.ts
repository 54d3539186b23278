/**
 * How long a server wants to be left alone, in milliseconds, from the headers of its response: `retry-after-ms`,
 * `retry-after` (seconds or a date, RFC 9110 section 10.2.3), and the times at which exhausted limits are reset
 * (`x-ratelimit-reset-*`, `ratelimit-reset`, `anthropic-ratelimit-*-reset`). Nothing where it does not say.
 */
export function askedWait(headers: Headers, now: number = Date.now()): number | undefined {
  const exact = numberIn(headers.get("retry-after-ms"))
  if (exact !== undefined) return exact
  const after = headers.get("retry-after")
  const seconds = numberIn(after)
  if (seconds !== undefined) return seconds * 1000
  const date = after === null ? Number.NaN : Date.parse(after)
  if (!Number.isNaN(date)) return Math.max(0, date - (Date.parse(headers.get("date") ?? "") || now))
  return resetIn(headers, now)
}

/** Until the last of the limits is reset that say that nothing is left of them, or that say nothing of it. */
function resetIn(headers: Headers, now: number): number | undefined {
  const waits: number[] = []
  headers.forEach((value, name) => {
    if (!/ratelimit(-\w+)*-reset(-|$)/.test(name)) return
    const left = numberIn(headers.get(name.replace("reset", "remaining")))
    const wait = left === undefined || left <= 0 ? durationOf(value, now) : undefined
    if (wait !== undefined) waits.push(wait)
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `1m30.5s`, `20ms`, seconds from now, seconds or milliseconds since 1970, or a date. */
function durationOf(value: string, now: number): number | undefined {
  const plain = numberIn(value)
  if (plain !== undefined)
    return plain > 1e11 ? Math.max(0, plain - now) : plain > 1e9 ? Math.max(0, plain * 1000 - now) : plain * 1000
  const text = value.trim()
  if (text.length < 40 && /^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0)
  }
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function numberIn(value: string | null): number | undefined {
  return value !== null && /^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(value) ? Number(value) : undefined
}
