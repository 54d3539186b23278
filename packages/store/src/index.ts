export * from "./agents.ts"
export * from "./approvals.ts"
export * from "./conversations.ts"
export type { Database } from "./database/database.ts"
export type { Answer, SqlDialect, Execute, SqlValue } from "./database/driver.ts"
export { countRows, exportRows } from "./database/export.ts"
export { migrate, migrationStatus, type MigrationStatus } from "./database/migrate.ts"
export {
  isPostgres,
  openDatabase,
  openStateDatabase,
  STATE_DATABASE,
  type OpenOptions,
  type StateOptions,
} from "./database/open.ts"
export type { LogEvent, NewEvent } from "./log/event.ts"
export type { FollowOptions } from "./log/follow.ts"
export { runLog, type NewRun, type RunFilter, type RunLog, type RunRow } from "./log/run-log.ts"
export { readBodies, type EventRange } from "./log/read.ts"
export { RUN_COLUMNS } from "./log/statements.ts"
export { eraseBody } from "./log/erase.ts"
export { verifyRun, type Verification } from "./log/verify.ts"
export { unwritable, type RunEnd, type RunWriter } from "./log/writer.ts"
export { nameSign } from "./name-sign.ts"
export {
  TASK_STATES,
  APPROVAL_STATES,
  type Tables,
  type TaskState,
  type TaskTable,
  type RunState,
  type RunTable,
  type EventTable,
  type EffectState,
  type EffectTable,
  type ApprovalState,
  type ApprovalTable,
  type AgentTable,
} from "./tables.ts"
export { budgetOf, inputOf, taskInput, type TaskInput } from "./tasks/input.ts"
export { taskView, type TaskView } from "./tasks/view.ts"
export { cyclesIn, inOrder, type Step } from "./tasks/order.ts"
export { taskQueue, type QueueOptions, type TaskQueue } from "./tasks/queue.ts"
export {
  ENDED_STATES,
  type Budget,
  type ClaimFilter,
  type NewTask,
  type PlanCounts,
  type TaskClaim,
  type TaskEnd,
  type TaskFilter,
  type TaskPause,
  type TaskRow,
} from "./tasks/task.ts"
