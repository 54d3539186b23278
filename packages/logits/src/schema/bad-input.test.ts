import { describe, expect, test } from "vitest"
import { grammarToGbnf } from "../gbnf/from-grammar.ts"
import { lowerGrammar } from "../lowering/index.ts"
import { compileSchema, schemaToGrammar } from "../constraint/schema-grammar.ts"
import { schemaToGBNF } from "../gbnf/schema-to-gbnf.ts"
import { createMatcher } from "../matcher/matcher.ts"
import type { Schema } from "./json-schema.ts"

const repeated = (depth: number, wrap: (inner: Schema) => Schema): Schema =>
  Array.from({ length: depth }).reduce<Schema>((inner) => wrap(inner), { type: "integer" })

function accepted(schema: Schema, ...instances: string[]): boolean[] {
  const matcher = createMatcher(compileSchema(schema).grammar!)
  return instances.map((instance) => {
    matcher.reset()
    return matcher.accept(instance) && matcher.isComplete()
  })
}

describe("what cannot be expressed is refused with its place and reason", () => {
  test.each<[Schema, string, string, RegExp]>([
    [
      { properties: { a: { $ref: "https://example.com/other.json" } } },
      "#/properties/a",
      "$ref",
      /leads out of the schema/,
    ],
    [{ properties: { "a/b": { $ref: "#/definitions/none" } } }, "#/properties/a~1b", "$ref", /leads nowhere/],
    [
      { items: { type: "string", pattern: "a(?=b)c" } },
      "#/items",
      "pattern",
      /look-ahead is supported at the beginning/,
    ],
    [
      {
        type: "array",
        uniqueItems: true,
        items: { anyOf: [{ type: "integer" }, { type: "object", required: ["a"], maxProperties: 3 }] },
      },
      "#",
      "uniqueItems",
      /maxProperties of the items/,
    ],
    [{ pattern: "(?<=a)b" }, "#", "pattern", /look-behind/],
    [{ pattern: "(a)\\1" }, "#", "pattern", /back-references/],
    [{ pattern: "\\bword" }, "#", "pattern", /word boundaries/],
    [{ pattern: "(" }, "#", "pattern", /not closed/],
    [{ pattern: "^(a|b)*a(a|b){20}$" }, "#", "pattern", /too many states/],
    [{ pattern: "^((a{100}){100}){100}$" }, "#", "pattern", /too large/],
    [{ type: "strin" }, "#", "type", /no type of JSON Schema/],
    [{ multipleOf: 0 }, "#", "multipleOf", /not positive/],
    [{ minLength: -1 }, "#", "minLength", /whole number/],
    [{ minimum: "5" }, "#", "minimum", /not a number/],
    [
      { $schema: "https://json-schema.org/draft/2020-12/schema", format: "email" },
      "#",
      "format",
      /set the option formats/,
    ],
    [{ format: "iri" }, "#", "format", /no exact grammar/],
    [{ $schema: "https://example.com/my-dialect" }, "#", "$schema", /not a dialect known here/],
    [{ anyOf: [{ $ref: "#" }, { type: "string" }] }, "#", "anyOf", /refers to itself/],
    [{ not: { type: "array", uniqueItems: true } }, "#", "not", /uniqueItems/],
    [{ properties: { a: { $recursiveRef: "#" } } }, "#/properties/a", "$recursiveRef", /\$ref/],
  ])("%j", (schema, path, keyword, reason) => {
    const compiled = compileSchema(schema)
    expect(compiled).toMatchObject({ status: "refused", reasons: [{ path, keyword }] })
    expect(compiled.reasons[0]!.reason).toMatch(reason)
  })

  test("nesting beyond the limit", () => {
    expect(compileSchema(repeated(5000, (inner) => ({ allOf: [inner] })))).toMatchObject({
      status: "refused",
      reasons: [{ reason: expect.stringContaining("nested more than") }],
    })
  })

  test("on request it is left out, and named", () => {
    const schema: Schema = {
      type: "object",
      properties: { a: { type: "string", pattern: "\\bx", maxLength: 3 }, b: { $ref: "other.json" } },
      additionalProperties: false,
    }
    const compiled = compileSchema(schema, { relaxed: true })
    expect(compiled.status).toBe("relaxed")
    expect(compiled.reasons.map(({ path, keyword }) => `${path} ${keyword}`)).toEqual([
      "#/properties/a pattern",
      "#/properties/b $ref",
    ])
    const matcher = createMatcher(compiled.grammar!)
    expect([matcher.accepts('{"a":"yyy","b":[]}'), matcher.accepts('{"a":"yyyy"'), matcher.accepts('{"c"')]).toEqual([
      true,
      false,
      false,
    ])
  })

  test("unique items are compared by a matcher, and refused or named where masks are to be made", () => {
    const schema: Schema = { properties: { tags: { type: "array", items: { type: "string" }, uniqueItems: true } } }
    expect(compileSchema(schema).status).toBe("exact")
    expect(compileSchema(schema, { uniqueItems: "finite" })).toMatchObject({
      status: "refused",
      reasons: [{ path: "#/properties/tags", keyword: "uniqueItems" }],
    })
    expect(compileSchema(schema, { uniqueItems: "finite", relaxed: true })).toMatchObject({
      status: "relaxed",
      reasons: [{ path: "#/properties/tags", keyword: "uniqueItems" }],
    })
    expect(compileSchema({ items: { enum: ["a", "b"] }, uniqueItems: true }, { uniqueItems: "finite" }).status).toBe(
      "exact",
    )
  })

  test("a grammar that a model is asked for says what to do", () => {
    expect(() => schemaToGrammar({ pattern: "\\bx" })).toThrow(
      expect.objectContaining({ code: "SCHEMA_REFUSED", hint: expect.stringContaining("relaxed") }),
    )
    expect(() => schemaToGrammar({ type: "integer", minimum: 3, maximum: 2 })).toThrow(/No value satisfies/)
    expect(() => schemaToGBNF({ type: "array", uniqueItems: true, items: { type: "string" } })).toThrow(
      expect.objectContaining({ code: "SCHEMA_REFUSED" }),
    )
    expect(() =>
      schemaToGBNF({ type: "array", uniqueItems: true, items: { type: "string" } }, { uniqueItems: "exact" }),
    ).toThrow(expect.objectContaining({ code: "GRAMMAR_REFUSED" }))
  })
})

