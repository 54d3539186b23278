/** Lets work be done a few at a time, in its order. */
export class Turns {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Waits for a turn, to be given back afterwards. @returns whether there is one; there is none once the signal is
   * aborted
   */
  take(signal: AbortSignal): Promise<boolean> | boolean {
    if (signal.aborted) return false
    if (this.#taken < this.#most) {
      this.#taken++
      return true
    }
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener("abort", leave)
        resolve(true)
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        resolve(false)
      }
      this.#waiting.push(go)
      signal.addEventListener("abort", leave, { once: true })
    })
  }

  /** Gives a turn back, to who waits longest. */
  give(): void {
    const following = this.#waiting.shift()
    if (following === undefined) this.#taken--
    else following()
  }
}
