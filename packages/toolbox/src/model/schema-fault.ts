/** Whether a value from outside has the form of a JSON Schema, so that what reads it may rely on that form. */

/** What is wrong with a value that should be a JSON Schema. */
export interface SchemaFault {
  /** A JSON pointer to the keyword, empty for the value as a whole. */
  readonly path: string
  readonly message: string
}

const MAX_DEPTH = 1000
const MAX_NODES = 500_000

/** The form of the keywords that hold schemas or that readers walk through. What is not here may be anything. */
type Form =
  | "schema"
  | "schema or list"
  | "list of schemas"
  | "named schemas"
  | "named"
  | "names"
  | "list"
  | "text"
  | "type"

const KEYWORDS: Readonly<Record<Form, readonly string[]>> = {
  schema: [
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
  ],
  "schema or list": ["items"],
  "list of schemas": ["prefixItems", "allOf", "anyOf", "oneOf"],
  "named schemas": ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
  named: ["dependencies", "dependentRequired"],
  names: ["required"],
  list: ["enum"],
  text: ["$ref", "description"],
  type: ["type"],
}
const FORMS = new Map(
  Object.entries(KEYWORDS).flatMap(([form, keywords]) => keywords.map((keyword) => [keyword, form as Form] as const)),
)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isRecord(value)
const isText = (value: unknown): boolean => typeof value === "string"
const isListOf = (value: unknown, is: (one: unknown) => boolean): boolean => Array.isArray(value) && value.every(is)

const HAS_FORM: Readonly<Record<Form, (value: unknown) => boolean>> = {
  schema: isSchema,
  "schema or list": (value) => isSchema(value) || isListOf(value, isSchema),
  "list of schemas": (value) => isListOf(value, isSchema),
  "named schemas": (value) => isRecord(value) && Object.values(value).every(isSchema),
  named: (value) => isRecord(value) && Object.values(value).every((one) => isSchema(one) || isListOf(one, isText)),
  names: (value) => isListOf(value, isText),
  list: (value) => Array.isArray(value),
  text: isText,
  type: (value) => isText(value) || isListOf(value, isText),
}

const WANTED: Readonly<Record<Form, string>> = {
  schema: "a schema",
  "schema or list": "a schema or a list of schemas",
  "list of schemas": "a list of schemas",
  "named schemas": "an object that holds schemas by name",
  named: "an object that holds schemas, or lists of names, by name",
  names: "a list of names",
  list: "a list",
  text: "a text",
  type: "the name of a type, or a list of such names",
}

/** What the walk has still to look at. A map's values are schemas, its keys are names and no keywords. */
interface Pending {
  readonly value: object
  readonly role: "schema" | "schemas" | "data"
  readonly path: string
  readonly depth: number
}

/**
 * The first thing that is wrong with the form of a schema, wherever it stands in it; undefined where there is nothing.
 * Whether the schema makes sense is another question. Takes any value, cyclic ones too, and never throws.
 */
export function schemaFault(schema: unknown): SchemaFault | undefined {
  if (!isRecord(schema)) return { path: "", message: "is no object" }
  const queue: Pending[] = [{ value: schema, role: "schema", path: "", depth: 0 }]
  let nodes = 0
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const { value, role, path, depth } = at
    if (depth > MAX_DEPTH) return { path: "", message: `is nested more than ${MAX_DEPTH} deep, or contains itself` }
    for (const [key, one] of Object.entries(value)) {
      if (++nodes > MAX_NODES) return { path: "", message: `has more than ${MAX_NODES} parts, or contains itself` }
      const form = role === "schema" ? FORMS.get(key) : undefined
      const wanted =
        form !== undefined && one !== undefined && !HAS_FORM[form](one) ? WANTED[form] : NO_JSON.get(typeof one)
      if (wanted !== undefined) return { path: `${path}/${escape(key)}`, message: `must be ${wanted}` }
      if (typeof one === "object" && one !== null)
        queue.push({ value: one, role: roleOf(role, form, one), path: `${path}/${escape(key)}`, depth: depth + 1 })
    }
  }
  return undefined
}

/** Types of values that no JSON text has. */
const NO_JSON: ReadonlyMap<string, string> = new Map(
  ["bigint", "symbol", "function"].map((type) => [type, `JSON, and a ${type} is none`]),
)

function roleOf(around: Pending["role"], form: Form | undefined, value: object): Pending["role"] {
  if (around === "schemas") return Array.isArray(value) ? "data" : "schema"
  if (form === undefined || form === "list" || form === "names" || form === "type") return "data"
  return Array.isArray(value) || form.startsWith("named") ? "schemas" : "schema"
}

/** The fault as a sentence's end: `"/properties/a/required" must be a list of names`. */
export const describeFault = ({ path, message }: SchemaFault): string =>
  path === "" ? `the schema ${message}` : `${JSON.stringify(path)} ${message}`

const escape = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")
