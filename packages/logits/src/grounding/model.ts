/** Grounded arguments: values that have to come from what was said. See `docs/grounded-arguments.md`. */

/** What of the conversation an argument may be. */
export type GroundedKind =
  /** Text that occurs, from a word's, quote's or bracket's border to another. */
  | "span"
  /** The same without white space, or two of them joined by "/", so that a folder and a name given apart can be joined. */
  | "path"
  /** A whole number that occurs. */
  | "number"

/** How an argument must come from the conversation: as a kind, or as a kind with constants that are allowed besides. */
export type Grounded =
  | GroundedKind
  | {
      readonly kind: GroundedKind
      /** Also allowed, whatever the conversation says. */
      readonly also?: readonly string[]
    }

/** Rules by tool and argument. `"*"` stands for every tool, or every argument; what is named goes before what is not. */
export type GroundingRules = Readonly<Record<string, Readonly<Record<string, Grounded>>>>

/** What a grammar's grounded arguments are held to. */
export interface Grounding {
  /** What was said and returned so far. */
  readonly text: string
  /** Which arguments are grounded, besides those whose schema has the annotation `grounded`. */
  readonly rules?: GroundingRules
}
