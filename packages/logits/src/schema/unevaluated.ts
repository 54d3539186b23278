/** `unevaluatedProperties` and `unevaluatedItems`, where what is evaluated can be told from the schema alone. */
import type { Dfa } from "../automaton/dfa.ts"
import { anyArray } from "./arrays.ts"
import { isObject, isSchema, type JsonSchema, type Schema } from "./json-schema.ts"
import { patternLanguage } from "./keywords.ts"
import type { Reader } from "./reader.ts"
import type { Located } from "./references.ts"
import { ANY_OBJECT, SchemaProblem, type ValueType } from "./types.ts"

/** What a schema and everything that always applies beside it evaluate. */
interface Evaluated {
  spend(units: number): void
  names: Set<string>
  patterns: Set<Dfa>
  allProperties: boolean
  items: number
  allItems: boolean
}

/** A search through a schema for what it evaluates. */
interface Search {
  readonly reader: Reader
  readonly keyword: "unevaluatedProperties" | "unevaluatedItems"
  readonly evaluated: Evaluated
  readonly seen: Set<Schema>
}

export function unevaluated(
  schema: JsonSchema,
  at: Located,
  reader: Reader,
  keyword: "unevaluatedProperties" | "unevaluatedItems",
): ValueType[] {
  const value = schema[keyword]
  if (!isSchema(value) || value === true) return []
  const { algebra, references } = reader
  const type = reader.typeAt(references.below(at, `/${keyword}`, value))
  const evaluated: Evaluated = {
    spend: algebra.spend,
    names: new Set(),
    patterns: new Set(),
    allProperties: false,
    items: 0,
    allItems: false,
  }
  collect(at, { reader, keyword, evaluated, seen: new Set() }, keyword)
  if (keyword === "unevaluatedProperties") {
    if (evaluated.allProperties) return []
    const keys = { kind: "rest", names: [...evaluated.names], patterns: [...evaluated.patterns] } as const
    return [
      algebra.define(keyword, () => ({
        ...algebra.any.shape(),
        objects: [{ ...ANY_OBJECT, rules: [{ keys, type }] }],
      })),
    ]
  }
  if (evaluated.allItems) return []
  const prefix = Array.from({ length: evaluated.items }, () => algebra.any)
  return [
    algebra.define(keyword, () => ({ ...algebra.any.shape(), arrays: [{ ...anyArray(algebra), prefix, rest: type }] })),
  ]
}

/** What of an object or array the keyword's own schema and all that it takes in have seen. */
function collect(at: Located, search: Search, skip: string | undefined): void {
  const { schema } = at
  const { reader, evaluated, seen } = search
  if (typeof schema !== "object" || seen.has(schema)) return
  seen.add(schema)
  if (search.keyword === "unevaluatedProperties") collectProperties(schema, evaluated, skip)
  else collectItems(schema, evaluated, skip)
  if (typeof schema["$ref"] === "string") collect(reader.references.resolve(at, schema["$ref"]), search, undefined)
  if (schema["$dynamicRef"] !== undefined) throw new SchemaProblem("depends on $dynamicRef")
  if (Array.isArray(schema["allOf"])) {
    for (const [index, one] of schema["allOf"].entries()) {
      if (isSchema(one)) collect(reader.references.below(at, `/allOf/${index}`, one), search, undefined)
    }
  }
  const undecided = BRANCHES.find((keyword) => branchesOf(schema, keyword).some((branch) => mayEvaluate(branch)))
  if (undecided !== undefined) throw new SchemaProblem(`depends on which branches of ${undecided} hold`)
}

const BRANCHES = ["anyOf", "oneOf", "if", "then", "else", "dependentSchemas"]

function branchesOf(schema: JsonSchema, keyword: string): unknown[] {
  const value = schema[keyword]
  if (Array.isArray(value)) return value
  return keyword === "dependentSchemas" && isObject(value) ? Object.values(value) : [value]
}

function collectProperties(schema: JsonSchema, evaluated: Evaluated, skip: string | undefined): void {
  if (isObject(schema["properties"])) for (const name of Object.keys(schema["properties"])) evaluated.names.add(name)
  if (isObject(schema["patternProperties"])) {
    for (const source of Object.keys(schema["patternProperties"]))
      evaluated.patterns.add(patternLanguage(source, evaluated.spend))
  }
  if (isSchema(schema["additionalProperties"])) evaluated.allProperties = true
  if (skip === undefined && isSchema(schema["unevaluatedProperties"])) evaluated.allProperties = true
}

function collectItems(schema: JsonSchema, evaluated: Evaluated, skip: string | undefined): void {
  if (schema["contains"] !== undefined) throw new SchemaProblem("depends on which items contains matches")
  if (Array.isArray(schema["prefixItems"])) evaluated.items = Math.max(evaluated.items, schema["prefixItems"].length)
  if (Array.isArray(schema["items"])) {
    evaluated.items = Math.max(evaluated.items, schema["items"].length)
    if (isSchema(schema["additionalItems"])) evaluated.allItems = true
  } else if (isSchema(schema["items"])) evaluated.allItems = true
  if (skip === undefined && isSchema(schema["unevaluatedItems"])) evaluated.allItems = true
}

const INERT = new Set([
  "type",
  "required",
  "const",
  "enum",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "title",
  "description",
  "$comment",
])

/** Whether a branch may evaluate keys or items. */
function mayEvaluate(branch: unknown): boolean {
  return isObject(branch) && Object.keys(branch).some((keyword) => !INERT.has(keyword))
}
