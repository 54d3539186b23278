import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "../database/database.ts"
import type { Execute, SqlValue } from "../database/driver.ts"
import type { TaskState } from "../tables.ts"
import { inOrder } from "./order.ts"
import {
  COUNT_DEPENDANT,
  COUNT_OPEN,
  INSERT_DEPENDENCY,
  INSERT_TASK,
  insertTasks as insertMany,
  TASK_COLUMNS,
} from "./statements.ts"
import { ENDED_STATES, type NewTask, type TaskRow } from "./task.ts"

/** How deep tasks nest below their root, unless the root says otherwise: depths 0 to 3 exist. */
export const DEFAULT_MAX_DEPTH = 3
const DEFAULT_MAX_ATTEMPTS = 3

/** A task whose id and depth are settled. */
type Named = NewTask & { readonly id: string; readonly maxDepth: number }

/** So many tasks are written with one statement. */
const TOGETHER = 100

/** Writes tasks that belong together: all of them or none. */
export async function insertTasks(execute: Execute, given: readonly Named[], now: number): Promise<TaskRow[]> {
  const rows = new Map<string, TaskRow>()
  const ordered = inOrder(given)
  const plain = ordered.filter((task) => standsAlone(task) && task.idempotencyKey === undefined)
  for (let from = 0; from < plain.length; from += TOGETHER) {
    const values = plain.slice(from, from + TOGETHER).map((task) => valuesOf(task, rootPlace(task), QUEUED, now))
    const written = await execute<TaskRow>(insertMany(values.length), values.flat())
    for (const row of written.rows) rows.set(row.id, row)
  }
  for (const task of ordered) if (!rows.has(task.id)) rows.set(task.id, await insertTask(execute, task, now))
  return given.map(({ id }) => rows.get(id)!)
}

/** Whether a task is written with one statement. */
export const standsAlone = ({ parent, after = [] }: NewTask): boolean => parent === undefined && after.length === 0

export async function insertTask(execute: Execute, task: Named, now: number): Promise<TaskRow> {
  const place = await placeOf(execute, task)
  const values = valuesOf(task, place, await beginning(execute, task), now)
  const [row] = (await execute<TaskRow>(INSERT_TASK, values)).rows
  if (row === undefined) return (await one(execute, "idempotency_key", task.idempotencyKey!))!
  for (const before of new Set(task.after)) await execute(INSERT_DEPENDENCY, [task.id, before])
  return row
}

interface Place {
  readonly depth: number
  readonly maxDepth: number
}

interface Beginning {
  readonly state: TaskState
  readonly reason: string | null
}

const QUEUED: Beginning = { state: "queued", reason: null }
const rootPlace = ({ maxDepth }: Named): Place => ({ depth: 0, maxDepth })

/** The values of a row, in the statement's order. */
function valuesOf(task: Named, { depth, maxDepth }: Place, { state, reason }: Beginning, now: number): SqlValue[] {
  const { id, parent = null, plan = null, agent, input = null, priority = 0, maxAttempts = DEFAULT_MAX_ATTEMPTS } = task
  const { notBefore = null, idempotencyKey = null, workspace = null, budget } = task
  const limits = budget === undefined ? null : JSON.stringify(budget)
  const begun = [id, parent, depth, maxDepth, plan, agent, JSON.stringify(input), priority, state, maxAttempts]
  return [...begun, notBefore, idempotencyKey, workspace, limits, reason, now, now]
}

async function one(execute: Execute, column: "id" | "idempotency_key", value: SqlValue): Promise<TaskRow | undefined> {
  return (await execute<TaskRow>(`SELECT ${TASK_COLUMNS} FROM tasks WHERE ${column} = ?`, [value])).rows[0]
}

/** @throws ToolwrightError `UNKNOWN_TASK`, `NESTING_DEPTH_EXCEEDED` */
async function placeOf(execute: Execute, task: Named): Promise<Place> {
  if (task.parent === undefined) return rootPlace(task)
  const parent = await one(execute, "id", task.parent)
  if (parent === undefined) throw unknownTask(task.parent)
  const { depth, max_depth: maxDepth } = parent
  if (depth >= maxDepth) {
    throw new ToolwrightError("NESTING_DEPTH_EXCEEDED", `Maximum nesting depth ${maxDepth} exceeded`, {
      hint: "Do this part in the task itself, or allow the root more depth.",
    })
  }
  return { depth: depth + 1, maxDepth }
}

/** A task begins to wait where others have to be done first. */
async function beginning(execute: Execute, task: Named): Promise<Beginning> {
  let state: TaskState = "queued"
  for (const id of new Set(task.after)) {
    const [before] = (await execute<{ state: TaskState }>(COUNT_DEPENDANT, [id])).rows
    if (before === undefined) throw unknownTask(id)
    if (before.state === "done") continue
    if (ENDED_STATES.includes(before.state)) return { state: "blocked", reason: waitsFor(id, before.state) }
    state = "waiting"
  }
  return { state, reason: null }
}

/**
 * Watches how many tasks wait. Counting them takes a while where they are many, so it is done once a second at most.
 */
export function roomKeeper(database: Database, room: number, now: () => number) {
  let counted = 0
  let at = -Infinity
  const count = async (): Promise<void> => {
    const [row] = await database.query<{ count: number }>(COUNT_OPEN)
    counted = Number(row!.count)
    at = now()
  }
  /** @throws ToolwrightError `QUEUE_FULL` */
  return async (more: number): Promise<void> => {
    if (now() - at >= COUNTED_EVERY_MS || counted + more > room) await count()
    if (counted + more > room) {
      throw new ToolwrightError("QUEUE_FULL", `${counted} tasks wait already, and the queue takes ${room}.`, {
        hint: "Wait until some are done, start more workers ('toolwright work'), or cancel tasks.",
      })
    }
    counted += more
  }
}

const COUNTED_EVERY_MS = 1_000

/** As it reads in a sentence. */
const HOW_ENDED: { readonly [State in TaskState]?: string } = { failed: "failed", cancelled: "was cancelled" }

export const waitsFor = (id: string, state: TaskState): string =>
  `it waits for ${id}, which ${HOW_ENDED[state] ?? `is ${state}`}`

export function unknownTask(id: string, several = false): ToolwrightError {
  const shown = id.slice(0, 100)
  const none = id === "latest" ? "There is no task yet." : `There is no task '${shown}'.`
  const message = several ? `Several tasks begin with '${shown}'.` : none
  return new ToolwrightError("UNKNOWN_TASK", message, {
    hint: "'toolwright tasks list' shows them.",
  })
}
