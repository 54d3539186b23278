import type { SqlDialect } from "../database/driver.ts"

export const TASK_COLUMNS = `id, parent, depth, max_depth, plan, agent, input, priority, state, attempts,
  max_attempts, not_before,
  idempotency_key, workspace, budget, result, reason, run, fence, holder, heartbeat, dependants,
  created_at, updated_at, started_at, ended_at`

const TASK_VALUES = 17

/** Writes so many tasks with one statement; one whose key is there already is left out. */
export function insertTasks(count: number): string {
  const row = `(${Array.from({ length: TASK_VALUES }, () => "?").join()})`
  return `INSERT INTO tasks (id, parent, depth, max_depth, plan, agent, input, priority, state,
      max_attempts, not_before, idempotency_key, workspace, budget, reason, created_at, updated_at)
    VALUES ${Array.from({ length: count }, () => row).join()} ON CONFLICT (idempotency_key) DO NOTHING
    RETURNING ${TASK_COLUMNS}`
}

export const INSERT_TASK = insertTasks(1)

/**
 * Counts who waits for a task, and tells how it stands. Whoever ends the task at the same time comes before or after:
 * then the count is seen there, or its end here.
 */
export const COUNT_DEPENDANT = "UPDATE tasks SET dependants = dependants + 1 WHERE id = ? RETURNING state"

export const INSERT_DEPENDENCY = "INSERT INTO task_dependencies (task, depends_on) VALUES (?, ?)"

/** Those that take room in the queue, also where their time has not come. */
export const COUNT_OPEN = `SELECT (SELECT COUNT(*) FROM tasks WHERE state = 'queued')
  + (SELECT COUNT(*) FROM tasks WHERE state = 'waiting') AS count`

export function countQueued(within: boolean): string {
  return (
    "SELECT COUNT(*) AS count FROM tasks WHERE state = 'queued' AND (not_before IS NULL OR not_before <= ? OR " +
    `attempts > 0)${within ? ` AND ${WITHIN}` : ""}`
  )
}

/** Of a folder: tasks that name no workspace, that one, or one below it. */
const WITHIN = `(workspace IS NULL OR workspace = ? OR substr(workspace, 1, CAST(? AS integer)) = ?)`

/**
 * Takes the next tasks whose time has come. Where several take at once each gets others: PostgreSQL passes over rows
 * that are held, on SQLite one statement follows the other.
 */
export function claimTasks(dialect: SqlDialect, within: boolean, plan: boolean): string {
  return `WITH next AS ${dialect === "postgres" ? "MATERIALIZED " : ""}(
      SELECT id FROM tasks
      WHERE state = 'queued' AND (not_before IS NULL OR not_before <= ?)
        ${within ? `AND ${WITHIN}` : ""} ${plan ? "AND plan = ?" : ""}
      ORDER BY priority DESC, created_at, id LIMIT ?${dialect === "postgres" ? " FOR UPDATE SKIP LOCKED" : ""})
    UPDATE tasks SET state = 'running', attempts = attempts + 1, fence = fence + 1, holder = ?, heartbeat = ?,
      started_at = COALESCE(started_at, ?), updated_at = ?, not_before = NULL, reason = NULL
    WHERE id IN (SELECT id FROM next) RETURNING ${TASK_COLUMNS}`
}

/** Under the fence alone: whoever lost the task, or whose task was cancelled, changes nothing. */
const HELD = "WHERE id = ? AND fence = ? AND state = 'running'"

export const BEAT_TASK = `UPDATE tasks SET heartbeat = ? ${HELD}`

export const NOTE_RUN = `UPDATE tasks SET run = ?, updated_at = ? ${HELD}`

/**
 * A run that has ended stays with a task that has; the next try begins another one. A run that was named and not yet
 * begun stays too: whoever named it may wake up and begin it, and a second run would do everything twice.
 */
export const END_TASK = `UPDATE tasks SET
  state = ?, result = ?, reason = ?, not_before = ?, ended_at = ?, updated_at = ?,
  holder = NULL, heartbeat = NULL,
  run = CASE WHEN ? = 1 AND EXISTS (SELECT 1 FROM runs WHERE id = tasks.run AND state = 'ended') THEN NULL ELSE run END
  ${HELD} RETURNING ${TASK_COLUMNS}`

/** Takes tasks back from one worker that is known to be dead. */
export const RELEASE_HOLDER = `UPDATE tasks SET heartbeat = 0 WHERE state = 'running' AND holder = ?`

