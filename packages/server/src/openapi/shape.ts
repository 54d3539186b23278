import type { JsonObject } from "@toolwright/toolbox"

export const text: JsonObject = { type: "string" }
export const number: JsonObject = { type: "number" }
export const whole: JsonObject = { type: "integer" }
export const yes: JsonObject = { type: "boolean" }
export const time: JsonObject = { type: "number", description: "Milliseconds since 1970" }
export const moment: JsonObject = { type: "string", format: "date-time" }
export const anything: JsonObject = {}

export const list = (items: JsonObject): JsonObject => ({ type: "array", items })
export const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: "null" }] })
export const oneOf = (...values: string[]): JsonObject => ({ type: "string", enum: values })
export const named = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
export const byName = (values: JsonObject): JsonObject => ({ type: "object", additionalProperties: values })

/** An object with these fields; a name that ends in `?` may be left out. */
export function fields(shape: Readonly<Record<string, JsonObject>>): JsonObject {
  const names = Object.keys(shape)
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), shape[name]!])),
    required: names.filter((name) => !name.endsWith("?")),
  }
}
