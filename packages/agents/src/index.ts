export {
  ANNOTATED,
  compactingContext,
  generateWithTools,
  Grammars,
  SHOWN_CHARS,
  shownOutput,
  toolCallingBackend,
  wholeContext,
  type CompactionOptions,
  type ContextManager,
  type Generation,
  type GroundingSetting,
  type ToolCallingMode,
  type ToolCallingOptions,
} from "@toolwright/dialogue"
export { agentTool, type AskedRun, type AgentToolOptions } from "./agent/agent-tool.ts"
export * from "./agent/file-owning-agent.ts"
export { Catalogue, type CatalogueLimits } from "./executor/catalogue.ts"
export * from "./definition/definition.ts"
export { profileFrom } from "./definition/profile-from.ts"
export { checkAgentName, issuesIn, readAgentDefinition, saidOf, type Mistake } from "./definition/read.ts"
export * from "./executor/executor.ts"
export type { ExecutorOptions, RunRequest } from "./executor/options.ts"
export { TEXTS } from "./executor/texts.ts"
export type * from "./gate/access.ts"
export type * from "./gate/criteria.ts"
export * from "./gate/ledger.ts"
export type { LoopLimits, LoopVerdict } from "./gate/loop-detector.ts"
export type { SharedWork } from "./gate/work-gate.ts"
export type * from "./phases/phase.ts"
export { DEFAULT_TRIES, type Plan, type PlanInput, type PlannedTask } from "./plan/plan.ts"
export * from "./plan/read.ts"
export * from "./plan/templates.ts"
export * from "./profiles/assistant.ts"
export { FILE_OWNER_DONE } from "./profiles/file-owner.ts"
export * from "./profiles/index.ts"
export * from "./profiles/owned.ts"
export { ESSENTIAL_SET, FINDING_SET, type AgentProfile, type PhaseProfile } from "./profiles/profile.ts"
export * from "./record/call.ts"
export { Encoder, type GivenToRun, type KeptFlags, type Snapshot } from "./record/encode.ts"
export * from "./record/fold.ts"
export { holderHere, isHeld } from "./record/holder.ts"
export * from "./record/reader.ts"
export * from "./record/recorder.ts"
export * from "./record/run-id.ts"
export { wholeBody } from "./record/said-once.ts"
