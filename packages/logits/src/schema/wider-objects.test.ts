/** Choices multiplied with each other: the sets that say nothing new are not followed, and nothing else changes. */
import { describe, expect, it } from "vitest"
import { compileSchema } from "../constraint/index.ts"
import { createMatcher } from "../matcher/index.ts"
import { typeOfSchema } from "./normalise.ts"
import type { ObjectSet } from "./types.ts"
import { widerObjects } from "./wider-objects.ts"

const text = { type: "string" }
const branch = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, text])),
})

function objectsOf(schema: object): readonly ObjectSet[] {
  const { type } = typeOfSchema(schema as Parameters<typeof typeOfSchema>[0])
  return type.algebra.livingShape(type).objects
}

describe("unions of objects", () => {
  const product = {
    type: "object",
    allOf: Array.from({ length: 4 }, () => ({ anyOf: [branch("a"), branch("b")] })),
  }

  it("a product of choices keeps the members that lie in no other", () => {
    const objects = objectsOf(product)
    expect(objects.length).toBeGreaterThanOrEqual(16)
    const said = widerObjects(objects).map(({ rules }) =>
      [...new Set(rules.map(({ keys }) => (keys.kind === "name" ? keys.name : "?")))].toSorted().join(),
    )
    expect(said.every((names) => names === "a" || names === "b" || names === "a,b")).toBe(true)
    expect(said.length).toBeLessThan(objects.length)
  })

  it("a member with the same rules and narrower bounds is left out, one with wider bounds is not", () => {
    const [one] = objectsOf({ type: "object", properties: { a: text }, required: ["a"] })
    const narrow = { ...one!, max: 3 }
    const other = { ...one!, required: [] }
    expect(widerObjects([narrow, one!])).toEqual([one])
    expect(widerObjects([one!, narrow, other])).toEqual([other])
    expect(widerObjects([{ ...one!, min: 1 }, narrow])).toHaveLength(2)
  })

  it("what a matcher accepts stays as the schema has it, with few threads", () => {
    const compiled = compileSchema({
      type: "object",
      additionalProperties: false,
      properties: { a: {}, b: {}, c: text },
      allOf: [
        { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
        { anyOf: [{ required: ["b"] }, { required: ["a"] }] },
        { anyOf: [{ required: ["a"] }, { required: ["b", "c"] }] },
      ],
    })
    const accepts = (value: string): boolean => {
      const matcher = createMatcher(compiled.grammar!)
      return matcher.accept(value) && matcher.isComplete()
    }
    for (const value of ['{"a":1}', '{"b":1,"c":"x"}', '{"a":1,"b":2}', '{"c":"x","a":null}'])
      expect(accepts(value), value).toBe(true)
    for (const value of ["{}", '{"b":1}', '{"c":"x"}', '{"b":1,"c":2}', '{"d":1}'])
      expect(accepts(value), value).toBe(false)
    // {a}, {b, c}: the others lie in these.
    const matcher = createMatcher(compiled.grammar!)
    expect(matcher.state.threads).toHaveLength(2)
  })
})
