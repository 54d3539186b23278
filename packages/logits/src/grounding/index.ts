export { bindGrammar, type Ungrounded, ungrounded } from "./bind.ts"
export type { BoundGrounding } from "../grammar/bound-grounding.ts"
export { type Grounded, type GroundedKind, type Grounding, type GroundingRules, MAX_GROUNDING_TEXT } from "./model.ts"
export { groundingKey, groundSchema } from "./rules.ts"
