import { ToolwrightError } from "@toolwright/toolbox"
import type { Execute, SqlValue } from "../database/driver.ts"
import type { TaskState } from "../tables.ts"
import { inOrder } from "./order.ts"
import { COUNT_OPEN, INSERT_DEPENDENCY, INSERT_TASK, TASK_COLUMNS } from "./statements.ts"
import { ENDED_STATES, type NewTask, type TaskRow } from "./task.ts"

/** How deep tasks nest below their root, unless the root says otherwise: depths 0 to 3 exist. */
export const DEFAULT_MAX_DEPTH = 3
const DEFAULT_MAX_ATTEMPTS = 3

/** A task whose id is settled. */
type Named = NewTask & { readonly id: string }

/** Writes tasks that belong together: all of them or none. */
export async function insertTasks(
  execute: Execute,
  given: readonly Named[],
  { now, room }: { now: number; room: number },
): Promise<TaskRow[]> {
  await checkRoom(execute, given.length, room)
  const rows = new Map<string, TaskRow>()
  for (const task of inOrder(given)) rows.set(task.id, await insertTask(execute, task, now))
  return given.map(({ id }) => rows.get(id)!)
}

async function insertTask(execute: Execute, task: Named, now: number): Promise<TaskRow> {
  const place = await placeOf(execute, task)
  const { state, reason } = await beginning(execute, task)
  const { changed } = await execute(INSERT_TASK, [
    task.id,
    task.parent ?? null,
    place.depth,
    place.maxDepth,
    task.plan ?? null,
    task.agent,
    JSON.stringify(task.input ?? null),
    task.priority ?? 0,
    state,
    task.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    task.notBefore ?? null,
    task.idempotencyKey ?? null,
    task.workspace ?? null,
    task.budget === undefined ? null : JSON.stringify(task.budget),
    reason,
    now,
    now,
  ])
  if (changed === 0) return one(execute, "idempotency_key", task.idempotencyKey!)
  for (const before of new Set(task.after)) await execute(INSERT_DEPENDENCY, [task.id, before])
  return one(execute, "id", task.id)
}

async function one(execute: Execute, column: "id" | "idempotency_key", value: SqlValue): Promise<TaskRow> {
  return (await execute<TaskRow>(`SELECT ${TASK_COLUMNS} FROM tasks WHERE ${column} = ?`, [value])).rows[0]!
}

/** @throws ToolwrightError `UNKNOWN_TASK`, `NESTING_DEPTH_EXCEEDED` */
async function placeOf(execute: Execute, task: Named): Promise<{ depth: number; maxDepth: number }> {
  if (task.parent === undefined) return { depth: 0, maxDepth: task.maxDepth ?? DEFAULT_MAX_DEPTH }
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
async function beginning(execute: Execute, task: Named): Promise<{ state: TaskState; reason: string | null }> {
  let state: TaskState = "queued"
  for (const id of task.after ?? []) {
    const before = await one(execute, "id", id)
    if (before === undefined) throw unknownTask(id)
    if (before.state === "done") continue
    if (ENDED_STATES.includes(before.state)) return { state: "blocked", reason: waitsFor(id, before.state) }
    state = "waiting"
  }
  return { state, reason: null }
}

async function checkRoom(execute: Execute, count: number, room: number): Promise<void> {
  const open = Number((await execute<{ count: number }>(COUNT_OPEN)).rows[0]!.count)
  if (open + count <= room) return
  throw new ToolwrightError("QUEUE_FULL", `${open} tasks wait already, and the queue takes ${room}.`, {
    hint: "Wait until some are done, start more workers ('toolwright work'), or cancel tasks.",
  })
}

export const waitsFor = (id: string, state: TaskState): string => `it waits for ${id}, which is ${state}`

export function unknownTask(id: string): ToolwrightError {
  return new ToolwrightError("UNKNOWN_TASK", `There is no task '${id}'.`, {
    hint: "'toolwright tasks list' shows them.",
  })
}
