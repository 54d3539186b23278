import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "../database/database.ts"
import type { Execute, SqlValue } from "../database/driver.ts"
import type { TaskState } from "../tables.ts"
import { blockDependants, cancelChildren, releaseDependants, unblockDependants } from "./dependants.ts"
import { DEFAULT_MAX_DEPTH, insertTask, insertTasks, roomKeeper, standsAlone, unknownTask, waitsFor } from "./insert.ts"
import { tasksLike } from "./like.ts"
import { listTasks } from "./list.ts"
import { plansIn } from "./plans.ts"
import * as sql from "./statements.ts"
import { taskIds } from "./task-id.ts"
import {
  ENDED_STATES,
  type ClaimFilter,
  type NewTask,
  type PlanCounts,
  type TaskClaim,
  type TaskEnd,
  type TaskFilter,
  type TaskPause,
  type TaskRow,
} from "./task.ts"

/** How many tasks may wait, unless the queue is told otherwise. */
const DEFAULT_ROOM = 100_000

export interface QueueOptions {
  /** How many tasks may wait; more are refused. */
  room?: number
  /** What time it is, in milliseconds since 1970. */
  now?: () => number
  /** Ends a run that was left open by a task which is cancelled now. */
  cancelledRun?: (run: string, reason: string) => Promise<void>
  /** How deep tasks below one nest that says nothing of it. */
  maxDepth?: number
}

/**
 * Tasks in a database. Whoever works on one holds a claim; each claim has a higher fence than the one before, and the
 * database takes what is written under an older one for nothing. A worker that was not heard of for a while is taken
 * for dead: {@link TaskQueue.reap} then queues its tasks again.
 */
export interface TaskQueue {
  readonly database: Database
  /** @throws ToolwrightError `QUEUE_FULL`, `UNKNOWN_TASK`, `NESTING_DEPTH_EXCEEDED` */
  add(task: NewTask): Promise<TaskRow>
  /** All of them or none. Tasks may wait for each other by the ids given with them. @throws also `TASK_CYCLE` */
  addAll(tasks: readonly NewTask[]): Promise<TaskRow[]>
  get(id: string): Promise<TaskRow | undefined>
  /** By its id, a beginning of it that no other has, or `latest`. @throws ToolwrightError `UNKNOWN_TASK` */
  find(id: string): Promise<TaskRow>
  list(filter?: TaskFilter): Promise<TaskRow[]>
  /** The tasks that each of these waits or waited for. */
  dependencies(ids: readonly string[]): Promise<Map<string, string[]>>
  /** How many can be taken, now or at their next try; not what was put off. @param within as of {@link ClaimFilter} */
  queued(within?: string): Promise<number>
  /** How many tasks are in each state. */
  counts(): Promise<Partial<Record<TaskState, number>>>
  /** The plans that tasks belong to, the newest first. */
  plans(limit?: number): Promise<PlanCounts[]>
  /** Takes up to so many of the next tasks, the most urgent first and of those the oldest. */
  claim(holder: string, most?: number, filter?: ClaimFilter): Promise<TaskClaim[]>
  /** Of these tasks those that somebody has cancelled. */
  cancelled(ids: readonly string[]): Promise<string[]>
  /** Who holds tasks that are worked on. */
  holders(): Promise<string[]>
  /** Takes the tasks of a worker that is known to be dead; the next `reap` queues them again. */
  releaseFrom(holder: string): Promise<void>
  /** Says that the holder is alive. @throws ToolwrightError `STALE_TASK` where the task was cancelled or taken over */
  beat(claim: TaskClaim): Promise<void>
  /** Says in which run the task is worked on. @throws ToolwrightError `STALE_TASK` */
  inRun(claim: TaskClaim, run: string): Promise<void>
  /** Ends the work on a task, and lets those go on that waited for it. @throws ToolwrightError `STALE_TASK` */
  end(claim: TaskClaim, end: TaskEnd): Promise<TaskRow>
  /** Gives a task back that was not begun, or stopped on the way. @throws ToolwrightError `STALE_TASK` */
  putBack(claim: TaskClaim, pause?: TaskPause): Promise<void>
  /** Adds a task that has to be done first, and lets this one wait for it. @throws ToolwrightError `STALE_TASK` */
  waitFor(claim: TaskClaim, on: NewTask, reason: string): Promise<TaskRow>
  /**
   * Takes tasks from workers that were last heard of before `deadBefore`.
   *
   * @param alive who is alive for certain: whoever asks, even where it was too busy to say so
   * @returns how many were queued again, and how many given up
   */
  reap(deadBefore: number, alive?: string): Promise<{ queued: number; abandoned: number }>
  /** Cancels a task and those that it asked for. @throws ToolwrightError `UNKNOWN_TASK`, `TASK_ENDED` */
  cancel(id: string, reason?: string): Promise<TaskRow>
  /** Queues a task again that failed, was given up, cancelled or blocked. @throws ToolwrightError `TASK_OPEN` */
  retry(id: string): Promise<TaskRow>
  /** Lets a task go on whose approval was answered. */
  awaken(id: string): Promise<boolean>
}

