import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "../database/database.ts"
import type { Execute, SqlValue, Statement } from "../database/driver.ts"
import { askedOf } from "./asked.ts"
import { tellWrite } from "./boundary.ts"
import { bodyDigest, linkHash, sha256 } from "./chain.ts"
import { valuesOf, type NewEvent, type PreparedEvent } from "./event.ts"
import {
  BEAT,
  BEGIN_RUN,
  END_RUN,
  INSERT_BODY,
  insertEvents,
  MOST_EVENTS,
  PUT_RUN,
  putEvents,
  RELEASE_RUN,
} from "./statements.ts"

/**
 * Bodies of more characters stand among the bodies, each once however often it occurs. An event has times and ids, so
 * it seldom occurs twice: to hash it once more and to look its hash up in an index costs more than to keep it where it
 * is.
 */
export const INLINE_CHARACTERS = 16 * 1024
/** Hashes of bodies that a writer remembers to have written. */
const MOST_REMEMBERED = 20_000

/**
 * Writes the events of one run, for whoever holds its claim. What is handed over in one go is written in one go or not
 * at all; the database refuses everything once the claim went elsewhere.
 */
export interface RunWriter {
  readonly run: string
  readonly database: Database
  readonly fence: number
  /** The number of the last event that was written. */
  readonly seq: number
  /** Hash of the last event that was written. */
  readonly head: string
  /**
   * @param also statements that take effect together with the events, or not at all
   * @returns the number of the last event
   * @throws ToolwrightError `STALE_RUN`, `LOG_UNWRITABLE`
   */
  append(events: readonly NewEvent[], also?: (execute: Execute) => Promise<void>): Promise<number>
  /** Keeps a text among the bodies, to be named by its hash in an event that is appended later. */
  keep(text: string): string
  /** Renews the claim. @throws ToolwrightError `STALE_RUN` */
  beat(now: number): Promise<void>
  /** Writes the last events and ends the run. @param also as of `append` */
  end(events: readonly NewEvent[], end: RunEnd, also?: (execute: Execute) => Promise<void>): Promise<void>
  /**
   * Puts a draft on record as a run that has ended, without waiting for it: see `Database.behind`.
   *
   * @param lost is told why it could not be written, where that is not thrown
   */
  endBehind(events: readonly NewEvent[], end: RunEnd, lost: (thrown: unknown) => void): Promise<void>
  /** Lets go of the run, which then waits for whoever claims it. */
  release(events?: readonly NewEvent[]): Promise<void>
}

/** How a run ended. */
export interface RunEnd {
  outcome: string
  summary: string
  time: number
}

/** What a writer goes on from. */
export interface WriterStart {
  run: string
  fence: number
  seq: number
  head: string
  /** Makes salts for the digests of bodies. */
  salt: () => string
  /** The run where it is not on record yet. */
  draft?: RunDraft
}

/**
 * A run that is on record with its first events: the values that its row begins with, who writes it, and since when.
 */
export interface RunDraft {
  head: readonly SqlValue[]
  holder: string
  time: number
}

/** @param wrote hears of each write, so that followers in this process need not wait */
export function writerOf(database: Database, start: WriterStart, wrote: () => void): RunWriter {
  return new ChainWriter(database, start, wrote)
}

/** Writes one after another: each event's hash holds the one before. */
class ChainWriter implements RunWriter {
  readonly run: string
  readonly fence: number
  readonly database: Database
  #seq: number
  #head: string
  readonly #wrote: () => void
  readonly #salt: () => string
  #draft: RunDraft | undefined
  readonly #bodies = new WaitingBodies()
  /** The last write that was asked for. */
  #turn: Promise<unknown> | undefined

  constructor(database: Database, { run, fence, seq, head, salt, draft }: WriterStart, wrote: () => void) {
    this.database = database
    this.run = run
    this.fence = fence
    this.#seq = seq
    this.#head = head
    this.#salt = salt
    this.#draft = draft
    this.#wrote = wrote
  }

