import { useEffect, useState, useSyncExternalStore } from "react"
import { ApiError, get, onToken, stream } from "../lib/api.ts"
import type { EventDigest, EventPage, RunDigest } from "../runs/data.ts"
import { RowBuilder } from "./rows.ts"

/** What comes first fits a screen some times over; a page ends earlier where its events are large. */
const FIRST = 200
const NEXT = 20_000
const PAUSE_MS = 700

/**
 * The events of a run: those that are there by ranges, then those that come. Goes on by itself where the server was
 * away.
 */
export class RunEvents {
  readonly builder = new RowBuilder()
  loading = true
  live = false
  away = false
  problem: unknown
  run: RunDigest | undefined
  #last = 0
  #busy = false
  #snapshot = {}
  readonly #id: string
  readonly #listeners = new Set<() => void>()
  readonly #stop = new AbortController()
  readonly #leave: () => void

  constructor(id: string) {
    this.#id = id
    // With another token it may be shown.
    this.#leave = onToken(() => {
      if (this.problem !== undefined) this.again()
    })
  }

  /** The number of the last event that is here. */
  get last(): number {
    return this.#last
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  snapshot = (): object => this.#snapshot

  close(): void {
    this.#leave()
    this.#stop.abort()
  }

  /** Looks again at a run that waited and goes on now, or that could not be shown. */
  again(): void {
    if (this.#busy) return
    this.problem = undefined
    this.#tell()
    void this.start()
  }

  async start(): Promise<void> {
    this.#busy = true
    await this.#run().finally(() => (this.#busy = false))
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#read(signal)
        await this.#follow(signal)
        return
      } catch (thrown) {
        if (signal.aborted) return
        this.away = !(thrown instanceof ApiError)
        this.problem = this.away ? undefined : thrown
        this.loading = false
        this.#tell()
        if (!this.away) return
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    for (let more = true; more;) {
      const limit = this.#last === 0 ? FIRST : NEXT
      const page = await get<EventPage>(
        `runs/${encodeURIComponent(this.#id)}/events?after=${this.#last}&limit=${limit}`,
        signal,
      )
      this.#add(page.events)
      more = page.more
      this.loading = more
      this.away = false
      this.#tell()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.live = true
    let waiting: EventDigest[] = []
    let timer: number | undefined
    const flush = (): void => {
      timer = undefined
      this.#add(waiting)
      waiting = []
      this.#tell()
    }
    try {
      const headers = { "last-event-id": String(this.#last) }
      for await (const { event, data } of stream(`runs/${encodeURIComponent(this.#id)}/stream`, { signal, headers })) {
        if (event === "event") waiting.push(JSON.parse(data) as EventDigest)
        else if (event === "run") {
          this.run = JSON.parse(data) as RunDigest
          this.live = false
        }
        // What comes within a frame is shown together.
        timer ??= requestAnimationFrame(flush)
      }
    } finally {
      if (timer !== undefined) cancelAnimationFrame(timer)
      flush()
    }
    if (this.live && !signal.aborted) throw new TypeError("The stream ended before the run did.")
  }

  #add(events: readonly EventDigest[]): void {
    const fresh = events.filter(({ seq }) => seq > this.#last)
    if (fresh.length === 0) return
    this.#last = fresh.at(-1)!.seq
    this.builder.add(fresh)
  }

  #tell(): void {
    this.#snapshot = {}
    for (const listener of this.#listeners) listener()
  }
}

export function useRunEvents(id: string): RunEvents {
  const [events, setEvents] = useState(() => new RunEvents(id))
  useEffect(() => {
    const store = new RunEvents(id)
    setEvents(store)
    void store.start()
    return () => store.close()
  }, [id])
  useSyncExternalStore(events.subscribe, events.snapshot)
  return events
}
