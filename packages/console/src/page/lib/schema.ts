import { isObject, type Schema } from "./json.ts"

/** How a part of a form is shown. `text` is the way out for whatever a form cannot say: JSON by hand. */
export type Field =
  | { kind: "object"; properties: [name: string, schema: Schema, required: boolean][]; open: boolean }
  | { kind: "list"; items: Schema }
  | { kind: "choice"; values: unknown[] }
  | { kind: "boolean" }
  | { kind: "number"; whole: boolean }
  | { kind: "string"; long: boolean }
  | { kind: "variants"; variants: Schema[] }
  | { kind: "text" }

const MOST_CHOICES = 200
const DEEPEST = 6

/** A schema without what stands elsewhere: references are followed, and lists of one alternative are that one. */
export function settle(schema: Schema | boolean | undefined, root: Schema, depth = 0): Schema {
  if (typeof schema !== "object" || schema === null || depth > 20) return {}
  if (typeof schema.$ref === "string") {
    const { $ref, ...rest } = schema
    const found = referred($ref, root)
    return found === undefined ? rest : settle({ ...found, ...rest }, root, depth + 1)
  }
  const only = [schema.anyOf, schema.oneOf, schema.allOf].find((list) => list?.length === 1)
  if (only === undefined || !isObject(only[0])) return schema
  const { anyOf: _a, oneOf: _o, allOf: _l, ...rest } = schema
  return settle({ ...(only[0] as Schema), ...rest }, root, depth + 1)
}

function referred(reference: string, root: Schema): Schema | undefined {
  if (reference === "#") return root
  if (!reference.startsWith("#/")) return undefined
  let inner: unknown = root
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    inner = typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined
  }
  return isObject(inner) ? (inner as Schema) : undefined
}

/** Keywords that bind parts of a value to each other: a form of single fields would hide them. */
const BINDING = ["allOf", "not", "if", "dependentSchemas", "prefixItems", "patternProperties", "$dynamicRef"]

/** How a schema, settled before, is shown. */
export function fieldOf(schema: Schema, depth = 0): Field {
  const variants = (schema.anyOf ?? schema.oneOf)?.filter(isObject) as Schema[] | undefined
  if (Array.isArray(schema.enum) && schema.enum.length <= MOST_CHOICES) return { kind: "choice", values: schema.enum }
  if ("const" in schema) return { kind: "choice", values: [schema.const] }
  if (variants !== undefined && variants.length > 1 && schema.properties === undefined && depth < DEEPEST)
    return { kind: "variants", variants }
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? guessed(schema))
  const [type] = types.filter((each) => each !== "null")
  if (types.filter((each) => each !== "null").length !== 1) return { kind: "text" }
  return ofType(type!, schema, depth)
}

function ofType(type: string, schema: Schema, depth: number): Field {
  switch (type) {
    case "boolean":
      return { kind: "boolean" }
    case "integer":
    case "number":
      return { kind: "number", whole: type === "integer" }
    case "string":
      return { kind: "string", long: (schema.maxLength ?? 201) > 200 && schema.format === undefined }
    case "array":
      return isObject(schema.items) && depth < DEEPEST && schema.prefixItems === undefined
        ? { kind: "list", items: schema.items as Schema }
        : { kind: "text" }
    case "object":
      return objectField(schema, depth)
    default:
      return { kind: "text" }
  }
}

function objectField(schema: Schema, depth: number): Field {
  const names = Object.keys(schema.properties ?? {})
  if (names.length === 0 || depth >= DEEPEST) return { kind: "text" }
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const properties = names.map((name): [string, Schema, boolean] => {
    const property = schema.properties![name]
    return [name, typeof property === "object" ? property : {}, required.has(name)]
  })
  // What is asked for stands first; otherwise the order is that of whoever wrote the schema.
  properties.sort((a, b) => Number(b[2]) - Number(a[2]))
  const open = schema.additionalProperties !== false || BINDING.some((keyword) => keyword in schema)
  return { kind: "object", properties, open }
}

function guessed(schema: Schema): string[] {
  if (schema.properties !== undefined) return ["object"]
  if (schema.items !== undefined) return ["array"]
  return []
}

/** Whether null is a value of it. */
export const takesNull = ({ type }: Schema): boolean => Array.isArray(type) && type.includes("null")

/** What a form begins with: what is required, with the first value that comes to mind for each. */
export function startingValue(schema: Schema | boolean | undefined, root: Schema, depth = 0): unknown {
  const settled = settle(schema, root)
  if (settled.default !== undefined) return settled.default
  const field = fieldOf(settled, depth)
  switch (field.kind) {
    case "choice":
      return field.values[0]
    case "boolean":
      return false
    case "number":
      return Math.max(settled.minimum ?? 0, 0)
    case "string":
      return ""
    case "list":
      return Array.from({ length: Math.min(settled.minItems ?? 0, 3) }, () =>
        startingValue(field.items, root, depth + 1),
      )
    case "object":
      return Object.fromEntries(
        field.properties
          .filter(([, , required]) => required)
          .map(([name, property]) => [name, startingValue(property, root, depth + 1)]),
      )
    case "variants":
      return startingValue(field.variants[0], root, depth + 1)
    default:
      return settled.type === "array" ? [] : settled.type === "object" || settled.properties ? {} : null
  }
}

/** The texts of an object that have to be given, and are empty. */
export function emptyTexts(root: Schema, value: unknown): string[] {
  if (!isObject(value)) return []
  const { required } = settle(root, root)
  const names = Array.isArray(required) ? required : []
  return names.filter((name): name is string => typeof name === "string" && value[name] === "")
}
