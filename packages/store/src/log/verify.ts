import type { Database } from "../database/database.ts"
import { bodyDigest, GENESIS, linkHash, sha256 } from "./chain.ts"
import { readRows, type EventRow } from "./read.ts"

/** What a look at the chain of a run found. */
export interface Verification {
  run: string
  events: number
  /** Events whose body was erased: the chain holds, and what stood there is gone. */
  erased: number
  /** Hash of the last event: whoever noted it elsewhere can tell that nothing was taken off the end. */
  head: string
  /** The first event that is not as it was written, and why. */
  broken?: { seq: number; reason: string }
}

const PAGE = 1000

/** Works out the chain of a run anew, and compares. Events that a branch shares are checked with it. */
export async function verifyRun(database: Database, run: string): Promise<Verification> {
  let head = GENESIS
  let [events, erased, seq] = [0, 0, 0]
  for (;;) {
    const rows = await readRows(database, run, { after: seq, limit: PAGE })
    for (const row of rows) {
      const reason = row.seq === seq + 1 ? faultOf(row, head) : `event ${seq + 1} is missing`
      if (reason !== undefined) return { run, events, erased, head, broken: { seq: seq + 1, reason } }
      events++
      if (row.body === null) erased++
      head = row.hash
      seq = row.seq
    }
    if (rows.length < PAGE) return { run, events, erased, head }
  }
}

function faultOf(row: EventRow, previous: string): string | undefined {
  const { run, seq, type, time, fence, body, body_ref, salt } = row
  if (body !== null && body_ref !== null && sha256(body) !== body_ref) return "its body is not the one that it names"
  if (body !== null && salt === null) return "its salt is missing"
  const digest = body === null ? row.digest : bodyDigest(salt!, body)
  if (digest === null) return "its body is missing"
  return linkHash(previous, { run, seq, type, time, fence, digest }) === row.hash
    ? undefined
    : "it is not what was written"
}

/**
 * Erases the body of an event for good: what stood there cannot be read or guessed any more, and the chain still holds.
 * A body that other events name too is erased with all of them.
 *
 * @returns the number of events whose body is gone
 */
export function eraseBody(database: Database, run: string, seq: number): Promise<number> {
  return database.transaction(async (execute) => {
    const read = `SELECT e.run, e.seq, e.salt, e.body_ref, COALESCE(e.body, b.content) AS body
      FROM run_events e LEFT JOIN bodies b ON b.hash = e.body_ref`
    const [first] = (await execute<EventRow>(`${read} WHERE e.run = ? AND e.seq = ?`, [run, seq])).rows
    if (first === undefined || first.body === null) return 0
    const rows =
      first.body_ref === null
        ? [first]
        : (await execute<EventRow>(`${read} WHERE e.body_ref = ?`, [first.body_ref])).rows
    for (const row of rows) {
      await execute(
        "UPDATE run_events SET digest = ?, body = NULL, body_ref = NULL, salt = NULL WHERE run = ? AND seq = ?",
        [bodyDigest(row.salt!, row.body!), row.run, row.seq],
      )
    }
    if (first.body_ref !== null) await execute("DELETE FROM bodies WHERE hash = ?", [first.body_ref])
    return rows.length
  })
}
