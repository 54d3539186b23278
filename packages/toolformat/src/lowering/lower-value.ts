/** A node without references and branches: one type, several, or none. */
import type { JsonSchema } from "@toolwright/toolbox"
import { report, type Lowering, type Place } from "./context.ts"
import { lowerTyped } from "./lower-typed.ts"
import { same, typesOf } from "./merge.ts"
import { applicable, impliedTypes, isAssertion, listedValues, normalised, typeOf, withNull } from "./schema-words.ts"

const TYPES = ["string", "number", "boolean", "null", "object", "array"]

export function lowerPlain(lowering: Lowering, node: JsonSchema, place: Place): JsonSchema {
  const { type, nullable, ...rest } = node
  const given = typesOf(type)
  const types = given.length > 0 ? [...given] : impliedTypes(rest)
  if (nullable === true && types.length > 0 && !types.includes("null")) types.push("null")
  if (types.length === 0) return lowering.anything(rest, place)
  if (given.length === 0) report(lowering, place.path, "type", "narrowed", `Without a type it is read as ${types[0]}.`)
  const canBeNull = types.includes("null") && (listedValues(rest)?.includes(null) ?? true)
  return lowerTypes(
    lowering,
    types.filter((each) => each !== "null"),
    { node: rest, place, canBeNull },
  )
}

interface PlainNode {
  node: JsonSchema
  place: Place
  canBeNull: boolean
}

/** A node of some types beside `null`. */
function lowerTypes(lowering: Lowering, types: string[], { node, place, canBeNull }: PlainNode): JsonSchema {
  const { profile } = lowering
  const [first, ...others] = types
  if (first === undefined) return { type: "null", ...(profile.nulls === "nullable" ? { nullable: true } : {}) }
  if (others.length === 0) {
    const single = lowerTyped(lowering, first, node, place)
    return canBeNull ? withNull(single, profile) : single
  }
  const branches = types.map((type) => lowerTyped(lowering, type, applicable(type, node), place))
  return joinBranches(lowering, canBeNull ? [...branches, { type: "null" }] : branches, textsOf(node))
}

/** Any value, or one of a list of mixed types. */
export function anything(lowering: Lowering, node: JsonSchema, place: Place): JsonSchema {
  const { profile } = lowering
  const values = listedValues(node)
  if (values !== undefined) return joinBranches(lowering, enumBranches(lowering, values, node, place), {})
  const known = normalised(node).length > 0 ? typesOf(node.type) : []
  if (known.length > 0) return lowerPlain(lowering, { type: known }, place)
  if (Object.keys(node).some(isAssertion)) {
    const branches = TYPES.map((type) => lowerTyped(lowering, type, applicable(type, node), place))
    return joinBranches(lowering, branches, {})
  }
  const texts: JsonSchema = {}
  for (const [keyword, value] of Object.entries(node)) if (profile.annotations.has(keyword)) texts[keyword] = value
  if (profile.anyValue) return texts
  report(lowering, place.path, "type", "narrowed", "A value of any type is offered as text, a number or a truth value.")
  return joinBranches(lowering, [{ type: "string" }, { type: "number" }, { type: "boolean" }], texts)
}

/** Listed values, a branch for each type among them. */
function enumBranches(lowering: Lowering, values: unknown[], node: JsonSchema, place: Place): JsonSchema[] {
  const { enum: _enum, const: _const, ...rest } = node
  const groups = new Map<string, unknown[]>()
  for (const value of values) groups.set(typeOf(value), [...(groups.get(typeOf(value)) ?? []), value])
  return Array.from(groups, ([type, list]) =>
    type === "null" ? { type } : lowerTyped(lowering, type, { ...rest, enum: list }, place),
  )
}

/** What is said about a node as a whole, whichever branch is taken. */
export function textsOf({ description, title }: JsonSchema): JsonSchema {
  return { ...(description === undefined ? {} : { description }), ...(title === undefined ? {} : { title }) }
}

/** Branches as `anyOf`; a lone one stands for itself, and `null` is written as the target wants it. */
export function joinBranches({ profile }: Lowering, list: JsonSchema[], texts: JsonSchema): JsonSchema {
  const flat = list.flatMap((branch) =>
    branch.anyOf !== undefined && Object.keys(branch).length === 1 ? branch.anyOf : [branch],
  )
  const unique = flat.filter((branch, index) => flat.findIndex((other) => same(branch, other)) === index)
  const values = profile.nulls === "nullable" ? unique.filter((branch) => branch.type !== "null") : unique
  const nullable = values.length < unique.length ? { nullable: true } : {}
  if (values.length === 1) return { ...values[0], ...texts, ...nullable }
  return { ...texts, anyOf: values, ...nullable }
}
