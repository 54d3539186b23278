export {
  loadScreenplay,
  parseScreenplay,
  serveBackend,
  type ServedBackend,
  type ServeBackendOptions,
} from "@toolwright/backends"
export * from "./model.ts"
export { crashAfter, crashBefore } from "./crash/crash.ts"
export { pocket, pocketAvailable, type PocketModelOptions } from "./pocket/pocket.ts"
export type { RequestPart } from "./recording/difference.ts"
export type { Update } from "./recording/mode.ts"
export { recording, type RecordedModel, type RecordingOptions } from "./recording/recording.ts"
export { callsOf, type AgentCall, type AgentRun, type PlainCall } from "./run/agent-run.ts"
export { followRun, type FollowRunOptions } from "./run/follow-run.ts"
export { runAgent, type AgentTest } from "./run/run-agent.ts"
export * from "./script/reply.ts"
export { scripted, type ScriptedModel, type ScriptedModelOptions } from "./script/scripted.ts"
export type { Shown } from "./script/shown.ts"
export { faulty, type Faults } from "./tools/faulty.ts"
export { stubbed } from "./tools/stubbed.ts"
export type { FileChanges } from "./workspace/snapshot.ts"
export { workspace, type TestWorkspace, type WorkspaceOptions } from "./workspace/workspace.ts"
