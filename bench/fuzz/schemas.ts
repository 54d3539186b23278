/** JSON Schemas as people, servers and models write them, and everything that can be wrong with one. */
import type { Random } from "./random.ts"
import {
  conditional,
  FAR_NUMBERS,
  FORMATS,
  KEYWORDS,
  NUMBERS,
  ODD,
  PATTERN_PIECES,
  REFERENCES,
  SEEDS,
  TYPES,
} from "./schema-parts.ts"

type Json = unknown

export function randomPattern(random: Random): string {
  let pattern = random.chance(0.4) ? "^" : ""
  for (let left = 1 + random.below(6); left > 0; left--) pattern += random.pick(PATTERN_PIECES)
  return random.chance(0.3) ? `${pattern}$` : pattern
}

function randomNumber(random: Random): Json {
  if (random.chance(0.003)) return random.pick(FAR_NUMBERS)
  if (random.chance(0.5)) return random.pick(NUMBERS)
  return random.chance(0.97) ? random.below(400) / 10 : (random.next() - 0.5) * 10 ** random.below(12)
}

type Make = (random: Random, depth: number) => Json

const listOf = (random: Random, most: number, make: () => Json): Json[] =>
  Array.from({ length: random.below(most) }, make)
const inner: Make = (random, depth) => randomSchema(random, depth - 1)
const inners: Make = (random, depth) => listOf(random, 4, () => inner(random, depth))
const named: Make = (random, depth) =>
  Object.fromEntries(listOf(random, 4, () => [randomName(random), inner(random, depth)]) as [string, Json][])
const anyValue: Make = (random) => random.pick([...ODD, randomNumber(random)])
const oneOf =
  (...values: readonly Json[]): Make =>
  (random) =>
    random.pick(values)
const reference: Make = (random) => random.pick(REFERENCES)
const yes: Make = (random) => random.chance(0.8)

/** What keywords may hold, or something near it; numbers for those that bound something, schemas for the rest. */
const VALUES: Readonly<Record<string, Make>> = {
  type: (random) => (random.chance(0.7) ? random.pick(TYPES) : [random.pick(TYPES), random.pick(TYPES)]),
  properties: named,
  $defs: named,
  definitions: named,
  dependentSchemas: named,
  patternProperties: (random, depth) =>
    Object.fromEntries(
      Array.from({ length: 1 + random.below(3) }, () => [randomPattern(random), inner(random, depth)]),
    ),
  required: (random) => listOf(random, 4, () => randomName(random)),
  dependentRequired: (random) => ({ [randomName(random)]: [randomName(random)] }),
  dependencies: (random, depth) => ({
    [randomName(random)]: random.chance(0.6) ? [randomName(random)] : inner(random, depth),
  }),
  enum: (random, depth) => listOf(random, 5, () => anyValue(random, depth)),
  const: anyValue,
  default: anyValue,
  pattern: (random) => randomPattern(random),
  format: (random) => random.pick(FORMATS),
  $ref: reference,
  $dynamicRef: reference,
  $recursiveRef: reference,
  $id: oneOf("https://example.org/b", "a.json", "#", "", "urn:uuid:1", "http://["),
  id: oneOf("https://example.org/b", "a.json", "#", ""),
  $schema: oneOf(
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "x",
  ),
  prefixItems: inners,
  allOf: inners,
  anyOf: inners,
  oneOf: inners,
  items: (random, depth) => (random.chance(0.2) ? inners : inner)(random, depth),
  uniqueItems: yes,
  nullable: yes,
  $anchor: oneOf("here", "x", "a b"),
  $dynamicAnchor: oneOf("here", "x"),
  "x-grounded": oneOf("path", "word", { kind: "x" }, true),
  description: oneOf("x"),
  title: oneOf("x"),
}

function valueFor(random: Random, keyword: string, depth: number): Json {
  if (random.chance(0.02)) return random.pick(ODD)
  const make = Object.hasOwn(VALUES, keyword) ? VALUES[keyword] : undefined
  if (make !== undefined) return make(random, depth)
  return /^(min|max|exclusive|multiple|divisible)/.test(keyword) ? randomNumber(random) : inner(random, depth)
}

const NAMES = [
  "a",
  "b",
  "c",
  "kind",
  "path",
  "name",
  "x-y",
  "",
  "\u00e9",
  "😀",
  "__proto__",
  "toString",
  "0",
  "a/b",
  "~",
  '"',
  "</a>",
  "\n",
]

const randomName = (random: Random): string => random.pick(NAMES)

export function randomSchema(random: Random, depth: number): Json {
  if (depth <= 0 || random.chance(0.1)) return random.pick([true, false, {}, { type: random.pick(TYPES) }])
  if (random.chance(0.3)) return random.pick(SEEDS)
  const schema: Record<string, Json> = {}
  for (let left = 1 + random.below(4); left > 0; left--) {
    const keyword = random.pick(KEYWORDS)
    define(schema, keyword, valueFor(random, keyword, depth))
  }
  return schema
}