  get seq(): number {
    return this.#seq
  }

  get head(): string {
    return this.#head
  }

  keep(text: string): string {
    return this.#bodies.keep(text)
  }

  append(events: readonly NewEvent[], also?: (execute: Execute) => Promise<void>): Promise<number> {
    return this.#inTurn(() => this.#write(events, also))
  }

  beat(now: number): Promise<void> {
    return this.#inTurn(() => this.#changeOne(this.database.execute, BEAT, [now, this.run, this.fence]))
  }

  end(events: readonly NewEvent[], end: RunEnd, also?: (execute: Execute) => Promise<void>): Promise<void> {
    const { outcome, summary, time } = end
    return this.#inTurn(async () => {
      const whole = this.#draft !== undefined && also === undefined && events.length <= MOST_EVENTS
      if (whole) return this.#put(this.#draft!, events, end)
      await this.#write(events, async (execute) => {
        await also?.(execute)
        await this.#changeOne(execute, END_RUN, [outcome, summary, time, this.run, this.fence])
      })
    })
  }

  async endBehind(events: readonly NewEvent[], end: RunEnd, lost: (thrown: unknown) => void): Promise<void> {
    const draft = this.#draft
    if (draft === undefined || this.#turn !== undefined || events.length > MOST_EVENTS) return this.end(events, end)
    // Nothing was written before it, so it waits for no turn.
    try {
      const { last, statements } = this.#whole(draft, events, end)
      await this.database.behind(statements, (thrown) => lost(unwritable(this.run, thrown)))
      this.#draft = undefined
      this.#went(last)
    } catch (thrown) {
      throw unwritable(this.run, thrown)
    }
  }

  release(events: readonly NewEvent[] = []): Promise<void> {
    return this.#inTurn(async () => {
      await this.#write(events, (execute) => this.#changeOne(execute, RELEASE_RUN, [this.run, this.fence]))
    })
  }

  async #write(events: readonly NewEvent[], also?: (execute: Execute) => Promise<void>): Promise<number> {
    const prepared = this.#prepare(events)
    const last = prepared.at(-1)
    if (last !== undefined) tellWrite("before", this.run, last.seq)
    const draft = this.#draft
    if (draft === undefined && this.#bodies.waiting === 0 && also === undefined && prepared.length <= MOST_EVENTS) {
      if (last !== undefined) await this.#insert(this.database.execute, prepared)
    } else {
      await this.database.transaction(async (execute) => {
        if (draft !== undefined) await this.#begin(execute, draft)
        for (const { sql, values } of this.#bodies.statements()) await execute(sql, values)
        await this.#insert(execute, prepared)
        await also?.(execute)
      })
      this.#bodies.written()
      this.#draft = undefined
    }
    this.#went(last)
    return this.#seq
  }

  #went(last: PreparedEvent | undefined): void {
    if (last === undefined) return
    this.#seq = last.seq
    this.#head = last.hash
    tellWrite("after", this.run, last.seq)
    this.#wrote()
  }

  async #begin(execute: Execute, { head, holder, time }: RunDraft): Promise<void> {
    const { rows } = await execute<{ fence: number }>(BEGIN_RUN, [
      ...head,
      holder,
      time,
      null,
      null,
      time,
      ...askedOf({}),
    ])
    if (rows[0]?.fence !== this.fence) throw stale(this.run)
  }

  async #put(draft: RunDraft, events: readonly NewEvent[], end: RunEnd): Promise<void> {
    const { last, statements } = this.#whole(draft, events, end)
    await this.database.shared(async (execute) => {
      for (const { sql, values, changes } of statements)
        if ((await execute(sql, values)).changed !== changes && changes !== undefined) throw stale(this.run)
    })
    this.#bodies.written()
    this.#draft = undefined
    this.#went(last)
  }

  /** The whole run: nobody else can hold what is not there before, so nothing has to be asked. */
  #whole({ head, holder, time: began }: RunDraft, events: readonly NewEvent[], end: RunEnd) {
    const prepared = this.#prepare(events)
    const last = prepared.at(-1)
    if (last !== undefined) tellWrite("before", this.run, last.seq)
    const row = [...head, holder, began, end.outcome, end.summary, end.time]
    const statements: Statement[] = [{ sql: PUT_RUN, values: row, changes: 1 }, ...this.#bodies.statements()]
    const values = prepared.flatMap((event) => [this.run, ...valuesOf(event)])
    if (last !== undefined) statements.push({ sql: putEvents(prepared.length), values })
    return { last, statements }
  }

  #prepare(events: readonly NewEvent[]): PreparedEvent[] {
    const { run, fence } = this
    let [number, previous] = [this.#seq, this.#head]
    return events.map(({ type, body, time }) => {
      const salt = this.#salt()
      const large = body.length > INLINE_CHARACTERS
      const bodyRef = large ? this.keep(body) : null
      number++
      previous = linkHash(previous, { run, seq: number, type, time, fence, digest: bodyDigest(salt, body) })
      return { seq: number, type, time, body: large ? null : body, bodyRef, salt, hash: previous }
    })
  }

  async #insert(execute: Execute, events: readonly PreparedEvent[]): Promise<void> {
    for (let from = 0; from < events.length; from += MOST_EVENTS) {
      const part = events.slice(from, from + MOST_EVENTS)
      const values: SqlValue[] = [...part.flatMap(valuesOf), this.run, this.fence]
      const { changed } = await execute(insertEvents(part.length, this.database.dialect), values)
      if (changed !== part.length) throw stale(this.run)
    }
  }

  async #changeOne(execute: Execute, sql: string, values: readonly SqlValue[]): Promise<void> {
    if ((await execute(sql, values)).changed !== 1) throw stale(this.run)
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = (this.#turn ?? Promise.resolve()).then(work).catch((thrown: unknown) => {
      throw unwritable(this.run, thrown)
    })
    this.#turn = next.catch(() => {})
    return next
  }
}