/** What PostgreSQL answers to whoever it has ended. */
const DEADLOCK = "40P01"

/** A pause before a task is tried again, longer each time. */
const BACK_OFF_MS = 2_000
const MOST_BACK_OFF_MS = 10 * 60_000

/** The tasks of a database. */
export function taskQueue(database: Database, options: QueueOptions = {}): TaskQueue {
  return new DatabaseQueue(database, options)
}

class DatabaseQueue implements TaskQueue {
  readonly database: Database
  readonly #now: () => number
  readonly #newId = taskIds()
  readonly #makeRoom: (more: number) => Promise<void>
  readonly #cancelledRun: NonNullable<QueueOptions["cancelledRun"]>
  readonly #maxDepth: number

  constructor(database: Database, options: QueueOptions) {
    const { room = DEFAULT_ROOM, now = Date.now, cancelledRun, maxDepth = DEFAULT_MAX_DEPTH } = options
    this.database = database
    this.#now = now
    this.#cancelledRun = cancelledRun ?? (async () => {})
    this.#makeRoom = roomKeeper(database, room, now)
    this.#maxDepth = maxDepth
  }

  /** A task with its id, and with what it says nothing of. */
  #named(task: NewTask, time: number) {
    return { maxDepth: this.#maxDepth, ...task, id: task.id ?? this.#newId(time) }
  }

