import { afterEach, expect, test, vi } from "vitest"
import { jsonNotation } from "../grammar/notation.ts"
import { literal } from "../grammar/rules.ts"
import { matchesGbnf, schemaToGBNF } from "../index.ts"
import { isOpenName, NO_KEYS, openKeys, planOf } from "../plan/object-plan.ts"
import { compileType } from "../schema/compile.ts"
import type { Schema } from "../schema/json-schema.ts"
import type { ValueType } from "../schema/types.ts"
import { createHoles } from "./holes.ts"
import { createRuleBook } from "./rule-book.ts"
import { createValueLowering } from "./values.ts"

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `name${index}`)
const texts = (count: number) => Object.fromEntries(names(count).map((name) => [name, { type: "string" }]))
const several = { type: "array", uniqueItems: true, items: { enum: names(14) } }

function typeOf(schema: Schema): ValueType {
  const compiled = compileType(schema, {})
  if (compiled.status === "refused") throw new Error(compiled.reasons[0]!.reason)
  return compiled.type
}

/** The steps that a schema takes until it is written. */
function stepsOf(schema: Schema): number {
  const book = createRuleBook([])
  let steps = 0
  const counting = { ...book, spend: (more: number) => void (steps += more) }
  createValueLowering(counting, "ws", createHoles(counting, undefined)).value(typeOf(schema), jsonNotation)
  return steps
}

afterEach(() => vi.restoreAllMocks())

const prime = { type: "integer", multipleOf: 9973, minimum: 1 }
const choices = { type: "object", additionalProperties: false, properties: texts(200) }
const chain = Object.fromEntries(names(199).map((name, index) => [name, [`name${(index * 7 + 3) % 200}`]]))

test.each([
  ["#/properties/tags", "the array", { type: "object", properties: { tags: several } }, /6000 rules.*uniqueItems/],
  ["#/properties/a~1b/items", "the array", { properties: { "a/b": { type: "array", items: several } } }, /6000 rules/],
  ["#/prefixItems/1", "the array", { type: "array", prefixItems: [{ type: "null" }, several] }, /6000 rules/],
  ["#/additionalProperties", "the array", { type: "object", additionalProperties: several }, /6000 rules/],
  [
    "#/properties/n",
    "the number",
    { properties: { n: { type: "number", multipleOf: 0.001, minimum: -90 } } },
    /bounds/,
  ],
  ["#/properties/m", "the number", { properties: { m: prime } }, /multipleOf/],
  ["#/items", "the object", { type: "array", items: { ...choices, dependentRequired: chain } }, /steps.*dependencies/],
  [
    "#/items",
    "the object",
    { type: "array", items: { ...choices, minProperties: 50, maxProperties: 99 } },
    /6000 rules/,
  ],
])("what is too much to write is refused with its place: %s, %s", (path, kind, schema, why) => {
  let message = ""
  try {
    schemaToGBNF({ type: "object", properties: { first: { type: "string" }, x: schema } } as Schema)
  } catch (problem) {
    message = (problem as Error).message
  }
  expect(message).toMatch(why)
  expect(message).toContain(`for ${kind} at ${path.replace("#", "#/properties/x")} (`)
})

test("the place that is named is the one with the most rules, not the one that was one too many", () => {
  const small = { ...several, items: { enum: names(7) } }
  const more = Object.fromEntries(names(40).map((name) => [name, { ...small, items: { enum: [name, ...names(6)] } }]))
  const large = { ...several, items: { enum: names(11) } }
  const schema = { type: "object", properties: { large, ...more } }
  expect(() => schemaToGBNF(schema)).toThrow("most of them for the array at #/properties/large (")
})

test("the same bounds of numbers are worked out once, wherever they stand", () => {
  const bounded = { type: "number", minimum: 0.5, maximum: 200.5 }
  const times = (count: number): Schema => ({
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(names(count).map((name) => [name, { ...bounded, title: name }])),
  })
  const own = stepsOf(bounded)
  expect(own).toBeGreaterThan(1000)
  expect(stepsOf(times(30)) - stepsOf(times(1))).toBeLessThan(own)
})

test("steps are counted alike each time", () => {
  const schema = { type: "object", properties: { tags: { ...several, maxItems: 3 }, ...texts(5) }, minProperties: 2 }
  expect(stepsOf(schema)).toBe(stepsOf(structuredClone(schema)))
  expect(stepsOf(schema)).toBeGreaterThan(0)
})

test("so many properties of an open object are asked for that some of them are declared", () => {
  const gbnf = schemaToGBNF({
    type: "object",
    properties: texts(4),
    additionalProperties: { type: "null" },
    minProperties: 3,
  })
  const accepts = (value: unknown): boolean => matchesGbnf(gbnf, JSON.stringify(value))
  expect(accepts({ name0: "", name1: "", name3: "" })).toBe(true)
  expect(accepts({ name0: "", name1: "", other: null, another: null })).toBe(true)
  expect(accepts({ name0: "", name1: "" })).toBe(false)
  expect(accepts({ name0: "" })).toBe(false)
})

test("a free name is found without trying all that are taken", () => {
  const book = createRuleBook(["items-3"])
  const has = vi.spyOn(Set.prototype, "has")
  const made = names(2000).map((key) => book.define(key, "items", () => literal(key)))
  const tries = has.mock.calls.length
  has.mockRestore()
  expect(tries).toBeLessThan(3 * 2000)
  const free = made.slice(0, 4).map((one) => (one.kind === "rule" ? one.name : ""))
  expect(free).toEqual(["items", "items-2", "items-4", "items-5"])
})

test("a name alone is open as it is among all", () => {
  const type = typeOf({
    type: "object",
    additionalProperties: false,
    properties: { ...texts(6), never: false },
    required: ["name0"],
    dependentRequired: { name1: ["name2"], name3: ["never"] },
    maxProperties: 4,
  })
  const [set] = type.algebra.livingShape(type).objects
  const plan = planOf(set!, type.algebra)
  for (let seen = 0n; seen < 1n << BigInt(plan.names.length); seen++) {
    const progress = { ...NO_KEYS, seen }
    const { names: open } = openKeys(plan, progress)
    for (const index of plan.names.keys())
      expect(isOpenName(plan, index, progress)).toBe(((open >> BigInt(index)) & 1n) === 1n)
  }
})
