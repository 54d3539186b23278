/** What keywords, types and values of a schema mean to lowering. */
import type { JsonSchema } from "@toolwright/toolbox"
import { typesOf } from "./merge.ts"
import { schemaMap } from "./references.ts"
import { TYPES_OF_KEYWORD, type TargetProfile } from "./targets.ts"

export function isAssertion(keyword: string): boolean {
  return Object.hasOwn(TYPES_OF_KEYWORD, keyword) || ["not", "if", "then", "else"].includes(keyword)
}

export function withNull(schema: JsonSchema, profile: TargetProfile): JsonSchema {
  if (profile.nulls === "nullable") return { ...schema, nullable: true }
  if (schema.anyOf !== undefined)
    return schema.anyOf.some((branch) => branch.type === "null")
      ? schema
      : { ...schema, anyOf: [...schema.anyOf, { type: "null" }] }
  const types = typesOf(schema.type)
  if (types.includes("null")) return schema
  if (types.length === 0 || schema.enum !== undefined || schema.$ref !== undefined)
    return { anyOf: [schema, { type: "null" }] }
  return { ...schema, type: [...types, "null"] }
}

/** Where patterns of property names are lost, what they allow is allowed for every further property. */
export function withPatterns(node: JsonSchema): JsonSchema {
  const patterns = schemaMap(node.patternProperties).map(([, schema]) => schema)
  const rest = node.additionalProperties
  if (patterns.length === 0 || rest === undefined || rest === true) return node
  const allowed = rest === false ? patterns : [...patterns, rest]
  return {
    ...node,
    additionalProperties: allowed.length === 1 ? (allowed[0] as JsonSchema) : ({ anyOf: allowed } as JsonSchema),
  }
}

/** Older spellings in today's: a list under `items`, and exclusive bounds as flags. */
export function normalised(node: JsonSchema): [string, unknown][] {
  const { items, additionalItems, exclusiveMinimum, exclusiveMaximum, ...rest } = node
  const entries: JsonSchema = { ...rest }
  if (Array.isArray(items)) {
    entries.prefixItems = items
    if (additionalItems !== undefined) entries.items = additionalItems as boolean | JsonSchema
  } else if (items !== undefined) entries.items = items
  for (const [keyword, bound, flag] of [
    ["exclusiveMinimum", "minimum", exclusiveMinimum],
    ["exclusiveMaximum", "maximum", exclusiveMaximum],
  ] as const) {
    if (flag === true) {
      // Draft 4: a mark of the bound beside it, which says nothing where there is none.
      if (entries[bound] !== undefined) entries[keyword] = entries[bound]
      delete entries[bound]
    } else if (flag !== undefined && flag !== false) entries[keyword] = flag
  }
  return Object.entries(entries)
}

/** The keywords of a node that speak about a type, or about all. */
export function applicable(type: string, node: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(node).filter(
      ([keyword]) =>
        (!Object.hasOwn(TYPES_OF_KEYWORD, keyword) || TYPES_OF_KEYWORD[keyword]!.includes(type)) &&
        keyword !== "description" &&
        keyword !== "title",
    ),
  )
}

/** The types of a schema that names none but lists values, or has properties as if it were an object. */
export function impliedTypes(node: JsonSchema): string[] {
  if (listedValues(node) !== undefined) return []
  if (node.properties !== undefined) return ["object"]
  return node.items === undefined ? [] : ["array"]
}

/** The values that a schema lists, by `enum` or `const`; undefined where it lists none. */
export function listedValues(node: JsonSchema): unknown[] | undefined {
  const values = node.const === undefined ? node.enum : [node.const]
  return Array.isArray(values) ? values : undefined
}

export function typeOf(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return typeof value === "number" ? "number" : typeof value
}

export function fits(value: unknown, type: string): boolean {
  return type === "integer" ? Number.isInteger(value) : typeOf(value) === type
}
