import { setImmediate, setTimeout } from "node:timers/promises"

/** Milliseconds in which what was typed before a question arrives. */
const TYPED_AHEAD_MS = 50

/**
 * Waits until what was typed before a question has been read: a line that was there is no answer to it. A process that
 * was held up for that time comes to its timers first, and to what was typed after them; that is read before this ends.
 */
export async function untilTypedIsRead(signal: AbortSignal): Promise<void> {
  await setTimeout(TYPED_AHEAD_MS, undefined, { signal })
  await setImmediate(undefined, { signal })
}
