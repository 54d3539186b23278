type Schema = Record<string, unknown>

/** Keywords that only say something, and those that are looked at here. */
const KNOWN = new Set(
  (
    "title description default examples deprecated readOnly writeOnly $comment type enum const properties required " +
    "additionalProperties items minimum maximum minLength minItems maxItems pattern propertyNames not"
  ).split(" "),
)

const DRAFT = "https://json-schema.org/draft/2020-12/schema"

/** Patterns that every engine can read: letters, digits, `_`, and plain classes of them, from the start to the end. */
const PLAIN_PATTERN = /^\^(?:\w|\[(?:A-Z|a-z|0-9|\w)+\][*+?]?)+\$$/
/** Those that one text meets. */
const WHOLE_TEXT = /^\^(\w+)\$$/

const isRecord = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A schema without the name of the draft by which it is read also where it names none. */
export function withoutDraft({ $schema, ...rest }: Schema): Schema {
  return $schema === undefined || $schema === DRAFT ? rest : { $schema, ...rest }
}

/** Whether a schema that is one by the rules (see `isPlainSchema`) has no keywords but those that are known here. */
export function isSimpleSchema(schema: unknown): boolean {
  if (typeof schema === "boolean") return true
  if (!isRecord(schema)) return false
  const { properties = {}, additionalProperties = true, items = true, enum: among } = schema
  const { pattern, propertyNames = true, not = true } = schema
  return (
    // One that names no value cannot be compiled, nor a pattern with a mistake, which the full check says.
    (among === undefined || (among as unknown[]).length > 0) &&
    (pattern === undefined || PLAIN_PATTERN.test(pattern as string)) &&
    Object.keys(schema).every((keyword) => KNOWN.has(keyword)) &&
    Object.values(properties as Schema).every(isSimpleSchema) &&
    [additionalProperties, items, propertyNames, not].every(isSimpleSchema)
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
  // What it may not be is for the full check to say.
  if ("not" in wanted || !isAmong(wanted, value)) return false
  if (typeof value === "number") return numberFits(wanted, value)
  if (typeof value === "string") return textFits(wanted, value)
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

function textFits({ minLength = 0, pattern }: Schema, value: string): boolean {
  // A character may be two units of a text.
  if (value.length < 2 * (minLength as number) - 1) return false
  return pattern === undefined || WHOLE_TEXT.exec(pattern as string)?.[1] === value
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

function objectFits(schema: Schema, value: Schema): boolean {
  const { properties, required = [], additionalProperties = true, propertyNames = true } = schema
  // An object that inherits something of its own making, or names what all inherit, is left to the full check.
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  // What is there and is not listed, as a program can make it, is looked at by its name.
  if (Object.getOwnPropertyNames(value).length > Object.keys(value).length) return false
  const known = new Map(Object.entries((properties ?? {}) as Schema))
  const names = [...known.keys(), ...(required as string[])]
  if (names.some((name) => name in Object.prototype)) return false
  return (
    (required as string[]).every((name) => value[name] !== undefined) &&
    Object.entries(value).every(
      ([name, one]) => plainlyFits(propertyNames, name) && plainlyFits(known.get(name) ?? additionalProperties, one),
    )
  )
}
