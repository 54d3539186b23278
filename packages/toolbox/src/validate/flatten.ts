import type { JsonSchema } from "../model/schema.ts"

/**
 * An object schema without combinators at the top, for hosts that drop these together with everything in them: all
 * properties of
 * the branches, and as required what every branch requires. It admits more than the schema; the tool itself checks the
 * rest.
 */
export function withoutTopCombinators(schema: JsonSchema): JsonSchema {
  const branches = schema.oneOf ?? schema.anyOf
  if (branches === undefined) return schema
  const { oneOf: _one, anyOf: _any, ...rest } = schema
  const properties: Record<string, JsonSchema> = { ...rest.properties }
  for (const branch of branches) {
    for (const [name, property] of Object.entries(branch.properties ?? {}))
      properties[name] = merged(properties[name], property)
  }
  const shared = branches
    .map((branch) => branch.required ?? [])
    .reduce((all, names) => all.filter((name) => names.includes(name)), branches[0]?.required ?? [])
  const required = [...new Set([...(rest.required ?? []), ...shared])]
  return { ...rest, type: "object", properties, ...(required.length === 0 ? {} : { required }) }
}

/** Two branches' schemas of one property: constants become a choice; otherwise the first stands. */
function merged(first: JsonSchema | undefined, second: JsonSchema): JsonSchema {
  if (first === undefined) return second
  const values = ({ const: constant, enum: choice }: JsonSchema): unknown[] | undefined =>
    constant === undefined ? choice : [constant]
  const [a, b] = [values(first), values(second)]
  if (a === undefined || b === undefined) return first
  const { const: _constant, ...rest } = first
  return { ...rest, enum: [...new Set([...a, ...b])] }
}
