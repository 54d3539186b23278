/**
 * A JSON Schema 2020-12 document or sub-schema, as data. The named keywords are the ones this project reads itself;
 * every other keyword of an imported schema is kept as it came.
 */
export interface JsonSchema {
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema | boolean
  enum?: unknown[]
  const?: unknown
  default?: unknown
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  $ref?: string
  $defs?: Record<string, JsonSchema>
  [keyword: string]: unknown
}

/** A JSON object, such as the arguments of a call. */
export type JsonObject = Record<string, unknown>
