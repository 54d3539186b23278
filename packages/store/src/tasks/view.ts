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

/** @param after the tasks that it waits or waited for */
export function taskView(row: TaskRow, after: readonly string[] = []): TaskView {
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
