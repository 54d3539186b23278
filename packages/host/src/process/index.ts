export { changedFiles, folderState } from "./changed-files.ts"
export { repositoriesIn } from "./guarded.ts"
export { childEnvironment } from "../spawn/environment.ts"
export { type HostPlan, planFor, runInWorkspace } from "./host-plan.ts"
export {
  type ProcessHost,
  type ProcessToolsConfig,
  createProcessHost,
  failureOf,
  insideRoot,
  isContained,
  programDoubt,
  sandboxPolicy,
  shownPath,
} from "./host.ts"
export { endingOf, outcomeText, streamReport } from "./report.ts"
export { watchMemory } from "../spawn/memory-watch.ts"
export { type ProcessOutcome, runProcess } from "../spawn/run-process.ts"
