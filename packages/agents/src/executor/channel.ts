/** Events that arrive while work is under way, to be passed on as they come. */
export class Channel<Event> {
  #buffer: Event[] = []
  #wake: (() => void) | undefined

  push(event: Event): void {
    this.#buffer.push(event)
    this.#wake?.()
  }

  /** Yields what is pushed until the work is done, then what is left; returns the work's result or throws its error. */
  async *until<Result>(work: Promise<Result>): AsyncGenerator<Event, Result> {
    let done = false
    const finish = (): void => {
      done = true
      this.#wake?.()
    }
    work.then(finish, finish)
    while (true) {
      const events = this.#buffer
      this.#buffer = []
      // Not `yield*`, which would wait for each of them once more.
      for (const event of events) yield event
      if (this.#buffer.length > 0) continue
      if (done) return await work
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
