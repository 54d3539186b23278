export type { Grounded, GroundedKind, Grounding, GroundingRules } from "./model.ts"
