import { describeFault, schemaFault, ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { report, type Loss, type Lowering } from "./context.ts"
import { lowerNode } from "./lower-node.ts"
import { anything } from "./lower-value.ts"
import { typesOf } from "./merge.ts"
import { dereference } from "./lower-reference.ts"
import { TARGETS, type LoweringTarget } from "./targets.ts"
import { mergeRoot } from "./unions.ts"

export type { Loss } from "./context.ts"

/** A schema in a target's form, and what it lost. */
export interface LoweredSchema {
  schema: JsonSchema
  losses: Loss[]
}

/**
 * Rewrites the parameters of a tool for a target, and reports every keyword that the target cannot express, with its
 * path.
 *
 * What can be said in other words is rewritten without loss: references, `allOf`, `const`, type lists, `oneOf` with
 * branches that exclude each other, and, for OpenAI's strict mode, optional properties, which become required and
 * nullable (undo it in the arguments with `restoreArguments`). An object that says nothing about further properties is
 * taken to have none. What is lost stands in the description, so that the model still reads it.
 *
 * @param schema the parameters; its root must describe an object
 * @throws ToolwrightError `INVALID_SCHEMA` when the schema is malformed, a reference leads nowhere, or the root is no
 *   object
 */
export function lowerSchema(schema: JsonSchema, target: LoweringTarget): LoweredSchema {
  const fault = schemaFault(schema)
  if (fault !== undefined)
    throw new ToolwrightError("INVALID_SCHEMA", `This is no JSON Schema: ${describeFault(fault)}.`)
  const types = typesOf(schema.type)
  if (types.length > 0 && !types.includes("object")) throw noObject()

  const lowering = begin(schema, target)
  const { profile, losses, definitions } = lowering
  const root = rootFor(lowering)
  if (profile.keywords === "everything") return { schema: root, losses }
  const lowered = lowerNode(lowering, root, { path: "", trail: [] })
  const branches = lowered.anyOf ?? [lowered]
  if (!branches.some((branch) => branch.type === "object" || branch.$ref !== undefined)) throw noObject()
  return { schema: Object.keys(definitions).length === 0 ? lowered : { ...lowered, $defs: definitions }, losses }
}

function begin(schema: JsonSchema, target: LoweringTarget): Lowering {
  const lowering: Lowering = {
    schema,
    target,
    profile: TARGETS[target],
    losses: [],
    names: new Map(),
    definitions: {},
    nodes: 0,
    lower: (node, place) => lowerNode(lowering, node, place),
    anything: (node, place) => anything(lowering, node, place),
  }
  return lowering
}

/** The root as an object, without a union where the target refuses one there. */
function rootFor(lowering: Lowering): JsonSchema {
  const root: JsonSchema = { ...lowering.schema, type: "object" }
  if (lowering.profile.unionRoot) return root
  const reason = "The root cannot be a union: its branches are put together into one object."
  return mergeRoot(
    root,
    (keyword) => report(lowering, "", keyword, "widened", reason),
    (branch) => dereference(lowering, branch, ""),
  )
}

function noObject(): ToolwrightError {
  return new ToolwrightError("INVALID_SCHEMA", "The parameters of a tool must be an object schema.", {
    hint: 'Give the root "type": "object".',
  })
}
