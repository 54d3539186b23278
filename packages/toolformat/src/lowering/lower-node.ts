/** One node of a schema, by what it is made of: a reference, parts, branches, or plain keywords. */
import { ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { below, inside, report, type Lowering, type Place } from "./context.ts"
import { dereference, MAX_DEPTH, lowerReference } from "./lower-reference.ts"
import { joinBranches, lowerPlain, textsOf } from "./lower-value.ts"
import { merge } from "./merge.ts"
import { schemasIn, type AnySchema } from "./references.ts"
import { areDisjoint } from "./unions.ts"

const MAX_NODES = 50_000

export function lowerNode(lowering: Lowering, node: AnySchema, place: Place): JsonSchema {
  countNode(lowering, place)
  if (node === false) {
    report(lowering, place.path, "false", "widened", "There is no schema that nothing fits.")
    return { type: "null" }
  }
  if (node === true) return lowering.anything({}, place)
  if (typeof node.$ref === "string") return lowerReference(lowering, node, place)
  const inner = inside(place, node)
  if (Array.isArray(node.allOf)) return lowerNode(lowering, joinedParts(lowering, node, place), inner)
  if (Array.isArray(node.oneOf)) return lowerUnion(lowering, node, "oneOf", inner)
  if (Array.isArray(node.anyOf)) return lowerUnion(lowering, node, "anyOf", inner)
  return lowerPlain(lowering, node, inner)
}

function countNode(lowering: Lowering, { trail }: Place): void {
  lowering.nodes += 1
  if (lowering.nodes > MAX_NODES)
    throw new ToolwrightError("INVALID_SCHEMA", `Written out, the schema has more than ${MAX_NODES} parts.`)
  if (trail.length > MAX_DEPTH)
    throw new ToolwrightError("INVALID_SCHEMA", `The schema is nested more than ${MAX_DEPTH} deep.`)
}

/** A node with its `allOf` as one schema. */
function joinedParts(lowering: Lowering, node: JsonSchema, { path }: Place): AnySchema {
  const { allOf, ...beside } = node
  const conflict = (keyword: string): void =>
    report(lowering, path, keyword, "widened", "Parts of allOf give it values that cannot be joined.")
  const join = (whole: AnySchema, part: AnySchema): AnySchema =>
    merge(whole, dereference(lowering, part, path), conflict)
  return schemasIn(allOf).reduce<AnySchema>(join, beside)
}

/** Branches, each with what stands beside the union. */
function lowerUnion(lowering: Lowering, node: JsonSchema, keyword: "anyOf" | "oneOf", place: Place): JsonSchema {
  const { [keyword]: list, description: _description, title: _title, ...beside } = node
  const { path } = place
  const conflict = (name: string): void =>
    report(lowering, path, name, "widened", `It stands beside ${keyword} with branches that have another value.`)
  const branches = schemasIn(list)
    .map((branch) => merge(beside, dereference(lowering, branch, path), conflict))
    .filter((branch) => branch !== false)
  if (keyword === "oneOf" && !areDisjoint(branches))
    report(lowering, path, "oneOf", "widened", "Treated as anyOf: a value may fit several branches.")
  const lowered = branches.map((branch, index) => lowerNode(lowering, branch, below(place, keyword, index)))
  return joinBranches(lowering, lowered, textsOf(node))
}
