import type { Writable } from "node:stream"

/** Bytes of answers that may wait for their reader before nothing more is begun. */
const MOST_BYTES = 4 * 1024 * 1024
/** Answers of the protocol's library that may wait: however short, each keeps some kilobytes. */
const MOST_ANSWERS = 2000
/** It was read, or nobody will read it. */
const ENDS_OF_WAITING = ["drain", "close", "error"] as const

/** What waits in this process for a host to read it. */
export class Unread {
  readonly #output: Writable
  readonly #waiting = new Set<() => void>()
  #onRoom: (() => void) | undefined

  constructor(output: Writable) {
    this.#output = output
    // The protocol's library listens once for each answer that waits, and many may.
    output.setMaxListeners(0)
    for (const event of ENDS_OF_WAITING) output.on(event, this.#wake)
  }

  /** Whether so much waits that nothing more should come. */
  get isFull(): boolean {
    const output = this.#output
    return output.writable && (output.writableLength > MOST_BYTES || output.listenerCount("drain") > MOST_ANSWERS)
  }

  /** Waits until there is room again, or for the signal; for nothing where there is room. */
  room(signal: AbortSignal): Promise<void> | undefined {
    if (!this.isFull || signal.aborted) return undefined
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.delete(leave)
        signal.removeEventListener("abort", leave)
        resolve()
      }
      this.#waiting.add(leave)
      signal.addEventListener("abort", leave, { once: true })
    })
  }

  /** Calls back each time when there is room again. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener
  }

  readonly #wake = (): void => {
    for (const leave of this.#waiting) leave()
    this.#onRoom?.()
  }

  /** Listens no more, and holds nobody up. */
  close(): void {
    for (const event of ENDS_OF_WAITING) this.#output.off(event, this.#wake)
    this.#onRoom = undefined
    this.#wake()
  }
}
