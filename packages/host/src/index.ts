export {
  createArtifactStore,
  missingArtifact,
  rememberResearch,
  type ArtifactStore,
  type Finding,
  type RunOf,
} from "./artifacts.ts"
export type { Ground, ToolKit } from "./kit.ts"
export { defineMultiActionTool, type ActionSpecification, type MultiActionSpecification } from "./multi-action.ts"
export { createTurns } from "./turns.ts"
