import type { JsonSchema } from "../model/schema.ts"

/** Keywords whose values are data and no schemas. */
const DATA = new Set(["const", "enum", "default", "examples", "required", "type"])
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"]

/** The keyword that {@link countReferences} puts beside each reference. */
export const COUNTED = "toolwrightCounted"

/** What decides how much work a schema may make. */
export interface SchemaTraits {
  /** Values in it, at every depth. */
  nodes: number
  references: boolean
  patterns: boolean
}

/** Looks a schema over, once. Stops where it has more than `most` values. */
export function traitsOf(schema: JsonSchema, most: number): SchemaTraits {
  const traits: SchemaTraits = { nodes: 0, references: false, patterns: false }
  const waiting: unknown[] = [schema]
  while (waiting.length > 0 && traits.nodes <= most) {
    const value = waiting.pop()
    traits.nodes++
    if (typeof value !== "object" || value === null) continue
    if (REFERENCES.some((keyword) => isReference(value as JsonSchema, keyword))) traits.references = true
    if ("pattern" in value || "patternProperties" in value) traits.patterns = true
    for (const inner of Object.values(value)) waiting.push(inner)
  }
  return traits
}

/** How many values a value holds, itself included, counted up to `most`. Each result is counted: loops are plain. */
export function countValues(value: unknown, most: number): number {
  let count = 1
  const waiting: object[] = isObject(value) ? [value] : []
  for (let next = waiting.pop(); next !== undefined && count < most; next = waiting.pop()) {
    if (Array.isArray(next)) {
      count += next.length
      if (count < most) for (let index = 0; index < next.length; index++) keep(next[index], waiting)
      continue
    }
    for (const key in next) {
      if (++count >= most) return most
      keep((next as Record<string, unknown>)[key], waiting)
    }
  }
  return Math.min(count, most)
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function keep(value: unknown, waiting: object[]): void {
  if (isObject(value)) waiting.push(value)
}

/** A copy of a schema in which each reference is counted when it is followed: see `compile.ts`. */
export function countReferences<Schema>(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map(countReferences) as Schema
  if (typeof schema !== "object" || schema === null) return schema
  const copy: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) copy[key] = DATA.has(key) ? value : countReferences(value)
  if (REFERENCES.some((keyword) => isReference(copy, keyword))) copy[COUNTED] = true
  return copy as Schema
}

/** A property may be named `$ref` too: then a schema stands there, and no text. */
function isReference(schema: JsonSchema, keyword: string): boolean {
  return typeof schema[keyword] === "string"
}
