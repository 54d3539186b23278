/** What a step brought; the last one has the result. */
export interface Taken<Event, Result> {
  readonly events: readonly Event[]
  readonly result?: { readonly value: Result }
}

/** Work that is done step by step, by whoever pulls it. */
export interface Steps<Event, Result> {
  /** A promise only where somebody has to be waited for. */
  next(): Taken<Event, Result> | Promise<Taken<Event, Result>>
  /** Ends what is under way: called once, before the generator is over. */
  close(): Promise<void>
}

/**
 * The generator of the events of some steps. Nothing is begun before the first `next`, and no step is made before the
 * events of the one before were taken.
 *
 * It is written out, and not an `async function*`: there each event passes three promises and here one, and a run has
 * some ten events in a round. As with every generator, what is called while something is under way waits for it.
 */
export class Stepwise<Event, Result> implements AsyncGenerator<Event, Result> {
  readonly #begin: () => Steps<Event, Result>
  #steps: Steps<Event, Result> | undefined
  #events: readonly Event[] = []
  /** How many of the events were taken. */
  #taken = 0
  #result: Taken<Event, Result>["result"]
  #over = false
  #busy: Promise<void> | undefined

  constructor(begin: () => Steps<Event, Result>) {
    this.#begin = begin
  }

  next(): Promise<IteratorResult<Event, Result>> {
    if (this.#busy !== undefined) return this.#busy.then(() => this.next())
    return this.#taken < this.#events.length ? Promise.resolve(this.#told()) : this.#alone(this.#more())
  }

  return(value: Result | PromiseLike<Result>): Promise<IteratorResult<Event, Result>> {
    if (this.#busy !== undefined) return this.#busy.then(() => this.return(value))
    return this.#alone(this.#end().then(async () => ({ done: true, value: await value })))
  }

  throw(thrown: unknown): Promise<IteratorResult<Event, Result>> {
    if (this.#busy !== undefined) return this.#busy.then(() => this.throw(thrown))
    return this.#alone(this.#end().then(() => Promise.reject(thrown)))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined as never)
  }

  /** Keeps others waiting until this is done. */
  #alone(work: Promise<IteratorResult<Event, Result>>): Promise<IteratorResult<Event, Result>> {
    const free = (): void => {
      this.#busy = undefined
    }
    this.#busy = work.then(free, free)
    return work
  }

  #told(): IteratorResult<Event, Result> {
    return { done: false, value: this.#events[this.#taken++]! }
  }

  async #more(): Promise<IteratorResult<Event, Result>> {
    if (this.#over) return { done: true, value: undefined as never }
    try {
      while (this.#result === undefined) {
        const step = (this.#steps ??= this.#begin()).next()
        const { events, result } = step instanceof Promise ? await step : step
        this.#events = events
        this.#taken = 0
        this.#result = result
        if (events.length > 0) return this.#told()
      }
    } catch (thrown) {
      await this.#end()
      throw thrown
    }
    await this.#end()
    return { done: true, value: this.#result.value }
  }

  async #end(): Promise<void> {
    this.#over = true
    const steps = this.#steps
    this.#steps = undefined
    this.#events = []
    await steps?.close()
  }
}
