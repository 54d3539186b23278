/** The longest time that a timer takes, in milliseconds. */
const LONGEST = 2 ** 31 - 1

/**
 * Waits, and keeps the process alive meanwhile. `Infinity` waits until cancelled.
 *
 * @throws the signal's reason, at once when it is aborted
 */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const timer = Number.isFinite(milliseconds)
      ? setTimeout(done, Math.min(milliseconds, LONGEST))
      : setInterval(() => {}, LONGEST)
    signal?.addEventListener("abort", done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      if (signal?.aborted === true) reject(signal.reason)
      else resolve()
    }
  })
}
