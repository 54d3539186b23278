import type { JsonObject, JsonSchema } from "@toolwright/toolbox"
import { typesOf } from "./merge.ts"
import { isSchema, resolve, schemasIn, type AnySchema } from "./references.ts"

/**
 * Undoes in a call's arguments what strict mode asks for: a property that the schema neither requires nor allows to be
 * `null`, and that came as `null`, was left out by the model. Everything else stays as it is.
 *
 * @param args arguments that fit `lowerSchema(schema, "openai-strict").schema`
 * @param schema the schema as the tool defines it
 */
export function restoreArguments(args: JsonObject, schema: JsonSchema): JsonObject {
  return restore(args, [schema], schema, 0) as JsonObject
}

function restore(value: unknown, candidates: readonly AnySchema[], root: JsonSchema, depth: number): unknown {
  if (depth > 200) return value
  const schemas = candidates.flatMap((schema) => expand(schema, root))
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      restore(
        item,
        schemas.flatMap((schema) => itemSchemas(schema, index)),
        root,
        depth + 1,
      ),
    )
  }
  if (typeof value !== "object" || value === null) return value
  const restored: JsonObject = {}
  for (const [name, item] of Object.entries(value)) {
    const owners = schemas.filter((schema) => isSchema(schema.properties) && Object.hasOwn(schema.properties, name))
    const properties = owners.map((schema) => schema.properties![name] as AnySchema)
    const isRequired = schemas.some((schema) => Array.isArray(schema.required) && schema.required.includes(name))
    if (item === null && owners.length > 0 && !isRequired && !properties.some((property) => allowsNull(property, root)))
      continue
    Object.defineProperty(restored, name, {
      value: restore(item, properties, root, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return restored
}

/** The schema itself and all that it is made of. */
function expand(schema: AnySchema, root: JsonSchema): JsonSchema[] {
  const parts = new Set<JsonSchema>()
  const add = (part: AnySchema): void => {
    if (isSchema(part)) parts.add(part)
  }
  add(schema)
  // A set is walked to its end, also as it grows; each schema is in it once, so circles end.
  for (const part of parts) {
    const target = typeof part.$ref === "string" ? resolve(root, part.$ref) : undefined
    if (target !== undefined) add(target)
    for (const keyword of ["allOf", "anyOf", "oneOf"] as const) schemasIn(part[keyword]).forEach(add)
  }
  return [...parts]
}

function itemSchemas(schema: JsonSchema, index: number): AnySchema[] {
  const list = schema.prefixItems ?? schema.items
  if (Array.isArray(list) && index < list.length) return [schemasIn(list)[index]!]
  return isSchema(schema.items) ? [schema.items] : []
}

function allowsNull(schema: AnySchema, root: JsonSchema): boolean {
  if (schema === true) return true
  return expand(schema, root).some((part) => {
    if (part.nullable === true || part.const === null || (Array.isArray(part.enum) && part.enum.includes(null)))
      return true
    if (typesOf(part.type).includes("null")) return part.enum === undefined && part.const === undefined
    const says = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties"].some(
      (keyword) => part[keyword] !== undefined,
    )
    return !says
  })
}
