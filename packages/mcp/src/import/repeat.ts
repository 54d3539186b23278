/** Milliseconds between two readings that a server asks for. */
const PAUSE_MS = 1000

/** Does something when asked, one at a time and with a pause after it, however often it is asked in the meantime. */
export class Coalesced {
  readonly #work: () => Promise<void>
  #state: "idle" | "busy" | "wanted" = "idle"
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  ask(): void {
    if (this.#state !== "idle") this.#state = "wanted"
    else void this.#run()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#state = "busy"
  }

  async #run(): Promise<void> {
    this.#state = "busy"
    await this.#work()
    this.#timer = setTimeout(() => {
      const again = this.#state === "wanted"
      this.#state = "idle"
      if (again) void this.#run()
    }, PAUSE_MS)
    this.#timer.unref()
  }
}
