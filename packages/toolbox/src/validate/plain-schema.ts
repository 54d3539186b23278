type Test = (value: unknown) => boolean

/** What a keyword holds: a value that passes a test, or schemas that are looked at in their turn. */
type Form = Test | "schema" | "list of schemas" | "named schemas"

const isText: Test = (value) => typeof value === "string"
const isTruth: Test = (value) => typeof value === "boolean"
const isNumber: Test = (value) => Number.isFinite(value)
const isCount: Test = (value) => Number.isInteger(value) && (value as number) >= 0
const isAnything: Test = () => true
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const TYPES = new Set<unknown>(["array", "boolean", "integer", "null", "number", "object", "string"])
const isType: Test = (value) =>
  TYPES.has(value) ||
  (Array.isArray(value) && value.length > 0 && areDifferent(value) && value.every((one) => TYPES.has(one)))
const areNames: Test = (value) => Array.isArray(value) && value.every(isText) && areDifferent(value)
const areDifferent = (values: readonly unknown[]): boolean => new Set(values).size === values.length

/** The keywords of schemas as tools have them. */
const FORMS: ReadonlyMap<string, Form> = new Map(
  (
    [
      [isText, "$ref $dynamicRef $comment title description format pattern contentEncoding contentMediaType"],
      [isTruth, "deprecated readOnly writeOnly uniqueItems"],
      [isNumber, "maximum exclusiveMaximum minimum exclusiveMinimum"],
      [isCount, "maxLength minLength maxItems minItems maxContains minContains maxProperties minProperties"],
      [(value) => isNumber(value) && (value as number) > 0, "multipleOf"],
      [isType, "type"],
      [areNames, "required"],
      [(value) => isRecord(value) && Object.values(value).every(areNames), "dependentRequired"],
      [Array.isArray, "enum examples"],
      [isAnything, "const default"],
      ["schema", "items contains additionalProperties propertyNames if then else not contentSchema"],
      ["schema", "unevaluatedItems unevaluatedProperties"],
      ["list of schemas", "prefixItems allOf anyOf oneOf"],
      ["named schemas", "properties patternProperties dependentSchemas $defs definitions"],
    ] satisfies [Form, string][]
  ).flatMap(([form, keywords]) => keywords.split(" ").map((keyword) => [keyword, form] as const)),
)

/** Keywords that name a schema or come from older drafts: what they may hold is for the full check to say. */
const FOR_THE_FULL_CHECK = new Set([
  "$id",
  "$schema",
  "$anchor",
  "$dynamicAnchor",
  "$vocabulary",
  "$recursiveAnchor",
  "$recursiveRef",
  "dependencies",
])

/** Deeper ones are left to the full check, which says what is wrong with them. */
const DEEPEST = 100

/**
 * Whether a schema surely is one by the rules of draft 2020-12. Most are, and to see it here takes a thousandth of what
 * compiling those rules takes. False is no verdict: it leaves the answer, and its words, to the full check.
 */
export function isPlainSchema(schema: unknown, depth = 0): boolean {
  if (typeof schema === "boolean") return true
  if (!isRecord(schema) || depth > DEEPEST) return false
  return Object.entries(schema).every(([keyword, value]) => {
    if (value === undefined) return true
    if (FOR_THE_FULL_CHECK.has(keyword)) return false
    const form = FORMS.get(keyword) ?? isAnything
    if (typeof form === "function") return form(value)
    if (form === "schema") return isPlainSchema(value, depth + 1)
    if (form === "named schemas")
      return isRecord(value) && Object.values(value).every((one) => isPlainSchema(one, depth + 1))
    return Array.isArray(value) && value.length > 0 && value.every((one) => isPlainSchema(one, depth + 1))
  })
}
