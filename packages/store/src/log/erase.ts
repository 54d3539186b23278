import type { Database } from "../database/database.ts"
import type { Execute } from "../database/driver.ts"
import { bodyDigest } from "./chain.ts"
import type { EventRow } from "./read.ts"
import { RUN_END, RUN_START } from "./verify.ts"

/** What lists show in place of a task that was erased. */
const ERASED = "[erased]"
/** How an event names a text that is kept once for many: by its SHA-256. */
const KEPT = /\b[\da-f]{64}\b/gu

type Erased = Pick<EventRow, "run" | "seq" | "type" | "salt" | "body_ref" | "body">

/**
 * Erases the body of an event for good: what stood there cannot be read or guessed any more, and the chain still holds.
 * A body that other events name too is erased with all of them; texts that only it named, and what lists repeat of it,
 * go as well.
 *
 * @returns the number of events whose body is gone
 */
export async function eraseBody(database: Database, run: string, seq: number): Promise<number> {
  const erased = await database.transaction(async (execute) => {
    const read = `SELECT e.run, e.seq, e.type, e.salt, e.body_ref, COALESCE(e.body, b.content) AS body
      FROM run_events e LEFT JOIN bodies b ON b.hash = e.body_ref`
    const [first] = (await execute<Erased>(`${read} WHERE e.run = ? AND e.seq = ?`, [run, seq])).rows
    if (first === undefined || first.body === null) return 0
    const rows =
      first.body_ref === null ? [first] : (await execute<Erased>(`${read} WHERE e.body_ref = ?`, [first.body_ref])).rows
    for (const row of rows) {
      await execute(
        "UPDATE run_events SET digest = ?, body = NULL, body_ref = NULL, salt = NULL WHERE run = ? AND seq = ?",
        [bodyDigest(row.salt!, row.body!), row.run, row.seq],
      )
      await eraseFromLists(execute, row)
    }
    if (first.body_ref !== null) await execute("DELETE FROM bodies WHERE hash = ?", [first.body_ref])
    await eraseUnnamed(execute, first.body)
    return rows.length
  })
  if (erased > 0) await overwriteFreed(database)
  return erased
}

/** The run's own row repeats its task and what it came to; a branch has the task of the run that it left. */
async function eraseFromLists(execute: Execute, { run, type }: Erased): Promise<void> {
  if (type === RUN_START)
    await execute(
      `UPDATE runs SET title = ? WHERE id IN (WITH RECURSIVE below(id) AS (SELECT CAST(? AS text)
        UNION SELECT r.id FROM runs r JOIN below b ON r.parent_run = b.id) SELECT id FROM below)`,
      [ERASED, run],
    )
  if (type !== RUN_END) return
  const { rows } = await execute<{ summary: string | null }>("SELECT summary FROM runs WHERE id = ?", [run])
  const [row] = rows
  if (row?.summary == null) return
  await execute("UPDATE runs SET summary = ? WHERE id = ?", [withoutTexts(row.summary), run])
}

/** What lists need of a summary: numbers, and the words of ours. */
function withoutTexts(summary: string): string {
  const left = JSON.parse(summary, (key, value: unknown) => {
    if (typeof value === "string") return key === "outcome" || key === "runId" ? value : ""
    return Array.isArray(value) ? [] : value
  }) as Record<string, unknown>
  // What an answer or an artifact is keyed by is text of the run, too.
  const { output: _output, artifacts: _artifacts, ...rest } = left
  return JSON.stringify(rest)
}

/** Texts that the body named, and nothing names any more. */
async function eraseUnnamed(execute: Execute, body: string): Promise<void> {
  const left = new Set(body.match(KEPT))
  for (const hash of left) {
    const { rows } = await execute<{ content: string }>("SELECT content FROM bodies WHERE hash = ?", [hash])
    const [kept] = rows
    if (kept === undefined || (await isNamed(execute, hash))) continue
    await execute("DELETE FROM bodies WHERE hash = ?", [hash])
    for (const inner of kept.content.match(KEPT) ?? []) left.add(inner)
  }
}

async function isNamed(execute: Execute, hash: string): Promise<boolean> {
  const named = `SELECT 1 FROM run_events e LEFT JOIN bodies b ON b.hash = e.body_ref
    WHERE e.body_ref = ? OR COALESCE(e.body, b.content) LIKE ? LIMIT 1`
  if ((await execute(named, [hash, `%${hash}%`])).rows.length > 0) return true
  return (await execute("SELECT 1 FROM bodies WHERE content LIKE ? LIMIT 1", [`%${hash}%`])).rows.length > 0
}

/**
 * SQLite leaves in its file, and in its log, what it has freed: both are written anew. A server does that by itself.
 */
async function overwriteFreed({ dialect, execute }: Database): Promise<void> {
  if (dialect !== "sqlite") return
  await execute("VACUUM")
  await execute("PRAGMA wal_checkpoint(TRUNCATE)")
}
