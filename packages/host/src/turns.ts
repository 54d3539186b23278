/** Milliseconds for which nobody else has a turn. */
const SLICE_MS = 8

/**
 * For work that goes through many entries without waiting for any: lets other work, and cancellation, have its turn
 * every few milliseconds.
 *
 * @returns to be called for each entry; a promise only where somebody else's turn has come
 */
export function createTurns(): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + SLICE_MS
  return () => {
    if (performance.now() <= sliceEnd) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        sliceEnd = performance.now() + SLICE_MS
        resolve()
      })
    })
  }
}
