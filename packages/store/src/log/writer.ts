import { ToolwrightError } from "@toolwright/toolbox"
import type { Database } from "../database/database.ts"
import type { Execute, SqlValue } from "../database/driver.ts"
import { bodyDigest, linkHash, saltMaker, sha256 } from "./chain.ts"
import { valuesOf, type NewEvent, type PreparedEvent } from "./event.ts"
import { BEAT, END_RUN, INSERT_BODY, insertEvents, MOST_EVENTS, RELEASE_RUN } from "./statements.ts"

/** Bodies of more characters stand among the bodies, each once however often it occurs. */
export const INLINE_CHARACTERS = 1024
/** Hashes of bodies that a writer remembers to have written. */
const MOST_REMEMBERED = 20_000

/**
 * Writes the events of one run, for whoever holds its claim. What is handed over in one go is written in one go or not at
 * all; the database refuses everything once the claim went elsewhere.
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
  /** Writes the last events and ends the run. */
  end(events: readonly NewEvent[], end: { outcome: string; summary: string; time: number }): Promise<void>
  /** Lets go of the run, which then waits for whoever claims it. */
  release(events?: readonly NewEvent[]): Promise<void>
}

/** What a writer goes on from. */
export interface WriterStart {
  run: string
  fence: number
  seq: number
  head: string
}

/** @param wrote hears of each write, so that followers in this process need not wait */
export function writerOf(database: Database, start: WriterStart, wrote: () => void): RunWriter {
  const { run, fence } = start
  let { seq, head } = start
  const salt = saltMaker()
  const written = new Set<string>()
  /** Bodies that wait for the event that names them. */
  const waiting = new Map<string, string>()
  let turn: Promise<unknown> = Promise.resolve()

  function keep(text: string): string {
    const hash = sha256(text)
    if (!written.has(hash)) waiting.set(hash, text)
    return hash
  }

  function prepare(events: readonly NewEvent[]): PreparedEvent[] {
    let [number, previous] = [seq, head]
    return events.map(({ type, body, time }) => {
      const own = salt()
      const large = body.length > INLINE_CHARACTERS
      const bodyRef = large ? keep(body) : null
      number++
      previous = linkHash(previous, { run, seq: number, type, time, fence, digest: bodyDigest(own, body) })
      return { seq: number, type, time, body: large ? null : body, bodyRef, salt: own, hash: previous }
    })
  }

  async function insert(execute: Execute, events: readonly PreparedEvent[]): Promise<void> {
    for (let from = 0; from < events.length; from += MOST_EVENTS) {
      const part = events.slice(from, from + MOST_EVENTS)
      const values: SqlValue[] = [...part.flatMap(valuesOf), run, fence]
      const { changed } = await execute(insertEvents(part.length, database.dialect), values)
      if (changed !== part.length) throw stale(run)
    }
  }

  async function insertBodies(execute: Execute): Promise<void> {
    const now = Date.now()
    for (const [hash, content] of waiting) await execute(INSERT_BODY, [hash, content, Buffer.byteLength(content), now])
  }

  async function write(events: readonly NewEvent[], also?: (execute: Execute) => Promise<void>): Promise<number> {
    const prepared = prepare(events)
    const last = prepared.at(-1)
    if (waiting.size === 0 && also === undefined && prepared.length <= MOST_EVENTS) {
      if (last !== undefined) await insert(database.execute, prepared)
    } else {
      await database.transaction(async (execute) => {
        await insertBodies(execute)
        await insert(execute, prepared)
        await also?.(execute)
      })
      if (written.size + waiting.size > MOST_REMEMBERED) written.clear()
      for (const hash of waiting.keys()) written.add(hash)
      waiting.clear()
    }
    if (last !== undefined) {
      seq = last.seq
      head = last.hash
      wrote()
    }
    return seq
  }

  /** One after another: each event's hash holds the one before. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = turn.then(work).catch((thrown: unknown) => {
      throw readable(run, thrown)
    })
    turn = next.catch(() => {})
    return next
  }

  const changeOne = async (execute: Execute, sql: string, values: readonly SqlValue[]): Promise<void> => {
    if ((await execute(sql, values)).changed !== 1) throw stale(run)
  }
  return {
    run,
    database,
    fence,
    get seq() {
      return seq
    },
    get head() {
      return head
    },
    keep,
    append: (events, also) => inTurn(() => write(events, also)),
    beat: (now) => inTurn(() => changeOne(database.execute, BEAT, [now, run, fence])),
    end: (events, { outcome, summary, time }) =>
      inTurn(async () => {
        await write(events, (execute) => changeOne(execute, END_RUN, [outcome, summary, time, run, fence]))
      }),
    release: (events = []) =>
      inTurn(async () => {
        await write(events, (execute) => changeOne(execute, RELEASE_RUN, [run, fence]))
      }),
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

/** What the database says when it cannot write, in our words. */
function readable(run: string, thrown: unknown): unknown {
  if (ToolwrightError.isInstance(thrown)) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new ToolwrightError("LOG_UNWRITABLE", `The log of the run ${run} cannot be written: ${message}`, {
    cause: thrown,
    hint: /full/i.test(message)
      ? "The disk is full. Make room; 'toolwright resume' then goes on from the last step that was written."
      : "See that the database can be reached and written, then go on with 'toolwright resume'.",
  })
}
