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
    const ended = work.then(
      () => (done = true),
      () => (done = true),
    )
    while (true) {
      const events = this.#buffer
      this.#buffer = []
      yield* events
      if (this.#buffer.length > 0) continue
      if (done) return await work
      await Promise.race([ended, new Promise<void>((resolve) => (this.#wake = resolve))])
    }
  }
}
