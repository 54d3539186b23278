/** The record alone, without what runs agents: quick to load. */
export { recordedCalls, type ExecuteCall } from "./call.ts"
export { Encoder } from "./encode.ts"
export { holderHere, isHeld } from "./holder.ts"
export { eventOf, listRuns, readRun, type RecordedEvent, type RecordedRun, type RunHead } from "./reader.ts"
export { newRunId } from "./run-id.ts"
export type { RecorderOptions, RunPlace } from "./recorder.ts"
