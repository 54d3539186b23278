/** A node of one type: each keyword as the target has it, or in words. */
import type { JsonSchema } from "@toolwright/toolbox"
import { below, report, type Loss, type Lowering, type Place } from "./context.ts"
import { define } from "./merge.ts"
import { isSchema, schemaMap, schemasIn } from "./references.ts"
import { fits, isAssertion, normalised, withNull, withPatterns } from "./schema-words.ts"
import { ANNOTATIONS, BOOKKEEPING, type TargetProfile } from "./targets.ts"

/** Longest value of a lost keyword that is put into the description, in characters. */
const MAX_REMARK = 200

/** A node while it is written keyword by keyword. */
interface TypedNode {
  readonly lowering: Lowering
  readonly type: string
  readonly node: JsonSchema
  readonly place: Place
  readonly result: JsonSchema
  /** What the target cannot say otherwise. */
  readonly remarks: string[]
}

export function lowerTyped(lowering: Lowering, type: string, given: JsonSchema, place: Place): JsonSchema {
  const node = type === "object" ? withPatterns(given) : given
  const result: JsonSchema = { type }
  const typed: TypedNode = { lowering, type, node, place, result, remarks: [] }
  for (const [keyword, value] of normalised(node)) lowerKeyword(typed, keyword, value)
  const { closed, anyValue } = lowering.profile
  if (closed && type === "object") close(typed)
  if (type === "array" && result.items === undefined && !anyValue)
    result.items = lowering.anything({}, below(place, "items"))
  if (typed.remarks.length > 0)
    result.description = [result.description, typed.remarks.join("; ")].filter(Boolean).join("\n")
  return result
}

function lowerKeyword(typed: TypedNode, keyword: string, value: unknown): void {
  const { profile } = typed.lowering
  if (BOOKKEEPING.has(keyword) || saysNothing(keyword, value, profile)) return
  if (ANNOTATIONS.has(keyword)) annotate(typed, keyword, value)
  else if (isKnown(keyword, profile)) (WRITERS.get(keyword) ?? keep)(typed, keyword, value)
  else drop(typed, keyword, value, "The target does not know it.", isAssertion(keyword) ? "widened" : "annotation")
}

/** Whether a keyword has the value that holds without it. */
function saysNothing(keyword: string, value: unknown, profile: TargetProfile): boolean {
  if (keyword === "additionalProperties") return value === true && !profile.closed
  return keyword === "uniqueItems" && value !== true
}

function isKnown(keyword: string, { keywords }: TargetProfile): boolean {
  return keyword === "const" || keywords === "everything" || keywords.has(keyword)
}

function annotate(typed: TypedNode, keyword: string, value: unknown): void {
  if (typed.lowering.profile.annotations.has(keyword)) keep(typed, keyword, value)
  else drop(typed, keyword, value, "The target has no place for it.", "annotation")
}

/** Leaves a keyword out: reported, and said in the description where it is worth saying. */
function drop(typed: TypedNode, keyword: string, value: unknown, reason: string, effect: Loss["effect"] = "widened") {
  report(typed.lowering, typed.place.path, keyword, effect, reason)
  const text = typeof value === "string" ? value : JSON.stringify(value)
  const isWorthSaying = effect !== "annotation" || keyword === "default" || keyword === "examples"
  if (isWorthSaying && text.length <= MAX_REMARK) typed.remarks.push(`${keyword}: ${text}`)
}

/** Writes what a keyword comes to. */
type Writer = (typed: TypedNode, keyword: string, value: unknown) => void

const keep: Writer = ({ result }, keyword, value) => {
  result[keyword] = value
}

const listValues: Writer = (typed, keyword, value) => {
  const values = (keyword === "const" ? [value] : (value as unknown[])).filter((each) => fits(each, typed.type))
  if (!typed.lowering.profile.stringEnums || values.every((each) => typeof each === "string"))
    typed.result.enum = values
  else drop(typed, keyword, value, "Only strings can be enumerated.")
}

const boundNumber: Writer = (typed, keyword, value) => {
  if (typed.lowering.target !== "llama.cpp-gbnf" || typed.type !== "number") keep(typed, keyword, value)
  else drop(typed, keyword, value, "Bounds are supported for integers only.")
}

/** The keywords that are not simply copied. */
const WRITERS: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  [
    "properties",
    ({ lowering, place, result }, keyword, value) => {
      const properties: Record<string, JsonSchema> = {}
      for (const [name, schema] of schemaMap(value))
        define(properties, name, lowering.lower(schema, below(place, keyword, name)))
      result.properties = properties
    },
  ],
  [
    "items",
    ({ lowering, place, result }, keyword, value) => {
      if (isSchema(value)) result.items = lowering.lower(value, below(place, keyword))
      else if (value === false) result.items = false
    },
  ],
  [
    "prefixItems",
    ({ lowering, place, result }, keyword, value) => {
      result.prefixItems = schemasIn(value).map((each, index) => lowering.lower(each, below(place, keyword, index)))
    },
  ],
  [
    "additionalProperties",
    ({ lowering, place, result }, keyword, value) => {
      if (lowering.profile.closed) return
      result.additionalProperties = isSchema(value) ? lowering.lower(value, below(place, keyword)) : (value as boolean)
    },
  ],
  [
    "format",
    (typed, keyword, value) => {
      if (typed.lowering.profile.formats.has(String(value))) keep(typed, keyword, value)
      else drop(typed, keyword, value, `The target does not know the format ${String(value)}.`)
    },
  ],
  [
    "pattern",
    (typed, keyword, value) => {
      if (typed.lowering.target !== "llama.cpp-gbnf" || isWholePattern(value, typed.node)) keep(typed, keyword, value)
      else drop(typed, keyword, value, "Only a pattern from ^ to $ is supported, and only without bounds of length.")
    },
  ],
  ["const", listValues],
  ["enum", listValues],
  ["minimum", boundNumber],
  ["maximum", boundNumber],
  ["exclusiveMinimum", boundNumber],
  ["exclusiveMaximum", boundNumber],
])

function isWholePattern(pattern: unknown, { minLength, maxLength }: JsonSchema): boolean {
  return /^\^[^]*\$$/.test(String(pattern)) && minLength === undefined && maxLength === undefined
}

/** Strict mode: nothing but the named properties, and all of them; the optional ones may be null. */
function close({ lowering, node, place, result }: TypedNode): void {
  const free = node.additionalProperties
  const isMap = free === undefined && node.properties === undefined
  if (isMap || (free !== undefined && free !== false))
    report(lowering, place.path, "additionalProperties", "narrowed", "Only named properties can be produced.")
  const properties = result.properties ?? {}
  const required = new Set(result.required)
  for (const name of required) {
    if (Object.hasOwn(properties, name)) continue
    define(properties, name, lowering.anything({}, below(place, "properties", name)))
  }
  for (const name of Object.keys(properties)) {
    if (!required.has(name)) define(properties, name, withNull(properties[name]!, lowering.profile))
  }
  result.properties = properties
  result.required = Object.keys(properties)
  result.additionalProperties = false
}
