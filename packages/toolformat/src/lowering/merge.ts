import type { JsonSchema } from "@toolwright/toolbox"
import { isSchema, schemaMap, schemasIn, type AnySchema } from "./references.ts"

/** A keyword that two schemas both have and that could not be joined. */
export type Conflict = (keyword: string) => void

const MAXIMA = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"])
const MINIMA = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"])

/**
 * One schema that accepts what both accept. Keywords that cannot be joined keep the first one's value and are told to
 * `conflict`. References must be resolved already where they stand beside something else.
 */
export function merge(left: AnySchema, right: AnySchema, conflict: Conflict): AnySchema {
  if (left === false || right === false) return false
  if (left === true) return right
  if (right === true) return left
  const merged: JsonSchema = { ...left }
  for (const [keyword, value] of Object.entries(right)) {
    const known = left[keyword]
    merged[keyword] = known === undefined ? value : join(keyword, known, value, conflict)
  }
  if (Array.isArray(merged.type) && merged.type.length === 0) return false
  closeProperties(merged, left, right, conflict)
  return merged
}

/** How two values of a keyword are joined, where there is a way. */
type Join = (a: unknown, b: unknown, conflict: Conflict) => unknown

const mergeSchemas: Join = (a, b, conflict) => merge(a as AnySchema, b as AnySchema, conflict)
const joinBranches: Join = (a, b, conflict) => joinUnions(schemasIn(a), schemasIn(b), conflict)
const keepFirst: Join = (a) => a

const JOINS: ReadonlyMap<string, Join> = new Map<string, Join>([
  ["type", joinTypes],
  ["required", (a, b) => [...new Set([...(a as string[]), ...(b as string[])])]],
  ["enum", (a, b) => (a as unknown[]).filter((value) => (b as unknown[]).some((other) => same(value, other)))],
  ["properties", joinProperties],
  ["items", mergeSchemas],
  ["additionalProperties", mergeSchemas],
  ["propertyNames", mergeSchemas],
  ["allOf", (a, b) => [...schemasIn(a), ...schemasIn(b)]],
  ["anyOf", joinBranches],
  ["oneOf", joinBranches],
  ["description", (a, b) => `${String(a)}\n${String(b)}`],
  ["uniqueItems", () => true],
  ...["title", "default", "examples", "example", "$comment"].map((keyword) => [keyword, keepFirst] as const),
])

function join(keyword: string, a: unknown, b: unknown, conflict: Conflict): unknown {
  if (same(a, b)) return a
  const how = JOINS.get(keyword)
  if (how !== undefined) return how(a, b, conflict)
  if (typeof a === "number" && typeof b === "number") {
    if (MAXIMA.has(keyword)) return Math.max(a, b)
    if (MINIMA.has(keyword)) return Math.min(a, b)
  }
  conflict(keyword)
  return a
}

/** Both unions hold: every pair of branches. */
function joinUnions(a: AnySchema[], b: AnySchema[], conflict: Conflict): AnySchema[] {
  if (a.length * b.length > 64) {
    conflict("anyOf")
    return a
  }
  return a.flatMap((left) => b.map((right) => merge(left, right, conflict)))
}

function joinProperties(a: unknown, b: unknown, conflict: Conflict): Record<string, AnySchema> {
  const joined: Record<string, AnySchema> = Object.fromEntries(schemaMap(a))
  for (const [name, schema] of schemaMap(b)) {
    const known = Object.hasOwn(joined, name) ? joined[name] : undefined
    define(joined, name, known === undefined ? schema : merge(known, schema, conflict))
  }
  return joined
}

/** What one side's `additionalProperties` says about properties that only the other side names. */
function closeProperties(merged: JsonSchema, left: JsonSchema, right: JsonSchema, conflict: Conflict): void {
  for (const [open, closed] of [
    [left, right],
    [right, left],
  ] as const) {
    const rest = closed.additionalProperties
    if (rest === undefined || rest === true || !isSchema(merged.properties)) continue
    const properties: Record<string, AnySchema> = { ...merged.properties }
    for (const [name] of schemaMap(open.properties)) {
      if (isSchema(closed.properties) && Object.hasOwn(closed.properties, name)) continue
      if (closed.patternProperties !== undefined) conflict("additionalProperties")
      else define(properties, name, merge(properties[name] ?? true, rest, conflict))
    }
    merged.properties = properties as Record<string, JsonSchema>
  }
}

function joinTypes(a: unknown, b: unknown): string | string[] {
  const left = typesOf(a)
  const right = typesOf(b)
  const both = left.flatMap((type) => {
    if (right.includes(type)) return [type]
    if (type === "number" && right.includes("integer")) return ["integer"]
    return type === "integer" && right.includes("number") ? ["integer"] : []
  })
  return both.length === 1 ? both[0]! : both
}

export function typesOf(value: unknown): string[] {
  if (typeof value === "string") return [value]
  return Array.isArray(value) ? value.filter((type): type is string => typeof type === "string") : []
}

/** Sets an own property, whatever its name: `__proto__` too. */
export function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

export function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
