import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "./database/database.ts"
import type { Execute } from "./database/driver.ts"
import type { Selectable } from "kysely"
import type { ApprovalState, ApprovalTable } from "./tables.ts"

/** A question whether a call may be made, as it stands in the database. */
export type ApprovalRow = Selectable<ApprovalTable>

/** What a question is about: an answer counts for exactly this and nothing else. */
export interface ApprovalSubject {
  run: string
  callIndex: number
  tool: string
  argumentsHash: string
  policy: string
}

/** A question that is put. */
export interface NewApproval extends ApprovalSubject {
  id: string
  /** JSON, without secrets. */
  arguments: string
  question: string
  time: number
  expiresAt: number
}

/** An answer to a question. */
export interface ApprovalAnswer {
  allow: boolean
  /** Who gave it. */
  by: string
  note?: string
  time: number
}

/** Questions whether calls may be made, and their answers. */
export interface Approvals {
  /** Newest first. */
  list(filter?: { state?: ApprovalState; run?: string; limit?: number; now?: number }): Promise<ApprovalRow[]>
  /** By its id, or a beginning of it that no other has. @throws ToolwrightError `UNKNOWN_APPROVAL` */
  find(id: string): Promise<ApprovalRow>
  /** The last question about this, whatever became of it. */
  about(subject: ApprovalSubject, now: number): Promise<ApprovalRow | undefined>
  /**
   * Answers a question, once.
   *
   * @throws ToolwrightError `UNKNOWN_APPROVAL`, `APPROVAL_CLOSED` where it was answered, has expired or was withdrawn
   */
  answer(id: string, answer: ApprovalAnswer): Promise<ApprovalRow>
}

/** How long a question waits, in milliseconds. */
export const APPROVAL_LASTS_MS = 7 * 24 * 60 * 60 * 1000

const COLUMNS = `id, run, task, call_index, tool, arguments, arguments_hash, policy, question, state,
  created_at, expires_at,
  answered_at, answered_by, note, consumed_at`
const MOST_LISTED = 500

/** The approvals of a database. */
export function approvalsIn(database: Database): Approvals {
  /** What nobody can answer any more is said to be so, whoever looks. */
  async function settle(now: number): Promise<void> {
    await database.query("UPDATE approvals SET state = 'expired' WHERE state = 'pending' AND expires_at < ?", [now])
    await database.query(
      `UPDATE approvals SET state = 'cancelled'
       WHERE state = 'pending' AND EXISTS (SELECT 1 FROM runs WHERE runs.id = approvals.run AND runs.state = 'ended')`,
    )
  }
  async function find(id: string): Promise<ApprovalRow> {
    const pattern = `${id.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    const rows = await database.query<ApprovalRow>(
      `SELECT ${COLUMNS} FROM approvals WHERE id LIKE ? ESCAPE '\\' LIMIT 2`,
      [pattern],
    )
    const found = rows.find((row) => row.id === id) ?? (rows.length === 1 ? rows[0] : undefined)
    if (id !== "" && found !== undefined) return found
    throw new ToolwrightError("UNKNOWN_APPROVAL", `There is no question '${id}'.`, {
      hint: "'toolwright approvals list' shows what is asked.",
    })
  }
  return {
    async list({ state, run, limit = 50, now = Date.now() } = {}) {
      await settle(now)
      const wanted = Object.entries({ state, run }).filter(([, value]) => value !== undefined)
      const where = wanted.length === 0 ? "" : `WHERE ${wanted.map(([column]) => `${column} = ?`).join(" AND ")}`
      return database.query<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals ${where} ORDER BY created_at DESC, id DESC LIMIT ?`,
        [...wanted.map(([, value]) => value!), Math.min(limit, MOST_LISTED)],
      )
    },
    find,
    async about({ run, callIndex, tool, argumentsHash, policy }, now) {
      await settle(now)
      const [row] = await database.query<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals
         WHERE run = ? AND call_index = ? AND tool = ? AND arguments_hash = ? AND policy = ?
         ORDER BY created_at DESC LIMIT 1`,
        [run, callIndex, tool, argumentsHash, policy],
      )
      return row
    },
    async answer(id, { allow, by, note, time }) {
      const { id: whole } = await find(id)
      await settle(time)
      const { changed } = await database.execute(
        `UPDATE approvals SET state = ?, answered_at = ?, answered_by = ?, note = ? WHERE id = ? AND state = 'pending'`,
        [allow ? "allowed" : "denied", time, by, note ?? null, whole],
      )
      const row = await find(whole)
      if (changed === 1) return row
      throw new ToolwrightError("APPROVAL_CLOSED", `The question ${whole} is ${row.state}: it takes no answer.`, {
        hint: "'toolwright approvals list' shows what waits for one.",
      })
    },
  }
}

/**
 * Puts a question, in the transaction of the event that tells of it; an earlier one about the same call is withdrawn.
 */
export async function putQuestion(execute: Execute, question: NewApproval): Promise<void> {
  const { id, run, callIndex, tool, argumentsHash, policy, time, expiresAt } = question
  await execute(
    "UPDATE approvals SET state = 'cancelled' WHERE run = ? AND call_index = ? AND state IN ('pending', 'allowed')",
    [run, callIndex],
  )
  await execute(
    `INSERT INTO approvals
      (id, run, task, call_index, tool, arguments, arguments_hash, policy, question, created_at, expires_at)
     SELECT ?, runs.id, runs.task, CAST(? AS integer), ?, ?, ?, ?, ?, CAST(? AS bigint), CAST(? AS bigint)
     FROM runs WHERE runs.id = ?`,
    [id, callIndex, tool, question.arguments, argumentsHash, policy, question.question, time, expiresAt, run],
  )
}

/**
 * Uses a permission up, in the transaction that records the call's start: it is for one call.
 *
 * @throws ToolwrightError `APPROVAL_CLOSED` where it was used or withdrawn meanwhile
 */
export async function consumeApproval(execute: Execute, id: string, time: number): Promise<void> {
  const { changed } = await execute(
    "UPDATE approvals SET state = 'consumed', consumed_at = ? WHERE id = ? AND state = 'allowed'",
    [time, id],
  )
  if (changed !== 1) throw new ToolwrightError("APPROVAL_CLOSED", `The permission ${id} counts no more.`)
}
