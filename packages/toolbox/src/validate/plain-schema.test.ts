import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { validate } from "./compile.ts"
import { isPlainSchema } from "./plain-schema.ts"

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
/** What the rules of the draft themselves say. */
const byTheRules = (schema: unknown): boolean => ajv.validateSchema(schema as object) === true

const KEYWORDS = (
  "$ref $dynamicRef $comment title description format pattern contentEncoding contentMediaType deprecated readOnly " +
  "writeOnly uniqueItems maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength maxItems minItems " +
  "maxContains minContains maxProperties minProperties multipleOf type required dependentRequired enum examples " +
  "const default items contains additionalProperties propertyNames if then else not contentSchema unevaluatedItems " +
  "unevaluatedProperties prefixItems allOf anyOf oneOf properties patternProperties dependentSchemas $defs " +
  "definitions x-own $id $schema $anchor $dynamicAnchor $vocabulary $recursiveAnchor $recursiveRef dependencies"
).split(" ")
const PARTS: readonly unknown[] = [null, true, false, 0, -1, 1, 1.5, "", "a", "#/$defs/a", "string", [], {}]
const LISTS: readonly unknown[] = [["a"], ["a", "a"], ["string", "null"], [1], [{}], [true], [null], [[]]]
const RECORDS = [1, ["b"], ["b", "b"], {}, { type: "integer" }, { type: "int" }].map((a) => ({ a }))
const VALUES = [...PARTS, ...LISTS, ...RECORDS, { type: "text" }, Number.NaN, Number.POSITIVE_INFINITY]

describe("a schema that is taken without the full check", () => {
  test("is one by the rules of the draft, whatever stands at any keyword", () => {
    const taken: string[] = []
    for (const keyword of KEYWORDS)
      for (const value of VALUES) {
        const schema = { [keyword]: value }
        if (!isPlainSchema(schema)) continue
        taken.push(keyword)
        expect({ schema, valid: byTheRules(schema) }).toEqual({ schema, valid: true })
      }
    expect(new Set(taken).size).toBeGreaterThan(45)
  })

  test("is one by the rules of the draft, also where keywords stand in each other", () => {
    const value: fc.Memo<unknown> = fc.memo((depth) =>
      depth <= 1
        ? fc.constantFrom(...VALUES)
        : fc.oneof(
            fc.constantFrom(...VALUES),
            fc.dictionary(fc.constantFrom(...KEYWORDS), value(depth - 1), { maxKeys: 3 }),
            fc.array(value(depth - 1), { maxLength: 2 }),
          ),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...KEYWORDS), value(4), { maxKeys: 3 }), (schema) => {
        if (isPlainSchema(schema)) expect(byTheRules(schema)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    [{ type: "object", properties: { a: { type: ["string", "null"], minLength: 1 } }, required: ["a"] }],
    [{ $defs: { a: { enum: [1, "b"] } }, anyOf: [{ $ref: "#/$defs/a" }, { const: null }], default: null }],
    [{ type: "array", items: { type: "integer", minimum: 0, multipleOf: 5 }, "x-own": { type: "nothing" } }],
  ])("%j is such a schema", (schema) => expect(isPlainSchema(schema)).toBe(true))

  test("one too deep, or in a circle, is none", () => {
    const circle: Record<string, unknown> = {}
    circle["not"] = circle
    expect(isPlainSchema(circle)).toBe(false)
  })
})

describe("any other schema", () => {
  test.each([
    [{ type: "text" }, /data\/type must be equal to one of the allowed values/],
    [{ properties: { a: { minLength: -1 } } }, /data\/properties\/a\/minLength must be >= 0/],
    [{ required: ["a", "a"] }, /data\/required must not have an entry twice/],
    [{ allOf: [] }, /data\/allOf must NOT have fewer than 1 items/],
  ])("%j is refused by the words of the full check", async (schema, message) =>
    expect(validate(schema, {})).rejects.toMatchObject({
      code: "INVALID_SCHEMA",
      message: expect.stringMatching(message) as string,
    }),
  )

  test("is read by the rules of draft-07 where those of 2020-12 refuse it", async () => {
    const pair = { type: "array", items: [{ type: "string" }, { type: "number" }] } as never
    expect(await validate(pair, ["a", 1])).toEqual([])
    expect(await validate(pair, [1, "a"])).toHaveLength(2)
  })
})
