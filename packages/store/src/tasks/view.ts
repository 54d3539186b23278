import { createRedactor, redactDeep, type Redactor } from "@toolwright/host/text"
import type { TaskState } from "../tables.ts"
import type { Budget, TaskRow } from "./task.ts"

/** A task as it is shown over every surface: JSON throughout, times as ISO 8601, nothing that is not there. */
export interface TaskView {
  id: string
  agent: string
  state: TaskState
  /** What is to be done. */
  input: unknown
  /** 0 for a task that no other asked for. */
  depth: number
  parent?: string
  /** Tasks that have to be done first. */
  after?: string[]
  plan?: string
  priority: number
  /** How often it was started, and how often it may be. */
  attempts: number
  maxAttempts: number
  workspace?: string
  budget?: Budget
  idempotencyKey?: string
  /** The run in which it is worked on; `toolwright runs show` shows it. */
  run?: string
  /** What came of it. */
  result?: unknown
  /** Why it stands as it does. */
  reason?: string
  /** Not taken before. */
  notBefore?: string
  createdAt: string
  startedAt?: string
  endedAt?: string
}

/**
 * A task as it may be shown: without the secrets in what was asked and what came of it. Its row holds the task as it
 * was given, since its agent has to be told.
 *
 * @param redact takes secrets out of a text; those of known forms unless given
 */
export function shownTask(row: TaskRow, redact: Redactor = createRedactor()): TaskRow {
  const texts = (json: string): string => {
    if (redact.mayFindIn?.(json) === false) return json
    return JSON.stringify(redactDeep(JSON.parse(json) as unknown, redact))
  }
  const { input, result, reason, idempotency_key: key } = row
  return {
    ...row,
    input: texts(input),
    result: result === null ? null : texts(result),
    reason: reason === null ? null : redact(reason),
    idempotency_key: key === null ? null : redact(key),
  }
}

/** @param after the tasks that it waits or waited for */
export function taskView(task: TaskRow, after: readonly string[] = []): TaskView {
  const row = shownTask(task)
  const given = <Value>(value: Value | null | undefined): value is Value => value !== null && value !== undefined
  const at = (time: number): string => new Date(time).toISOString()
  const { parent, plan, workspace, run, reason } = row
  return {
    id: row.id,
    agent: row.agent,
    state: row.state,
    input: JSON.parse(row.input),
    depth: row.depth,
    ...(given(parent) ? { parent } : {}),
    ...(after.length === 0 ? {} : { after: [...after] }),
    ...(given(plan) ? { plan } : {}),
    priority: row.priority,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    ...(given(workspace) ? { workspace } : {}),
    ...(given(row.budget) ? { budget: JSON.parse(row.budget) as Budget } : {}),
    ...(given(row.idempotency_key) ? { idempotencyKey: row.idempotency_key } : {}),
    ...(given(run) ? { run } : {}),
    ...(given(row.result) ? { result: JSON.parse(row.result) as unknown } : {}),
    ...(given(reason) ? { reason } : {}),
    ...(given(row.not_before) ? { notBefore: at(row.not_before) } : {}),
    createdAt: at(row.created_at),
    ...(given(row.started_at) ? { startedAt: at(row.started_at) } : {}),
    ...(given(row.ended_at) ? { endedAt: at(row.ended_at) } : {}),
  }
}
