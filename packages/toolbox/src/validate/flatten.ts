import { schemaFault } from "../model/schema-fault.ts"
import type { JsonSchema } from "../model/schema.ts"

/**
 * An object schema without combinators at the top, for hosts that drop these together with everything in them: all
 * properties of the branches, and as required what every branch requires. It admits more than the schema; the tool
 * itself checks the rest. A schema that is malformed comes back as it is.
 */
export function withoutTopCombinators(schema: JsonSchema): JsonSchema {
  const { oneOf, anyOf, ...around } = schema
  if ((oneOf ?? anyOf) === undefined || schemaFault(schema) !== undefined) return schema
  const branches = (oneOf ?? anyOf)!.filter((branch) => typeof branch === "object")
  const properties = new Map(Object.entries(around.properties ?? {}))
  for (const branch of branches) {
    for (const [name, property] of Object.entries(branch.properties ?? {}))
      properties.set(name, merged(properties.get(name), property))
  }
  const shared = branches
    .map((branch) => branch.required ?? [])
    .reduce((all, names) => all.filter((name) => names.includes(name)), branches[0]?.required ?? [])
  const required = [...new Set([...(around.required ?? []), ...shared])]
  return {
    ...around,
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  }
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
