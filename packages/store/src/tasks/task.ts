import type { Selectable } from "kysely"
import type { TaskState, TaskTable } from "../tables.ts"

/** A task as it stands. Times are milliseconds since 1970. */
export type TaskRow = Selectable<TaskTable>

/** What a task may cost. What is left out has no limit of its own. */
export interface Budget {
  rounds?: number
  /** Of requests and replies together. */
  tokens?: number
  milliseconds?: number
  /** In the unit in which prices of models are given. */
  money?: number
}

/** A task that is to be done. */
export interface NewTask {
  agent: string
  /** What is to be done, as JSON can hold it. */
  input: unknown
  id?: string
  /** The task that asks for it; it is one level deeper. */
  parent?: string
  /** How deep tasks below the root may nest; a child has that of its parent. */
  maxDepth?: number
  plan?: string
  /** Higher ones first; 0 unless given. */
  priority?: number
  /** How often it may be started, crashes included; 3 unless given. */
  maxAttempts?: number
  notBefore?: number
  /** The same key given twice is one task. */
  idempotencyKey?: string
  workspace?: string
  budget?: Budget
  /** Tasks that have to be done first. */
  after?: readonly string[]
}

/** How a task that was worked on stands afterwards. */
export type TaskEnd =
  | { state: "done"; result: unknown }
  | {
      state: "failed"
      reason: string
      result?: unknown
      /**
       * Whether another try may go better, as after a server that was away; it is then queued again, later or at once.
       */
      retry?: boolean | "at once"
    }
  | { state: "needs-approval"; reason: string }

/** Why a task is given back, and when it may be taken again; at once unless that is said. */
export interface TaskPause {
  notBefore?: number | null
  reason?: string | null
}

/** Which tasks may be taken. */
export interface ClaimFilter {
  /** A folder: only tasks whose workspace it is, or lies below it, and those that name none. */
  within?: string | undefined
  /** Only tasks of this plan. */
  plan?: string | undefined
}

/** How many tasks of a plan are in each state. Times are milliseconds since 1970. */
export interface PlanCounts {
  plan: string
  begun: number
  states: Partial<Record<TaskState, number>>
}

/** Which tasks are listed, newest first. */
export interface TaskFilter {
  state?: TaskState
  agent?: string
  parent?: string
  plan?: string
  limit?: number
  offset?: number
}

/** A task that somebody works on, as long as the fence holds. */
export interface TaskClaim {
  readonly task: TaskRow
  readonly fence: number
}

/** A task in one of these states stays as it is unless a person changes it. */
export const ENDED_STATES: readonly TaskState[] = ["done", "failed", "blocked", "cancelled", "abandoned"]
