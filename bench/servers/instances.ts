/**
 * Arguments for a tool: some as its schema has them, some a little beside it. Whether they fit is for a validator to
 * say.
 */
import type { JsonSchema } from "@toolwright/toolbox"
import type { Random } from "../fuzz/random.ts"

const TEXTS = [
  "",
  "a",
  "main",
  "src/index.ts",
  "2026-11-22",
  "2026-11-22T10:00:00Z",
  "https://example.org/a",
  "12",
  "123e4567-e89b-42d3-a456-426614174000",
  'say "x"\n',
  "é😀",
]
const DEEPEST = 6
const MOST_ITEMS = 3

type Schema = JsonSchema | boolean

export function instanceOf(schema: Schema, root: JsonSchema, random: Random, depth = 0): unknown {
  if (random.chance(0.03)) return anything(random)
  if (typeof schema === "boolean") return anything(random)
  const found = reference(schema, root)
  if (found !== undefined && depth < DEEPEST) return instanceOf(found, root, random, depth + 1)
  const { const: only, enum: some } = schema
  if (only !== undefined) return only
  if (some !== undefined && some.length > 0) return random.chance(0.95) ? random.pick(some) : anything(random)
  const branch = depth < DEEPEST ? branchOf(schema, random) : undefined
  if (branch !== undefined) return instanceOf(branch, root, random, depth + 1)
  return ofType(typeOf(schema, random), schema, root, random, depth)
}

/** One of the alternatives, or all that has to hold, with what stands beside it. */
function branchOf(schema: JsonSchema, random: Random): Schema | undefined {
  const { anyOf = [], oneOf = [], allOf } = schema
  const options: Schema[] = [...anyOf, ...oneOf]
  if (options.length > 0) {
    const chosen = random.pick(options)
    return typeof chosen === "object" ? { ...without(schema), ...chosen } : chosen
  }
  return allOf === undefined ? undefined : Object.assign({}, without(schema), ...allOf)
}

function ofType(type: string, schema: JsonSchema, root: JsonSchema, random: Random, depth: number): unknown {
  switch (type) {
    case "object":
      return anObject(schema, root, random, depth)
    case "array": {
      const { items, minItems = 0 } = schema as { items?: Schema; minItems?: number }
      const length = depth > DEEPEST ? 0 : Math.max(random.chance(0.9) ? minItems : 0, random.below(MOST_ITEMS + 1))
      return Array.from({ length }, () => instanceOf(items ?? true, root, random, depth + 1))
    }
    case "integer":
    case "number":
      return aNumber(type, schema, random)
    case "boolean":
      return random.chance(0.5)
    case "null":
      return null
    default:
      return random.pick(TEXTS)
  }
}

function anObject(schema: JsonSchema, root: JsonSchema, random: Random, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const result: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(properties)) {
    const wanted = required.includes(name) ? random.chance(0.97) : depth < 3 && random.chance(0.4)
    if (wanted) result[name] = instanceOf(member, root, random, depth + 1)
  }
  const open = typeof additionalProperties === "object" ? additionalProperties : true
  if (random.chance(additionalProperties === undefined || additionalProperties === false ? 0.03 : 0.3))
    result["more"] = instanceOf(open, root, random, depth + 1)
  return result
}

function aNumber(type: string, { minimum, maximum }: JsonSchema, random: Random): number {
  const low = typeof minimum === "number" ? minimum : -5
  const high = typeof maximum === "number" ? maximum : low + 100
  const value = low + random.next() * (high - low) + (random.chance(0.05) ? high - low + 1 : 0)
  return type === "integer" ? Math.round(value) : Number(value.toFixed(2))
}

function anything(random: Random): unknown {
  return random.pick<unknown>([null, true, 3, -1.5, "text", [], {}, [1, "a"], { a: null }])
}

function typeOf({ type, properties, items }: JsonSchema, random: Random): string {
  if (typeof type === "string") return type
  if (Array.isArray(type) && type.length > 0) return random.pick(type)
  if (properties !== undefined) return "object"
  return items === undefined ? random.pick(["string", "integer", "object", "array", "null"]) : "array"
}

function without({ anyOf: _any, oneOf: _one, allOf: _all, ...rest }: JsonSchema): JsonSchema {
  return rest
}

function reference({ $ref }: JsonSchema, root: JsonSchema): Schema | undefined {
  if (typeof $ref !== "string" || !$ref.startsWith("#")) return undefined
  let place: unknown = root
  for (const part of $ref
    .slice(1)
    .split("/")
    .filter((step) => step !== ""))
    place = (place as Record<string, unknown> | undefined)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")]
  return place as Schema | undefined
}
