/** JSON Schema as data, and what is known about its dialects. */

/** A schema of any draft from 4 to 2020-12. Keywords are read where they stand; unknown ones are annotations. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export type Schema = JsonSchema | boolean

/** The draft's year or number, as far as it changes the meaning of keywords. */
export type SchemaDialect = "draft-04" | "draft-06" | "draft-07" | "2019-09" | "2020-12" | "unnamed"

export function dialectOf(schema: Schema): SchemaDialect {
  const uri = typeof schema === "object" ? schema["$schema"] : undefined
  if (typeof uri !== "string") return "unnamed"
  const draft = /draft-0?([3467])\b/.exec(uri)
  if (draft !== null) return draft[1] === "6" ? "draft-06" : draft[1] === "7" ? "draft-07" : "draft-04"
  if (uri.includes("2019-09")) return "2019-09"
  return uri.includes("2020-12") ? "2020-12" : "unnamed"
}

/** Whether a `$schema` names JSON Schema itself, not some dialect built upon it. */
export const isKnownDialect = (uri: string): boolean => /^(?:https?:)?\/\/json-schema\.org\//.test(uri)

export function isSchema(value: unknown): value is Schema {
  return typeof value === "boolean" || isObject(value)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Keywords whose value is a schema, a list of schemas, or schemas under names. */
export const ONE_SCHEMA: ReadonlySet<string> = new Set([
  "additionalProperties",
  "additionalItems",
  "items",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contentSchema",
])
export const SCHEMA_LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "definitions",
  "$defs",
  "dependentSchemas",
  "dependencies",
])

/** The sub-schemas of a schema, each with its place below it. */
export function* subschemas(schema: JsonSchema): Generator<readonly [path: string, schema: Schema]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE_SCHEMA.has(keyword) && isSchema(value)) yield [`/${keyword}`, value]
    if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
      for (const [index, one] of value.entries()) if (isSchema(one)) yield [`/${keyword}/${index}`, one]
    }
    if (NAMED_SCHEMAS.has(keyword) && isObject(value)) {
      for (const [name, one] of Object.entries(value))
        if (isSchema(one)) yield [`/${keyword}/${escapePointer(name)}`, one]
    }
  }
}

export const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")
export const unescapePointer = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~")
