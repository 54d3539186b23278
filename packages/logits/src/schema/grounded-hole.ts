/** The annotation `grounded`, as types of values carry it. */
import { GROUNDED, type Grounded, type GroundedKind, isGrounded } from "@toolwright/toolbox"

/**
 * A demand on strings or numbers that only a conversation can settle. Types that carry one are compiled once for all
 * conversations.
 */
export interface GroundedHole {
  readonly kind: GroundedKind
  /** Constants that are allowed too, where the schema itself says them. */
  readonly also: readonly string[]
  /** The rule that says more of them: it may say others for another conversation. */
  readonly rule: RuleKey | undefined
  /** The tool whose schema it is, where that is known. */
  readonly tool: string | undefined
  /** Where in the schema. */
  readonly path: string
}

/** Which entry of the rules speaks of an argument. */
export interface RuleKey {
  readonly tool: string
  readonly argument: string
}

/** An annotation in a tool's schema, from its author or out of a rule. */
export interface ToolAnnotation {
  readonly kind: GroundedKind
  readonly also?: readonly string[]
  readonly rule?: RuleKey
  readonly tool: string
}

/** The annotation of a schema, under its name or as tools keep it; undefined where it has none that is well-formed. */
export function annotationOf(schema: object): Grounded | undefined {
  const { [GROUNDED]: hidden, grounded } = schema as { [GROUNDED]?: unknown; grounded?: unknown }
  const annotation = hidden ?? grounded
  return isGrounded(annotation) ? annotation : undefined
}

export function holeOf(annotation: Grounded, path: string): GroundedHole {
  if (typeof annotation === "string") return { kind: annotation, also: [], rule: undefined, tool: undefined, path }
  const { kind, also = [], rule, tool } = annotation as Partial<ToolAnnotation> & { kind: GroundedKind }
  return { kind, also, rule, tool, path }
}
