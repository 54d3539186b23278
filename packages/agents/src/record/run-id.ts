import { randomUUID } from "node:crypto"

/**
 * An id that sorts by time: the date and time, then random characters. There are so many of these because each call of
 * a server has an id too, thousands in a second: with six, two of them were the same every few minutes, and the later
 * call could not be put on record.
 */
export function newRunId(now: Date = new Date()): string {
  // Each part with its zeros before it; to write the whole date out as a text takes longer than all else here.
  const date = 1e8 + now.getUTCFullYear() * 1e4 + (now.getUTCMonth() + 1) * 100 + now.getUTCDate()
  const time = 1e6 + now.getUTCHours() * 1e4 + now.getUTCMinutes() * 100 + now.getUTCSeconds()
  return `${String(date).slice(1)}-${String(time).slice(1)}-${randomUUID().slice(-12)}`
}
