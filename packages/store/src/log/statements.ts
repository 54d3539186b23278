import type { SqlDialect } from "../database/driver.ts"

/**
 * The statements of every step of a run, written out: building them would cost more than running them, and loading what
 * builds them would take longer than a call of a tool does. `run-log.test.ts` runs them against the migrated tables of
 * both databases.
 */

/** Longest list of events in one statement. */
export const MOST_EVENTS = 50

/**
 * Inserts events as long as the fence is the current one, which the database checks in the same statement. What was
 * inserted is counted: fewer means that the claim went elsewhere.
 */
export function insertEvents(count: number, dialect: SqlDialect): string {
  const row = "(CAST(? AS integer), ?, CAST(? AS bigint), ?, ?, ?, ?)"
  const rows = Array.from({ length: count }, (_, index) => (index === 0 ? typedRow(dialect) : row)).join(", ")
  return `WITH added (seq, type, time, body, body_ref, salt, hash) AS (VALUES ${rows})
    INSERT INTO run_events (run, seq, type, time, fence, body, body_ref, salt, hash)
    SELECT runs.id, added.seq, added.type, added.time, runs.fence, added.body, added.body_ref, added.salt, added.hash
    FROM added, runs WHERE runs.id = ? AND runs.fence = ? AND runs.state <> 'ended'${lock(dialect)}`
}

/** Where several write at once, a claim waits for this statement, or this one for the claim and then sees its fence. */
function lock(dialect: SqlDialect): string {
  return dialect === "postgres" ? " FOR SHARE OF runs" : ""
}

/** PostgreSQL reads the types of all rows from the first. */
function typedRow(dialect: SqlDialect): string {
  const text = dialect === "postgres" ? "CAST(? AS text)" : "?"
  return `(CAST(? AS integer), ${text}, CAST(? AS bigint), ${text}, ${text}, ${text}, ${text})`
}

export const INSERT_BODY =
  "INSERT INTO bodies (hash, content, size, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING"

export const READ_EVENTS = `SELECT e.run, e.seq, e.type, e.time, e.fence, e.hash, e.salt, e.digest, e.body_ref,
    COALESCE(e.body, b.content) AS body
  FROM run_events e LEFT JOIN bodies b ON b.hash = e.body_ref
  WHERE e.run = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`

export const LAST_EVENT = "SELECT seq, hash FROM run_events WHERE run = ? ORDER BY seq DESC LIMIT 1"

/**
 * Of a task also one that was begun before and of which nothing was written: whoever began it then can write nothing
 * more, and what it was to be is forgotten. A later try may be told other words, and have another model.
 */
export const BEGIN_RUN = `INSERT INTO runs
    (id, task, agent, model, title, surface, workspace, caller, about, fence, holder, heartbeat, parent_run, parent_seq,
      started_at, asked_by, asked_call, asked_key, depth, max_depth)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS integer), CAST(? AS integer))
  ON CONFLICT (id) DO UPDATE SET fence = runs.fence + 1, state = 'running', holder = excluded.holder,
    heartbeat = excluded.heartbeat, agent = excluded.agent, model = excluded.model, title = excluded.title,
    surface = excluded.surface, workspace = excluded.workspace, caller = excluded.caller,
    started_at = excluded.started_at
  WHERE runs.task = excluded.task AND runs.state <> 'ended'
    AND NOT EXISTS (SELECT 1 FROM run_events e WHERE e.run = runs.id)
  RETURNING fence`

/** A run that is put on record when it has ended already, with its events. */
export const PUT_RUN = `INSERT INTO runs
    (id, task, agent, model, title, surface, workspace, caller, about, fence, holder, started_at, state, outcome,
    summary, ended_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, 'ended', ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

/** Events of a run that was put on record in the same transaction, so that nobody else can hold it. */
export function putEvents(count: number): string {
  return PUT_EVENTS[count]!
}

/** By the number of events: a text that is always the same one is found among prepared statements at once. */
const PUT_EVENTS = Array.from({ length: MOST_EVENTS + 1 }, (_, count) => {
  const rows = Array.from({ length: count }, () => "(?, ?, ?, ?, 1, ?, ?, ?, ?)").join(", ")
  return `INSERT INTO run_events (run, seq, type, time, fence, body, body_ref, salt, hash) VALUES ${rows}`
})

/** A claim succeeds where nobody holds the run, or whoever did was last heard of before the given time. */
export const CLAIM_RUN = `UPDATE runs SET fence = fence + 1, holder = ?, heartbeat = ?, state = 'running'
  WHERE id = ? AND state <> 'ended' AND (state = 'waiting' OR heartbeat IS NULL OR heartbeat < ?)
  RETURNING fence`

export const BEAT = "UPDATE runs SET heartbeat = ? WHERE id = ? AND fence = ? AND state <> 'ended'"

export const END_RUN = `UPDATE runs SET state = 'ended', outcome = ?, summary = ?, ended_at = ?, heartbeat = NULL
  WHERE id = ? AND fence = ? AND state <> 'ended'`

export const RELEASE_RUN = `UPDATE runs SET state = 'waiting', heartbeat = NULL, holder = NULL
  WHERE id = ? AND fence = ? AND state <> 'ended'`

export const RUN_COLUMNS = `id, task, agent, model, title, surface, workspace, caller, state, outcome, summary,
  fence, holder,
  heartbeat, parent_run, parent_seq, about, started_at, ended_at, asked_by, asked_call, asked_key, depth, max_depth`