/** Gives a task back as if it had not been taken, for a worker that stops or cannot begin yet. */
export const PUT_BACK = `UPDATE tasks SET state = 'queued', attempts = attempts - 1, holder = NULL, heartbeat = NULL,
  not_before = ?, reason = ?, updated_at = ? ${HELD}`

/** Lets a task wait for another one that was added since; its work so far stands in its run. */
export const WAIT_TASK = `UPDATE tasks SET state = 'waiting', attempts = attempts - 1, holder = NULL, heartbeat = NULL,
  reason = ?, updated_at = ? ${HELD}`

/** Tasks whose worker was not heard of any more are queued again, or given up after so many starts. */
export const REAP_TASKS = `UPDATE tasks SET
    state = CASE WHEN attempts < max_attempts THEN 'queued' ELSE 'abandoned' END,
    ended_at = CASE WHEN attempts < max_attempts THEN NULL ELSE CAST(? AS bigint) END,
    reason = ?, holder = NULL, heartbeat = NULL, updated_at = ?
  WHERE state = 'running' AND heartbeat < ? AND holder <> ? RETURNING id, state`

/** On PostgreSQL two that end at once must not both find the other still under way: the second waits for the first. */
export function lockDependants(dialect: SqlDialect): string {
  return `SELECT t.id FROM tasks t JOIN task_dependencies d ON d.task = t.id
    WHERE d.depends_on = ? AND t.state IN ('waiting', 'blocked')
    ORDER BY t.id${dialect === "postgres" ? " FOR UPDATE OF t" : ""}`
}

export const RELEASE_DEPENDANTS = `UPDATE tasks SET state = 'queued', reason = NULL, ended_at = NULL, updated_at = ?
  WHERE state IN ('waiting', 'blocked')
    AND id IN (SELECT task FROM task_dependencies WHERE depends_on = ?)
    AND NOT EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks t ON t.id = d.depends_on
      WHERE d.task = tasks.id AND t.state <> 'done')`

/**
 * Of tasks that wait: those for which nothing is left to wait for. Where a worker died between two steps, some remain.
 */
export const RELEASE_FORGOTTEN = `UPDATE tasks SET state = 'queued', reason = NULL, ended_at = NULL, updated_at = ?
  WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks t ON t.id = d.depends_on
    WHERE d.task = tasks.id AND t.state <> 'done')`

export const BLOCK_DEPENDANTS = `UPDATE tasks SET state = 'blocked', reason = ?, ended_at = ?, updated_at = ?
  WHERE state IN ('waiting', 'queued') AND id IN (SELECT task FROM task_dependencies WHERE depends_on = ?) RETURNING id`

export const UNBLOCK_DEPENDANTS = `UPDATE tasks SET state = 'waiting', reason = NULL, ended_at = NULL, updated_at = ?
  WHERE state = 'blocked' AND id IN (SELECT task FROM task_dependencies WHERE depends_on = ?) RETURNING id`

export const CANCEL_TASK = `UPDATE tasks SET
  state = 'cancelled', reason = ?, ended_at = ?, updated_at = ?, holder = NULL, heartbeat = NULL
  WHERE id = ? AND state IN ('queued', 'waiting', 'running', 'needs-approval', 'blocked')`

/** The run that a cancelled task left open. */
export const LEFT_RUN = `SELECT r.id, t.reason FROM tasks t JOIN runs r ON r.id = t.run
  WHERE t.id = ? AND t.state = 'cancelled' AND r.state = 'waiting'`

export const AWAKEN_TASK = `UPDATE tasks SET state = 'queued', reason = NULL, attempts = attempts - 1, updated_at = ?
  WHERE id = ? AND state = 'needs-approval'`

/** A run that was left open goes on; after one that has ended another begins. */
export const RETRY_TASK = `UPDATE tasks SET
  state = ?, attempts = 0, not_before = NULL, reason = NULL, result = NULL, ended_at = NULL, updated_at = ?,
    run = CASE WHEN EXISTS (SELECT 1 FROM runs WHERE id = tasks.run AND state = 'ended') THEN NULL ELSE run END
  WHERE id = ? AND state IN ('failed', 'abandoned', 'cancelled', 'blocked')`

export const OPEN_DEPENDENCIES = `SELECT t.id, t.state FROM task_dependencies d JOIN tasks t ON t.id = d.depends_on
  WHERE d.task = ? AND t.state <> 'done'`
