import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"

const DEEPEST = 32

/** A schema with its references followed, as far as they lead inside the document. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (!isSchema(schema)) return {}
  let resolved = schema
  for (let steps = 0; typeof resolved.$ref === "string" && steps < DEEPEST; steps++) {
    const target = pointer(root, resolved.$ref)
    if (target === undefined) return {}
    const { $ref: _, ...beside } = resolved
    resolved = { ...target, ...beside }
  }
  return resolved
}

function pointer(root: JsonSchema, reference: string): JsonSchema | undefined {
  if (!reference.startsWith("#")) return undefined
  let place: unknown = root
  for (const part of reference
    .slice(1)
    .split("/")
    .filter((step) => step !== "")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined
    place = (place as Record<string, unknown>)[key]
  }
  return isSchema(place) ? place : undefined
}

/** A part of a reference; as it stands where its percent signs encode nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The schema of a tool's parameter; undefined when nothing is known about it. */
export function parameterSchema(tool: ToolDefinition | undefined, key: string): JsonSchema | undefined {
  return tool === undefined ? undefined : memberSchema(tool.parameters, key, tool.parameters)
}

/** The schema of an object's member, looked for in every branch; undefined when nothing is known about it. */
export function memberSchema(schema: JsonSchema, key: string, root: JsonSchema, depth = 0): JsonSchema | undefined {
  if (depth > DEEPEST) return undefined
  const { properties, additionalProperties, anyOf, oneOf, allOf } = resolve(schema, root)
  if (properties !== undefined && Object.hasOwn(properties, key)) {
    const property: unknown = properties[key]
    return isSchema(property) ? resolve(property, root) : {}
  }
  const found: JsonSchema[] = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])]
    .map((branch) => memberSchema(branch, key, root, depth + 1))
    .filter((branch) => branch !== undefined)
  if (found.length > 0) return found.length === 1 ? found[0] : { anyOf: found }
  return isSchema(additionalProperties) ? resolve(additionalProperties, root) : undefined
}

/** The schema of an array's items; anything when none is given. */
export function itemSchema(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  if (depth > DEEPEST) return {}
  const { items, anyOf, oneOf, allOf } = resolve(schema, root)
  if (isSchema(items)) return resolve(items, root)
  const found: JsonSchema[] = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])]
    .map((branch) => itemSchema(branch, root, depth + 1))
    .filter((branch) => Object.keys(branch).length > 0)
  return found.length === 1 ? (found[0] ?? {}) : found.length === 0 ? {} : { anyOf: found }
}

export type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object"
const EVERY: readonly JsonType[] = ["string", "number", "integer", "boolean", "null", "array", "object"]

/** Which types of value a schema admits, through references, unions, `enum`, `const` and `nullable`. */
export function admittedTypes(schema: JsonSchema, root: JsonSchema, depth = 0): ReadonlySet<JsonType> {
  if (depth > DEEPEST) return new Set(EVERY)
  const resolved = resolve(schema, root)
  let types = new Set<JsonType>(EVERY)
  for (const said of saidTypes(resolved, root, depth))
    types = new Set([...types].filter((type) => said.has(type) || (type === "integer" && said.has("number"))))
  if (resolved.type === undefined && resolved.properties !== undefined && types.size === EVERY.length)
    types = new Set(["object"])
  if (resolved.nullable === true) types.add("null")
  return types
}

/** What each keyword of a schema says about its type. */
function* saidTypes(
  { type, const: only, enum: listed, anyOf, oneOf, allOf }: JsonSchema,
  root: JsonSchema,
  depth: number,
): Generator<ReadonlySet<JsonType>> {
  if (typeof type === "string") yield new Set([jsonType(type)])
  else if (Array.isArray(type)) yield new Set(type.map(jsonType))
  if (only !== undefined) yield new Set([typeOf(only)])
  if (listed !== undefined) yield new Set(listed.map(typeOf))
  for (const union of [anyOf, oneOf]) {
    if (union !== undefined && union.length > 0)
      yield new Set(union.flatMap((branch) => [...admittedTypes(branch, root, depth + 1)]))
  }
  for (const branch of allOf ?? []) yield admittedTypes(branch, root, depth + 1)
}

/** Types as other languages call them, which tool lists have all the same. */
const OTHER_NAMES: readonly (readonly [RegExp, JsonType])[] = [
  [/^(str|text|varchar|char)$/, "string"],
  [/^(bool|binary)$/, "boolean"],
  [/^(u?int\d*|u?long|u?short|unsigned)$/, "integer"],
  [/^(num|float\d*|double|decimal)$/, "number"],
  [/^(list|tuple|set)$/, "array"],
  [/^(dict|map)$/, "object"],
  [/^none(type)?$/, "null"],
]

function jsonType(name: string): JsonType {
  const known = EVERY.find((type) => type === name)
  if (known !== undefined) return known
  const plain = name.toLowerCase()
  return OTHER_NAMES.find(([pattern]) => pattern.test(plain))?.[1] ?? (plain as JsonType)
}

export function typeOf(value: unknown): JsonType {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number"
  return typeof value as JsonType
}

/** Whether a value is of a type that the schema admits and, where the schema lists values, one of them. */
export function admits(schema: JsonSchema, root: JsonSchema, value: unknown): boolean {
  const types = admittedTypes(schema, root)
  const type = typeOf(value)
  if (!types.has(type) && !(type === "integer" && types.has("number"))) return false
  const listed = listedValues(resolve(schema, root), root)
  return listed === undefined || listed.some((candidate) => JSON.stringify(candidate) === JSON.stringify(value))
}

/** All values a schema lists, when it admits no others. */
function listedValues(schema: JsonSchema, root: JsonSchema, depth = 0): unknown[] | undefined {
  if (depth > DEEPEST) return undefined
  if (schema.const !== undefined) return [schema.const]
  if (schema.enum !== undefined) return schema.nullable === true ? [...schema.enum, null] : schema.enum
  const union = schema.anyOf ?? schema.oneOf
  if (union === undefined || union.length === 0) return undefined
  const lists = union.map((branch) => listedValues(resolve(branch, root), root, depth + 1))
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined
}
