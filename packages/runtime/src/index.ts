export * from "@toolwright/agents"
export * from "@toolwright/backends"
export * from "@toolwright/toolbox"
export { agentsFor, type AgentAccess, type AgentToMake, type AgentView } from "./agents/access.ts"
export { AGENTS_BUNDLE, agentsTool } from "./agents/tool.ts"
export { readAgentFile } from "./agents/own.ts"
export type { ApprovalAccess, GivenAnswer } from "./approvals.ts"
export { backendFor, type BackendOptions } from "./assembly/backend.ts"
export { loadFormat } from "./assembly/format-file.ts"
export { withKits } from "./assembly/kits.ts"
export type { LogAccess } from "./assembly/log.ts"
export type { BranchOptions } from "./branch.ts"
export { hasModel, HOW_TO_CONFIGURE } from "./assembly/configured.ts"
export { DEFAULT_PAIRING } from "./pairing/choose.ts"
export { commandFor } from "./pairing/command.ts"
export type { ChooseReading, Pairing, PairingWords, Reading } from "./pairing/pairing.ts"
export * from "./configuration/index.ts"
export * from "./configuration/reference.ts"
export * from "./doctor/index.ts"
export {
  planAccess,
  type CheckedPlan,
  type PlanAccess,
  type PlanDigest,
  type PlanState,
  type PlanView,
} from "./plans/access.ts"
export { redactorFor } from "./secrets/redactor.ts"
export { planFile, planText, type PlanFile } from "./plans/file.ts"
export type { ResumeOptions } from "./resume.ts"
export { mediaFor, type TaskMedia } from "./media.ts"
export type { OutputSchema, RunOptions } from "./runs.ts"
export * from "./tasks/index.ts"
export { onceThere, type OnceThereOptions } from "./tasks/once-there.ts"
export { startTaskWorker, type TaskWorkerOptions } from "./tasks/work.ts"
export {
  startWorker,
  type Interruption,
  type Performed,
  type TaskContext,
  type Worker,
  type WorkerOptions,
} from "./tasks/worker.ts"
export * from "./toolwright.ts"
export * from "./workspace/lock.ts"
export * from "./workspace/root.ts"
export { changeHistory } from "./workspace/tool-workspace.ts"
export type { RecordedUndo } from "./undo/recorded-undo.ts"
