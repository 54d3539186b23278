import type { JsonSchema } from "@toolwright/toolbox"
import type { AnySchema } from "./references.ts"
import type { LoweringTarget, TargetProfile } from "./targets.ts"

/**
 * A keyword that the target cannot express. `path` is a JSON pointer to the schema that has it, in the schema as given.
 * `widened`: the target allows what the schema forbids, so arguments must be checked afterwards. `narrowed`: the target
 * cannot produce some of what the schema allows. `annotation`: only a remark is gone.
 */
export interface Loss {
  path: string
  keyword: string
  effect: "widened" | "narrowed" | "annotation"
  reason: string
}

/** Where a node stands: its JSON pointer in the schema as given, and the nodes that it stands in. */
export interface Place {
  readonly path: string
  readonly trail: readonly AnySchema[]
}

/** The lowering of one schema: what it is lowered for, what it has come to so far, and the ways back to its middle. */
export interface Lowering {
  readonly schema: JsonSchema
  readonly target: LoweringTarget
  readonly profile: TargetProfile
  readonly losses: Loss[]
  /** Names of the schemas that contain themselves, and what they are lowered to under `$defs`. */
  readonly names: Map<AnySchema, string>
  readonly definitions: Record<string, JsonSchema>
  /** Parts written out so far. */
  nodes: number
  /** Lowers a part of the schema. */
  lower(node: AnySchema, place: Place): JsonSchema
  /** Any value, or one of a list of mixed types. */
  anything(node: JsonSchema, place: Place): JsonSchema
}

/** Notes a loss, once. */
export function report({ losses }: Lowering, path: string, keyword: string, effect: Loss["effect"], reason: string) {
  if (losses.some((loss) => loss.path === path && loss.keyword === keyword && loss.reason === reason)) return
  losses.push({ path, keyword, effect, reason })
}

/** The place of a part, by the steps that lead to it. */
export function below({ path, trail }: Place, ...steps: readonly (string | number)[]): Place {
  return {
    path: [path, ...steps.map((step) => String(step).replaceAll("~", "~0").replaceAll("/", "~1"))].join("/"),
    trail,
  }
}

/** The place inside a node. */
export function inside({ path, trail }: Place, node: AnySchema): Place {
  return { path, trail: [...trail, node] }
}
