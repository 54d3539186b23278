type Schema = Record<string, unknown>

/** Keywords that only say something, and those that are looked at here. */
const KNOWN = new Set(
  (
    "title description default examples deprecated readOnly writeOnly $comment type enum const properties required " +
    "additionalProperties items minimum maximum minLength minItems maxItems"
  ).split(" "),
)

const isRecord = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a schema that is one by the rules (see `isPlainSchema`) has no keywords but those that are known here. */
export function isSimpleSchema(schema: unknown): boolean {
  if (typeof schema === "boolean") return true
  if (!isRecord(schema)) return false
  const { properties = {}, additionalProperties = true, items = true, enum: among } = schema
  return (
    // One that names no value cannot be compiled, which the full check says.
    (among === undefined || (among as unknown[]).length > 0) &&
    Object.keys(schema).every((keyword) => KNOWN.has(keyword)) &&
    Object.values(properties as Schema).every(isSimpleSchema) &&
    isSimpleSchema(additionalProperties) &&
    isSimpleSchema(items)
  )
}

/**
 * Whether a value surely meets a simple schema. The first call of a process mostly does: loading Ajv and compiling the
 * schema for it took a tenth of `tools call`. False is no verdict: it leaves the answer, and its words, to the full
 * check.
 */
export function plainlyFits(schema: unknown, value: unknown): boolean {
  if (typeof schema === "boolean") return schema
  const wanted = schema as Schema
  if (!isAmong(wanted, value)) return false
  if (typeof value === "number") return numberFits(wanted, value)
  // A character may be two units of a text.
  if (typeof value === "string") return value.length >= 2 * ((wanted["minLength"] ?? 0) as number) - 1
  if (Array.isArray(value)) return listFits(wanted, value)
  return isRecord(value) ? objectFits(wanted, value) : value === null || typeof value === "boolean"
}

/** Of objects and lists the full check says whether they are the same. */
function isAmong(schema: Schema, value: unknown): boolean {
  const { type, enum: among } = schema
  if (type !== undefined && ![type].flat().some((each) => isOfType(each, value))) return false
  if (among !== undefined && (isNested(value) || !(among as unknown[]).includes(value))) return false
  return !("const" in schema) || (!isNested(value) && value === schema["const"])
}

function numberFits({ minimum = -Infinity, maximum = Infinity }: Schema, value: number): boolean {
  return Number.isFinite(value) && value >= (minimum as number) && value <= (maximum as number)
}

const isNested = (value: unknown): boolean => typeof value === "object" && value !== null

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "object") return isRecord(value)
  if (type === "array") return Array.isArray(value)
  if (type === "null") return value === null
  if (type === "integer") return Number.isInteger(value)
  return typeof value === type
}

function listFits({ items = true, minItems = 0, maxItems = Infinity }: Schema, value: readonly unknown[]): boolean {
  const { length } = value
  if (length < (minItems as number) || length > (maxItems as number)) return false
  // One that was left out of a list made by a program is looked at too, which `every` would not do.
  for (const one of value) if (!plainlyFits(items, one)) return false
  return true
}

function objectFits({ properties, required = [], additionalProperties = true }: Schema, value: Schema): boolean {
  // An object that inherits something of its own making, or names what all inherit, is left to the full check.
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  // What is there and is not listed, as a program can make it, is looked at by its name.
  if (Object.getOwnPropertyNames(value).length > Object.keys(value).length) return false
  const known = new Map(Object.entries((properties ?? {}) as Schema))
  const names = [...known.keys(), ...(required as string[])]
  if (names.some((name) => name in Object.prototype)) return false
  return (
    (required as string[]).every((name) => value[name] !== undefined) &&
    Object.entries(value).every(([name, one]) => plainlyFits(known.get(name) ?? additionalProperties, one))
  )
}
