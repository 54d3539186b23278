import { isDeepStrictEqual } from "node:util"
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
/** The events that a run begins and ends with, which its row repeats for lists. */
export const [RUN_START, RUN_END] = ["run-start", "run-end"]

/**
 * Works out the chain of a run anew, and compares; then what lists say of the run with what its events say. Events that
 * a branch shares are checked with it.
 */
export async function verifyRun(database: Database, run: string): Promise<Verification> {
  const found = await verifyChain(database, run)
  if (found.broken !== undefined) return found
  const reason = await faultOfHead(database, run, found.events)
  return reason === undefined ? found : { ...found, broken: { seq: found.events, reason } }
}

async function verifyChain(database: Database, run: string): Promise<Verification> {
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

type Head = { state: string; outcome: string | null; summary: string | null; title: string; parent_run: string | null }

/** Lists read the run's own row, which no hash holds: it has to say what the first and the last event say. */
async function faultOfHead(database: Database, run: string, events: number): Promise<string | undefined> {
  const columns = "state, outcome, summary, title, parent_run"
  const [head] = await database.query<Head>(`SELECT ${columns} FROM runs WHERE id = ?`, [run])
  if (head === undefined || events === 0) return undefined
  const [last] = await readRows(database, run, { after: events - 1, limit: 1 })
  const fault = faultOfEnd(head, last?.run === run && last.type === RUN_END ? last.body : undefined)
  if (fault !== undefined) return fault
  const [first] = await readRows(database, run, { limit: 1 })
  const { task } = first?.type === RUN_START ? fieldsOf(first.body) : {}
  return typeof task !== "string" || head.parent_run !== null || task === head.title
    ? undefined
    : "lists say something else of its task"
}

/** @param end the body of the run's last event, which is null where it was erased; undefined where it is another one */
function faultOfEnd({ state, outcome, summary }: Head, end: string | null | undefined): string | undefined {
  if (state !== "ended") return end === undefined ? undefined : "it has ended, and lists say that it has not"
  // Whoever writes events of other kinds ends with whichever they like.
  if (end === undefined) return fieldsOf(summary).outcome === undefined ? undefined : "its last event is missing"
  const told = fieldsOf(end).summary as { outcome?: unknown } | undefined
  const isTold = told === undefined || (told.outcome === outcome && isDeepStrictEqual(told, parsed(summary)))
  return isTold ? undefined : "lists say something else of its end"
}

/** The fields of a body; none where it was erased, or holds something else. */
function fieldsOf(body: string | null): Readonly<Record<string, unknown>> {
  const value = parsed(body)
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
