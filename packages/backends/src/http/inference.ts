import type { InferEvent } from "../model/backend.ts"
import type { ReplyReading } from "./reply-events.ts"
import { createRetries, Retryable } from "./retry.ts"

/** How a request is put to a server, and put again. */
export interface Tries {
  /** @throws Retryable, or what cannot be cured by trying again */
  ask(body: string, signal: AbortSignal | undefined): Promise<ReplyReading>
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  delaysMs: readonly number[]
  busyMs: number
}

/**
 * One request with its retries, and the events of its reply. An iterator by hand: a reply has an event for each token,
 * and each of them would pass through generator after generator.
 */
export class Inference implements AsyncIterableIterator<InferEvent> {
  readonly #write: () => string
  readonly #tries: Tries
  readonly #signal: AbortSignal | undefined
  readonly #retries: ReturnType<typeof createRetries>
  #body: string | undefined
  #reading: ReplyReading | undefined
  #events: readonly InferEvent[] = []
  #at = 0
  #over = false
  /** Something of the reply was told: it cannot be asked for again. */
  #passedOn = false
  #wait: number | undefined

  constructor(write: () => string, tries: Tries, signal: AbortSignal | undefined) {
    this.#write = write
    this.#tries = tries
    this.#signal = signal
    this.#retries = createRetries(tries)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<InferEvent>> {
    while (this.#at === this.#events.length) {
      if (this.#over) return { done: true, value: undefined }
      try {
        await this.#more()
      } catch (thrown) {
        // Who leaves while the server is waited for has had the end of it.
        if (this.#over) continue
        this.#leave()
        throw thrown
      }
    }
    return { done: false, value: this.#events[this.#at++]! }
  }

  return(): Promise<IteratorResult<InferEvent>> {
    this.#leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  #leave(): void {
    this.#over = true
    this.#events = []
    this.#at = 0
    this.#close()
  }

  #close(): void {
    this.#reading?.leave()
    this.#reading = undefined
  }

  async #more(): Promise<void> {
    this.#at = 0
    this.#events = []
    if (this.#wait !== undefined) await this.#tries.sleep(this.#wait, this.#signal)
    this.#wait = undefined
    this.#signal?.throwIfAborted()
    this.#body ??= this.#write()
    try {
      this.#reading ??= await this.#tries.ask(this.#body, this.#signal)
      const events = this.#over ? undefined : await this.#reading.next()
      if (events === undefined) this.#leave()
      else this.#tell(events)
    } catch (thrown) {
      if (!(thrown instanceof Retryable) || this.#over) throw thrown
      if (this.#passedOn) throw thrown.failure
      this.#close()
      const wait = this.#retries.after(thrown)
      this.#wait = wait.delayMs
      this.#events = [{ type: "retry", ...wait, code: thrown.failure.code }]
    }
  }

  #tell(events: readonly InferEvent[]): void {
    // One that has been left meanwhile tells nothing more.
    if (this.#over) return this.#close()
    this.#passedOn = true
    this.#events = events
  }
}
