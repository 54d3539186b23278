import { ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { define, merge, same, typesOf } from "./merge.ts"
import { isSchema, schemaMap, schemasIn, type AnySchema } from "./references.ts"

const MAX_COMPARED = 64
const MAX_MERGED = 100

/**
 * Whether no value fits two of these schemas, as far as types and listed values tell; then `oneOf` says the same as
 * `anyOf`.
 */
export function areDisjoint(branches: readonly AnySchema[]): boolean {
  if (branches.length > MAX_COMPARED) return false
  return branches.every((left, index) => branches.slice(index + 1).every((right) => disjoint(left, right)))
}

function disjoint(left: AnySchema, right: AnySchema): boolean {
  if (!isSchema(left) || !isSchema(right)) return left === false || right === false
  const a = valuesOf(left)
  const b = valuesOf(right)
  if (a !== undefined && b !== undefined) return a.every((value) => b.every((other) => !same(value, other)))
  const types = typesOf(left.type)
  const others = typesOf(right.type)
  if (types.length > 0 && others.length > 0 && types.every((type) => !others.some((other) => overlap(type, other))))
    return true
  // Objects are told apart by a property that both require and that has no value in common.
  if (
    !types.every((type) => type === "object") ||
    !others.every((type) => type === "object") ||
    types.length + others.length < 2
  )
    return false
  return (left.required ?? []).some((name) => {
    if (!(right.required ?? []).includes(name)) return false
    const one = propertyOf(left, name)
    const two = propertyOf(right, name)
    return one !== undefined && two !== undefined && disjoint(one, two)
  })
}

function overlap(a: string, b: string): boolean {
  return a === b || (a === "integer" && b === "number") || (a === "number" && b === "integer")
}

function valuesOf(schema: JsonSchema): unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

function propertyOf(schema: JsonSchema, name: string): AnySchema | undefined {
  return isSchema(schema.properties) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
}

/**
 * An object schema without a union at its root, for targets that refuse one: the properties of all branches, required
 * when every branch requires them. Which of them belong together is no longer said, and `lost` is told the keyword.
 *
 * @param deref resolves a branch that is a reference
 */
export function mergeRoot(
  root: JsonSchema,
  lost: (keyword: string) => void,
  deref: (schema: AnySchema) => AnySchema,
  depth = 0,
): JsonSchema {
  if (depth > MAX_MERGED)
    throw new ToolwrightError("INVALID_SCHEMA", `The root is made of more than ${MAX_MERGED} schemas, or of itself.`)
  let merged = deref(root) as JsonSchema
  if (Array.isArray(merged.allOf)) {
    const { allOf, ...rest } = merged
    const whole = schemasIn(allOf).reduce<AnySchema>((sum, part) => merge(sum, deref(part), lost), rest)
    merged = isSchema(whole) ? whole : rest
    if (Array.isArray(merged.allOf)) return mergeRoot(merged, lost, deref, depth + 1)
  }
  for (const keyword of ["oneOf", "anyOf"] as const) {
    if (!Array.isArray(merged[keyword])) continue
    const { [keyword]: list, ...base } = merged
    const branches = schemasIn(list)
      .map(deref)
      .filter(isSchema)
      .map((branch) => mergeRoot(branch, lost, deref, depth + 1))
    const objects = branches.filter(
      (branch) => typesOf(branch.type).length === 0 || typesOf(branch.type).includes("object"),
    )
    if (objects.length === 0)
      throw new ToolwrightError("INVALID_SCHEMA", `No branch of the root's ${keyword} is an object schema.`, {
        hint: 'Give the branches "type": "object".',
      })
    merged =
      objects.length === 1 ? (merge(base, objects[0]!, lost) as JsonSchema) : (lost(keyword), union(base, objects))
  }
  return merged
}

function union(base: JsonSchema, branches: readonly JsonSchema[]): JsonSchema {
  const properties: Record<string, JsonSchema> = { ...base.properties }
  for (const branch of branches) {
    for (const [name, schema] of schemaMap(branch.properties)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      define(properties, name, known === undefined ? schema : either(known, schema))
    }
  }
  const shared = branches
    .map((branch) => branch.required ?? [])
    .reduce((all, list) => all.filter((name) => list.includes(name)), branches[0]?.required ?? [])
  const required = [...new Set([...(base.required ?? []), ...shared])]
  const isClosed =
    branches.length > 0 &&
    branches.every((branch) => (branch.additionalProperties ?? base.additionalProperties) === false)
  const { additionalProperties, ...rest } = base
  return {
    ...rest,
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isClosed || (branches.length === 0 && additionalProperties === false) ? { additionalProperties: false } : {}),
  }
}

/** A schema for what either allows: listed values in one list, the same schema once, else `anyOf`. */
function either(left: JsonSchema, right: AnySchema): JsonSchema {
  if (!isSchema(right) || same(left, right)) return left
  const a = valuesOf(left)
  const b = valuesOf(right)
  if (a !== undefined && b !== undefined && same(left.type, right.type)) {
    const { const: _const, ...rest } = left
    return { ...rest, enum: [...a, ...b.filter((value) => !a.some((known) => same(known, value)))] }
  }
  const known = left.anyOf !== undefined && Object.keys(left).length === 1 ? left.anyOf : [left]
  return known.some((branch) => same(branch, right)) ? left : { anyOf: [...known, right] }
}