/** Bodies that wait for the event that names them, and the hashes of those that a writer has written. */
class WaitingBodies {
  readonly #written = new Set<string>()
  readonly #waiting = new Map<string, string>()

  get waiting(): number {
    return this.#waiting.size
  }

  keep(text: string): string {
    const hash = sha256(text)
    if (!this.#written.has(hash)) this.#waiting.set(hash, text)
    return hash
  }

  statements(): Statement[] {
    const now = Date.now()
    return Array.from(this.#waiting, ([hash, content]) => ({
      sql: INSERT_BODY,
      values: [hash, content, Buffer.byteLength(content), now],
    }))
  }

  /** What waits is in the database now. */
  written(): void {
    if (this.#written.size + this.#waiting.size > MOST_REMEMBERED) this.#written.clear()
    for (const hash of this.#waiting.keys()) this.#written.add(hash)
    this.#waiting.clear()
  }
}

function stale(run: string): ToolwrightError {
  return new ToolwrightError(
    "STALE_RUN",
    `The run ${run} is held by somebody else, or has ended: nothing was written.`,
    {
      hint: "Another process has taken it over. Stop this one.",
    },
  )
}

/** What the database says when a run cannot be written down, in our words. */
export function unwritable(run: string, thrown: unknown): unknown {
  if (ToolwrightError.isInstance(thrown)) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new ToolwrightError("LOG_UNWRITABLE", `The log of the run ${run} cannot be written: ${message}`, {
    cause: thrown,
    hint: /full/i.test(message)
      ? "The disk is full. Make room; 'toolwright resume' then goes on from the last step that was written."
      : "See that the database can be reached and written, then go on with 'toolwright resume'.",
  })
}