  async add(task: NewTask): Promise<TaskRow> {
    if (!standsAlone(task)) return (await this.addAll([task]))[0]!
    const time = this.#now()
    await this.#makeRoom(1)
    return insertTask(this.database.execute, this.#named(task, time), time)
  }

  async addAll(tasks: readonly NewTask[]): Promise<TaskRow[]> {
    const time = this.#now()
    const named = tasks.map((task) => this.#named(task, time))
    await this.#makeRoom(named.length)
    return this.#atomically((execute) => insertTasks(execute, named, time))
  }

  async get(id: string): Promise<TaskRow | undefined> {
    return (await this.database.query<TaskRow>(`SELECT ${sql.TASK_COLUMNS} FROM tasks WHERE id = ?`, [id]))[0]
  }

  async find(id: string): Promise<TaskRow> {
    const exact = id === "latest" ? (await this.list({ limit: 1 }))[0] : await this.get(id)
    if (exact !== undefined) return exact
    const rows = await tasksLike(this.database, id)
    if (id === "" || rows.length !== 1) throw unknownTask(id, rows.length > 1)
    return rows[0]!
  }

  list(filter: TaskFilter = {}): Promise<TaskRow[]> {
    return listTasks(this.database, filter)
  }

  async dependencies(ids: readonly string[]): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>(ids.map((id) => [id, []]))
    if (ids.length === 0) return found
    const rows = await this.database.query<{ task: string; depends_on: string }>(
      `SELECT task, depends_on FROM task_dependencies WHERE task IN (${ids.map(() => "?").join()}) ORDER BY depends_on`,
      ids,
    )
    for (const { task, depends_on } of rows) found.get(task)!.push(depends_on)
    return found
  }

  async queued(within?: string): Promise<number> {
    const statement = sql.countQueued(within !== undefined)
    const [row] = await this.database.query<{ count: number }>(statement, [this.#now(), ...folderOf(within)])
    return Number(row!.count)
  }

  async counts(): Promise<Partial<Record<TaskState, number>>> {
    const rows = await this.database.query<{ state: TaskState; count: number }>(
      "SELECT state, COUNT(*) AS count FROM tasks GROUP BY state",
    )
    return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
  }

  async plans(limit = 50): Promise<PlanCounts[]> {
    return plansIn(this.database, limit)
  }

  async cancelled(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return []
    const marks = ids.map(() => "?").join()
    const statement = `SELECT id FROM tasks WHERE state = 'cancelled' AND id IN (${marks})`
    return (await this.database.query<{ id: string }>(statement, ids)).map(({ id }) => id)
  }

  async holders(): Promise<string[]> {
    const statement = "SELECT DISTINCT holder FROM tasks WHERE state = 'running' AND holder IS NOT NULL"
    return (await this.database.query<{ holder: string }>(statement)).map(({ holder }) => holder)
  }

  async releaseFrom(holder: string): Promise<void> {
    await this.database.execute(sql.RELEASE_HOLDER, [holder])
  }

  async claim(holder: string, most = 1, { within, plan }: ClaimFilter = {}): Promise<TaskClaim[]> {
    const time = this.#now()
    const statement = sql.claimTasks(this.database.dialect, within !== undefined, plan !== undefined)
    const chosen = [...folderOf(within), ...(plan === undefined ? [] : [plan])]
    const values = [time, ...chosen, most, holder, time, time, time]
    const rows = await this.database.query<TaskRow>(statement, values)
    return rows.toSorted(byTurn).map((task) => ({ task, fence: task.fence }))
  }

  beat(claim: TaskClaim): Promise<void> {
    return this.#held(sql.BEAT_TASK, [this.#now()], claim)
  }

  inRun(claim: TaskClaim, run: string): Promise<void> {
    return this.#held(sql.NOTE_RUN, [run, this.#now()], claim)
  }

  putBack(claim: TaskClaim, { notBefore = null, reason = null }: TaskPause = {}): Promise<void> {
    const values = [notBefore, reason, this.#now()]
    return this.#held(sql.PUT_BACK, values, claim).catch((thrown: unknown) => this.#lost(claim, thrown))
  }

  waitFor(claim: TaskClaim, on: NewTask, reason: string): Promise<TaskRow> {
    const time = this.#now()
    const { task, fence } = claim
    const adding = this.#atomically(async (execute) => {
      const { changed } = await execute(sql.WAIT_TASK, [reason, time, task.id, fence])
      if (changed !== 1) throw await this.#stale(execute, task.id)
      const added = await insertTask(execute, this.#named(on, time), time)
      await execute(sql.COUNT_DEPENDANT, [added.id])
      await execute(sql.INSERT_DEPENDENCY, [task.id, added.id])
      return added
    })
    return adding.catch((thrown: unknown) => this.#lost(claim, thrown))
  }

  async end(claim: TaskClaim, end: TaskEnd): Promise<TaskRow> {
    return this.#end(claim, end).catch((thrown: unknown) => this.#lost(claim, thrown))
  }

  /** A worker that hears only at the end that its task was cancelled may have left its run open for another try. */
  async #lost({ task }: TaskClaim, thrown: unknown): Promise<never> {
    if (ToolwrightError.isInstance(thrown) && thrown.code === "STALE_TASK") await this.#endRunOf(task.id)
    throw thrown
  }

  async #end(claim: TaskClaim, end: TaskEnd): Promise<TaskRow> {
    const values = writtenEnd(claim.task, end, this.#now())
    const write = async (execute: Execute): Promise<TaskRow> => {
      const { rows } = await execute<TaskRow>(sql.END_TASK, [...values, claim.task.id, claim.fence])
      if (rows[0] === undefined) throw await this.#stale(execute, claim.task.id)
      return rows[0]
    }
    // Most tasks are waited for by none; one that began to wait since the claim is told in a second step.
    if (claim.task.dependants === 0) {
      const task = await write(this.database.execute)
      if (task.dependants > 0) await this.#atomically((execute) => this.#tellDependants(execute, task.id, task.state))
      return task
    }
    return this.#atomically(async (execute) => {
      const task = await write(execute)
      await this.#tellDependants(execute, task.id, task.state)
      return task
    })
  }

  reap(deadBefore: number, alive = ""): Promise<{ queued: number; abandoned: number }> {
    return this.#atomically(async (execute) => {
      const time = this.#now()
      const reason = "its worker was not heard of any more"
      const values = [time, reason, time, deadBefore, alive]
      const { rows } = await execute<{ id: string; state: TaskState }>(sql.REAP_TASKS, values)
      for (const { id, state } of rows) await this.#tellDependants(execute, id, state)
      await execute(sql.RELEASE_FORGOTTEN, [time])
      const abandoned = rows.filter(({ state }) => state === "abandoned").length
      return { queued: rows.length - abandoned, abandoned }
    })
  }

  async cancel(id: string, reason = "cancelled by a person"): Promise<TaskRow> {
    const cancelled = await this.#atomically(async (execute) => {
      const time = this.#now()
      if ((await execute(sql.CANCEL_TASK, [reason, time, time, id])).changed === 0) return []
      await this.#tellDependants(execute, id, "cancelled")
      const children: string[] = []
      await cancelChildren(execute, id, time, async (child) => {
        children.push(child)
        await this.#tellDependants(execute, child, "cancelled")
      })
      return [id, ...children]
    })
    for (const each of cancelled) await this.#endRunOf(each)
    const task = await this.#existing(id)
    if (task.state === "cancelled") return task
    throw new ToolwrightError("TASK_ENDED", `The task ${id} has ended: it is ${task.state}.`)
  }

  async retry(id: string): Promise<TaskRow> {
    const changed = await this.#atomically(async (execute) => {
      const open = await execute<{ id: string; state: TaskState }>(sql.OPEN_DEPENDENCIES, [id])
      const state: TaskState = open.rows.length === 0 ? "queued" : "waiting"
      const answer = await execute(sql.RETRY_TASK, [state, this.#now(), id])
      if (answer.changed === 1) await unblockDependants(execute, id, this.#now())
      return answer.changed
    })
    const task = await this.#existing(id)
    if (changed === 1) return task
    throw new ToolwrightError("TASK_OPEN", `The task ${id} is ${task.state}; only one that has failed is tried again.`)
  }

  async awaken(id: string): Promise<boolean> {
    return (await this.database.execute(sql.AWAKEN_TASK, [this.#now(), id])).changed === 1
  }

  async #existing(id: string): Promise<TaskRow> {
    const task = await this.get(id)
    if (task === undefined) throw unknownTask(id)
    return task
  }

  async #held(statement: string, values: readonly SqlValue[], { task, fence }: TaskClaim): Promise<void> {
    const { execute } = this.database
    if ((await execute(statement, [...values, task.id, fence])).changed !== 1) throw await this.#stale(execute, task.id)
  }

  async #stale(execute: Execute, id: string): Promise<ToolwrightError> {
    const { rows } = await execute<TaskRow>(`SELECT ${sql.TASK_COLUMNS} FROM tasks WHERE id = ?`, [id])
    return staleTask(rows[0], id)
  }

  /** Of a cancelled task: nobody goes on with what its worker left open. */
  async #endRunOf(id: string): Promise<void> {
    const [left] = await this.database.query<{ id: string; reason: string | null }>(sql.LEFT_RUN, [id])
    if (left !== undefined) await this.#cancelledRun(left.id, left.reason ?? "cancelled")
  }

  async #tellDependants(execute: Execute, id: string, state: TaskState): Promise<void> {
    if (state === "done") await releaseDependants(execute, this.database.dialect, id, this.#now())
    else if (ENDED_STATES.includes(state)) await blockDependants(execute, id, waitsFor(id, state), this.#now())
  }

  /** PostgreSQL ends one of two transactions that wait for each other; what it did is then done anew. */
  async #atomically<Result>(work: (execute: Execute) => Promise<Result>, tries = 5): Promise<Result> {
    try {
      return await this.database.transaction(work)
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code !== DEADLOCK || tries <= 1) throw thrown
      return this.#atomically(work, tries - 1)
    }
  }
}

