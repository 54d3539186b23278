/** An id that sorts by time: the date and time, then a few random characters. */
export function newRunId(now: Date = new Date()): string {
  const stamp = now.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15)
  return `${stamp}-${crypto.randomUUID().slice(0, 6)}`
}
