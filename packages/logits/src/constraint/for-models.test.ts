import { expect, test } from "vitest"
import { createMatcher } from "../matcher/matcher.ts"
import { compileSchema, schemaToGrammar } from "./schema-grammar.ts"

type Options = Parameters<typeof schemaToGrammar>[1]

function takes(schema: Parameters<typeof schemaToGrammar>[0], text: string, options?: Options): boolean {
  const matcher = createMatcher(schemaToGrammar(schema, options))
  return matcher.accept(text) && matcher.isComplete()
}

test("a grammar for models is narrower than its schema where that does them good, and no narrower than it says", () => {
  const declared = { type: "object", properties: { a: { type: "integer" } } }
  expect([takes(declared, '{"a": 1}'), takes(declared, '{"b": 1}')]).toEqual([true, false])
  expect(takes(declared, '{"b": 1}', { closed: false })).toBe(true)
  const others = (additionalProperties: unknown) => takes({ ...declared, additionalProperties }, '{"b": 1}')
  expect([others({ type: "integer" }), others({ type: "string" }), others(true)]).toEqual([true, false, false])
  const date = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "string", format: "date" }
  expect([takes(date, '"2026-02-28"'), takes(date, '"tomorrow"')]).toEqual([true, false])
  expect([takes({ type: "integer" }, "3"), takes({ type: "integer" }, "3.0")]).toEqual([true, false])
  const bounded = { type: "number", minimum: 0, maximum: 1000 }
  expect([takes(bounded, "100"), takes(bounded, "1e2")]).toEqual([true, false])
})

test("items out of endlessly many values are not compared by masks, unless a matcher alone is wanted", () => {
  const endless = { type: "array", uniqueItems: true, items: { type: "string" } }
  expect(() => schemaToGrammar(endless)).toThrow(/uniqueItems/)
  const exact = { uniqueItems: "exact" } as const
  expect([takes(endless, '["a", "b"]', exact), takes(endless, '["a", "a"]', exact)]).toEqual([true, false])
})

test("a dialect that is not JSON Schema's own is refused unless it is said to mean the same", () => {
  const foreign = { $schema: "https://example.org/my-schema", type: "integer" }
  expect(compileSchema(foreign)).toMatchObject({ status: "refused", reasons: [{ keyword: "$schema" }] })
  expect(compileSchema(foreign, { anyDialect: true }).status).toBe("exact")
})
