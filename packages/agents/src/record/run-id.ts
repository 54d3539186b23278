/**
 * An id that sorts by time: the date and time, then random characters. There are so many of these because each call of
 * a server has an id too, thousands in a second: with six, two of them were the same every few minutes, and the later
 * call could not be put on record.
 */
export function newRunId(now: Date = new Date()): string {
  const iso = now.toISOString()
  const date = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10)
  const time = iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19)
  return `${date}-${time}-${crypto.randomUUID().slice(-12)}`
}
