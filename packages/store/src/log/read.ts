import type { Database } from "../database/database.ts"
import type { LogEvent } from "./event.ts"
import { READ_EVENTS } from "./statements.ts"

/** Events that are read in one go unless a limit is given, and at most branches that stand on each other. */
const MOST_EVENTS = 1_000_000
const DEEPEST_BRANCH = 1000

/** Which events `RunLog.events` reads. */
export interface EventRange {
  /** The number after which they begin; 0 unless given. */
  after?: number
  /** The number of the last one; the run's last unless given. */
  upTo?: number
  limit?: number
}

/** A row of the log with its body, wherever that stood. */
export interface EventRow {
  run: string
  seq: number
  type: string
  time: number
  fence: number
  hash: string
  salt: string | null
  digest: string | null
  body_ref: string | null
  body: string | null
}

/** A piece of history: the events of one run up to one. */
interface Stretch {
  run: string
  upTo: number
}

/** The events of a run and of those that it branched off, oldest first. */
export async function readEvents(database: Database, run: string, range: EventRange = {}): Promise<LogEvent[]> {
  const rows = await readRows(database, run, range)
  return rows.map(({ run: of, seq, type, time, fence, hash, body }) => ({
    run: of,
    seq,
    type,
    time,
    fence,
    hash,
    body: body ?? undefined,
  }))
}

/** As {@link readEvents}, with what the chain is checked by. */
export async function readRows(database: Database, run: string, range: EventRange = {}): Promise<EventRow[]> {
  const { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit = MOST_EVENTS } = range
  const rows: EventRow[] = []
  for (const stretch of await stretchesOf(database, run)) {
    if (stretch.upTo <= after) continue
    const last = Math.min(stretch.upTo, upTo, 2 ** 31 - 1)
    rows.push(...(await database.query<EventRow>(READ_EVENTS, [stretch.run, after, last, limit - rows.length])))
    if (rows.length === limit) break
  }
  return rows
}

/** A branch holds what comes after the event it branched off; before stands what its parent holds. */
async function stretchesOf(database: Database, run: string): Promise<Stretch[]> {
  const stretches: Stretch[] = []
  let at: Stretch | undefined = { run, upTo: Number.MAX_SAFE_INTEGER }
  while (at !== undefined && stretches.length < DEEPEST_BRANCH) {
    stretches.unshift(at)
    const [row]: { parent_run: string | null; parent_seq: number | null }[] = await database.query(
      "SELECT parent_run, parent_seq FROM runs WHERE id = ?",
      [at.run],
    )
    at =
      row === undefined || row.parent_run === null
        ? undefined
        : { run: row.parent_run, upTo: Math.min(row.parent_seq!, at.upTo) }
  }
  return stretches
}

/** Hashes that are asked for in one statement. */
const MOST_HASHES = 500

/** The bodies of these hashes; those that are gone are left out. */
export async function readBodies(database: Database, hashes: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set(hashes)]
  const found = new Map<string, string>()
  for (let from = 0; from < wanted.length; from += MOST_HASHES) {
    const part = wanted.slice(from, from + MOST_HASHES)
    const places = part.map(() => "?").join(", ")
    const rows = await database.query<{ hash: string; content: string }>(
      `SELECT hash, content FROM bodies WHERE hash IN (${places})`,
      part,
    )
    for (const { hash, content } of rows) found.set(hash, content)
  }
  return found
}