/** Sets a key whatever its name, as reading JSON does. */
function define(target: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

/** A valid schema, changed in some places; or one out of nothing; or one that is deep, broad or no plain data. */
export function fuzzedSchema(random: Random): Json {
  const form = random.next()
  if (form < 0.04) return deepSchema(random)
  if (form < 0.06) return noPlainData(random)
  if (form < 0.2) return randomSchema(random, 4)
  if (form < 0.26) return collidingPatterns(random)
  let schema = structuredClone(random.pick(SEEDS))
  for (let left = 1 + random.below(5); left > 0; left--) schema = changed(random, schema, 0)
  return schema
}

function changed(random: Random, node: Json, depth: number): Json {
  if (typeof node !== "object" || node === null || depth > 12 || random.chance(0.2)) return replaced(random, node)
  if (Array.isArray(node)) {
    if (node.length === 0 || random.chance(0.3)) return [...node, randomSchema(random, 2)]
    const at = random.below(node.length)
    return node.map((item: Json, index) => (index === at ? changed(random, item, depth + 1) : item))
  }
  const result: Record<string, Json> = {}
  const keys = Object.keys(node)
  const at = random.pick(keys)
  for (const key of keys) {
    if (key === at && random.chance(0.08)) continue
    const value = (node as Record<string, Json>)[key]
    define(result, key, key === at ? changed(random, value, depth + 1) : value)
  }
  if (keys.length === 0 || random.chance(0.4)) {
    const keyword = random.pick(KEYWORDS)
    define(result, keyword, valueFor(random, keyword, 3))
  }
  return result
}

function replaced(random: Random, node: Json): Json {
  switch (random.below(12)) {
    case 0:
      return random.pick(ODD)
    case 1:
    case 2:
      return randomNumber(random)
    case 3:
    case 4:
      return { [random.pick(["allOf", "anyOf", "oneOf"])]: [node, randomSchema(random, 2)] }
    case 5:
      return { not: node }
    case 6:
      return { $ref: random.pick(REFERENCES) }
    default:
      return randomSchema(random, 3)
  }
}

const WRAPPERS: readonly ((inner: Json) => Json)[] = [
  (inner) => ({ not: inner }),
  (inner) => ({ allOf: [inner] }),
  (inner) => ({ anyOf: [inner, { type: "string" }] }),
  (inner) => ({ oneOf: [inner, { type: "array" }] }),
  (inner) => ({ type: "object", properties: { a: inner }, required: ["a"] }),
  (inner) => ({ type: "array", items: inner }),
  (inner) => conditional(inner, { minimum: 3 }, true),
  (inner) => ({ additionalProperties: inner }),
  (inner) => ({ contains: inner }),
  (inner) => ({ $defs: { a: inner }, $ref: "#/$defs/a" }),
  (inner) => [inner],
]

function deepSchema(random: Random): Json {
  const depth = random.pick([5, 20, 60, 150, 300, 1000, 5000])
  const wrap = random.chance(0.5) ? [random.pick(WRAPPERS)] : WRAPPERS.slice(4, 8)
  let schema: Json = { type: "integer" }
  for (let level = 0; level < depth; level++) schema = wrap[level % wrap.length]!(schema)
  return schema
}

/** Objects whose keys and values are held by several patterns at once: what they have in common needs many states. */
function collidingPatterns(random: Random): Json {
  const costly = (): string =>
    random.chance(0.5)
      ? `${random.pick(["^", ""])}(a|b)*${random.pick(["a", "b", "[ab]c"])}(a|b){${6 + random.below(8)}}${random.pick(["$", ""])}`
      : randomPattern(random)
  const strings = { allOf: Array.from({ length: 2 + random.below(3) }, () => ({ type: "string", pattern: costly() })) }
  const keys = {
    type: "object",
    patternProperties: Object.fromEntries(
      Array.from({ length: 1 + random.below(4) }, () => [costly(), randomSchema(random, 1)]),
    ),
    propertyNames: { pattern: costly(), ...(random.chance(0.3) ? { maxLength: random.below(60) } : {}) },
    ...(random.chance(0.3) ? { minProperties: random.below(4) } : {}),
    ...(random.chance(0.3) ? { required: [randomName(random)] } : {}),
  }
  return random.pick([
    strings,
    keys,
    { anyOf: [strings, { not: strings }] },
    { type: "object", properties: { a: strings, b: keys } },
  ])
}

/** What no JSON text can hold, but a program can pass on by mistake. */
function noPlainData(random: Random): Json {
  const circle: Record<string, Json> = { type: "object" }
  circle.properties = { a: circle }
  return random.pick<Json>([
    circle,
    { type: "number", minimum: NaN, maximum: Infinity },
    { enum: [1n, Symbol("x"), undefined, () => 1] },
    { properties: { a: undefined } },
    { const: undefined },
    { type: "string", maxLength: Infinity },
    new Date(0),
    new Map([["type", "string"]]),
    { allOf: [circle] },
    null,
    undefined,
    "string",
    7,
    [],
  ])
}

/** Texts to hold against a grammar. */
export const INSTANCES = [
  "1",
  "-0.5e3",
  '"a"',
  '"\\u0041\\ud83d\\ude00"',
  "null",
  "true",
  "[]",
  "[1,2,[3]]",
  '{"a":1,"b":[true]}',
  '{"kind":"circle"}',
  '{ "city" : "Oslo" , "days" : 3 }',
  "[[[[[[1]]]]]]",
  '{"x-a":"b","3":4}',
  '"2024-02-30T25:00:00Z"',
  "",
  "[",
  "}",
  '"\ud800"',
] as const