/** What is said to whoever no longer holds a task. */
function staleTask(row: TaskRow | undefined, id: string): ToolwrightError {
  const { state = "gone", reason = null } = row ?? {}
  const why =
    state === "cancelled" ? `was cancelled${reason === null ? "" : `: ${reason}`}` : "is held by somebody else"
  return new ToolwrightError("STALE_TASK", `The task ${id} ${why}; nothing was written.`, {
    hint: "Stop working on it.",
  })
}

/** What a statement is given of a folder. */
function folderOf(within: string | undefined): SqlValue[] {
  return within === undefined ? [] : [within, within.length + 1, `${within}/`]
}

/** The order in which tasks are taken. */
function byTurn(a: TaskRow, b: TaskRow): number {
  return b.priority - a.priority || a.created_at - b.created_at || (a.id < b.id ? -1 : 1)
}

/**
 * How the end of some work is written down: a failure that may go better is queued again, as long as tries are left.
 */
function writtenEnd(task: TaskRow, end: TaskEnd, time: number): SqlValue[] {
  const result = "result" in end && end.result !== undefined ? JSON.stringify(end.result) : null
  const reason = "reason" in end ? end.reason : null
  const again = end.state === "failed" && (end.retry ?? false) !== false && task.attempts < task.max_attempts
  const state: TaskState = again ? "queued" : end.state
  const pause = Math.min(BACK_OFF_MS * 2 ** (task.attempts - 1), MOST_BACK_OFF_MS)
  const ended = ENDED_STATES.includes(state)
  const later = again && end.retry !== "at once" ? time + pause : null
  return [state, result, reason, later, ended ? time : null, time, again ? 1 : 0]
}