describe("large and strange schemas come out within bounds", () => {
  test("ten megabytes", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, index) => [
        `property_with_a_long_name_${index}`,
        {
          type: "object",
          properties: { a: { type: "string", description: "x".repeat(60) }, b: { type: "integer", minimum: index } },
        },
      ]),
    )
    expect(compileSchema({ type: "object", properties })).toMatchObject({
      status: "refused",
      reasons: [{ reason: expect.stringContaining("more than 150000") }],
    })
    expect(accepted({ type: "string", description: "x".repeat(1e7) }, '"a"')).toEqual([true])
  })

  test("five thousand texts, numbers and objects to choose from", () => {
    const list = Array.from({ length: 5000 }, (_, index) => index * 7)
    expect(accepted({ enum: list.map((index) => `value ${index}`) }, '"value 14"', '"value 15"')).toEqual([true, false])
    expect(accepted({ enum: list }, "14", "14.0", "15", "1")).toEqual([true, true, false, false])
    expect(accepted({ enum: list.slice(0, 500).map((index) => ({ index })) }, '{"index":14}', '{"index":15}')).toEqual([
      true,
      false,
    ])
    expect(schemaToGBNF({ enum: list.map((index) => `value ${index}`) }).length).toBeGreaterThan(40_000)
  })

  test("two hundred levels", () => {
    expect(
      accepted(
        repeated(200, (inner) => ({ type: "object", properties: { a: inner }, required: ["a"] })),
        `${'{"a":'.repeat(200)}1${"}".repeat(200)}`,
      ),
    ).toEqual([true])
    expect(
      accepted(
        repeated(200, (inner) => ({ not: inner })),
        "1",
        '"a"',
      ),
    ).toEqual([true, false])
    expect(
      accepted(
        repeated(200, (inner) => ({ anyOf: [inner, { type: "string" }] })),
        "1",
        '"a"',
        "null",
      ),
    ).toEqual([true, true, false])
  })

  test("patterns that make backtracking engines hang", () => {
    expect(accepted({ type: "string", pattern: "^(a+)+$" }, `"${"a".repeat(5000)}"`, `"${"a".repeat(5000)}b"`)).toEqual(
      [true, false],
    )
    expect(accepted({ type: "string", pattern: "(a+)+$" }, `"b${"a".repeat(5000)}"`, `"${"a".repeat(5000)}b"`)).toEqual(
      [true, false],
    )
    expect(
      accepted({ type: "string", pattern: "^(?=.*[0-9])(?!.*x)[a-z0-9]{4,8}$" }, '"ab1c"', '"abcd"', '"ab1x"'),
    ).toEqual([true, false, false])
  })

  test("bounds far out are counted, not written out", () => {
    expect(accepted({ type: "string", minLength: 3, maxLength: 2_000_000_000 }, '"abc"', '"ab"')).toEqual([true, false])
    expect(accepted({ type: "array", maxItems: 2_000_000_000, minItems: 2 }, "[1,2]", "[1]")).toEqual([true, false])
  })

  test("two hundred kinds of objects, told apart by a mark", () => {
    const kinds = Array.from({ length: 200 }, (_, index) => ({
      type: "object",
      properties: { kind: { const: `kind ${index}` }, size: { type: "integer", minimum: index } },
      required: ["kind"],
    }))
    expect(
      accepted({ oneOf: kinds }, '{"size":7,"kind":"kind 7"}', '{"size":6,"kind":"kind 7"}', '{"kind":"kind 200"}'),
    ).toEqual([true, false, false])
  })

  test("five hundred kinds with keys of any name are refused, and large classes of characters stay small", () => {
    const kinds = Array.from({ length: 500 }, (_, index) => ({ type: "object", required: [`kind ${index}`] }))
    expect(compileSchema({ oneOf: kinds.slice(0, 3) }).grammar).toBeDefined()
    expect(compileSchema({ anyOf: kinds.map((kind, index) => ({ ...kind, minProperties: index })) }).grammar).toBe(
      undefined,
    )
    const letters = { type: "object", propertyNames: { pattern: "a\\p{L}{8}$" } } as const
    expect(schemaToGBNF(letters).length).toBeLessThan(200_000)
  })

  test("names that objects have by nature are names like others", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__","constructor"]}',
    ) as Schema
    expect(accepted(schema, '{"__proto__":1,"constructor":2}', '{"__proto__":"a","constructor":2}', '{"a":1}')).toEqual(
      [true, false, false],
    )
  })
})

test("the same schema gives the same GBNF, keys in its own order", () => {
  const schema: Schema = {
    type: "object",
    properties: { zebra: { type: "string" }, ape: { enum: ["b", "a"] }, "1": { type: "null" } },
    required: ["zebra"],
  }
  const text = schemaToGBNF(schema)
  expect(schemaToGBNF(structuredClone(schema))).toBe(text)
  expect(text.indexOf("zebra")).toBeLessThan(text.indexOf("ape"))
  expect(grammarToGbnf(lowerGrammar(schemaToGrammar(schema)))).toBe(text)
})
