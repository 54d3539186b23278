/** Grounded arguments: values that have to come from what was said. See `docs/grounded-arguments.md`. */
import type { GroundingRules } from "@toolwright/toolbox"

export type { Grounded, GroundedKind, GroundingRules } from "@toolwright/toolbox"

/** What a grammar's grounded arguments are held to. */
export interface Grounding {
  /**
   * What was said and returned so far. No span reaches across the character U+0000, so it can stand between messages.
   * Of a longer text the newest {@link MAX_GROUNDING_TEXT} characters count.
   */
  readonly text: string
  /** Which arguments are grounded, besides those whose schema has the annotation `grounded`. */
  readonly rules?: GroundingRules
}

/** So many code points of a conversation are looked at, the newest. */
export const MAX_GROUNDING_TEXT = 8_000
