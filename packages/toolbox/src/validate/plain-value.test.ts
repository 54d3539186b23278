import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { JsonSchema } from "../model/schema.ts"
import { inspect } from "./compile.ts"
import { isSimpleSchema, plainlyFits } from "./plain-value.ts"

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

const SCALARS = [null, true, false, 0, 1, -0, 1.5, 3, "", "a", "ab", "🙂", "constructor"]
const NAMES = fc.constantFrom("a", "b", "constructor", "__proto__", "toString")
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 3 })
const TYPES = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string")

const LOOKED_AT = (
  "type enum const properties required additionalProperties items minimum maximum minLength minItems maxItems " +
  "description"
).split(" ")
/** Few keywords at a time: of many together one refuses nearly every value. */
const chosen = <T extends object>(from: T, keywords: readonly string[]): T =>
  Object.fromEntries(Object.entries(from).filter(([keyword]) => keywords.includes(keyword))) as T

const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof({ depthSize: "small" }, fc.boolean(), tie("record")),
  record: few(fc.constantFrom(...LOOKED_AT)).chain((keywords) =>
    fc.record(
      chosen(
        {
          type: fc.oneof(TYPES, fc.uniqueArray(TYPES, { minLength: 1, maxLength: 3 })),
          enum: fc.array(fc.constantFrom(...SCALARS, []), { minLength: 1, maxLength: 3 }),
          const: fc.constantFrom(...SCALARS, {}),
          properties: fc.dictionary(NAMES, tie("schema"), { maxKeys: 3 }),
          required: fc.uniqueArray(NAMES, { maxLength: 2 }),
          additionalProperties: tie("schema"),
          items: tie("schema"),
          minimum: fc.constantFrom(0, 1, 2),
          maximum: fc.constantFrom(0, 1, 2),
          minLength: fc.constantFrom(0, 1, 2),
          minItems: fc.constantFrom(0, 1, 2),
          maxItems: fc.constantFrom(0, 1, 2),
          description: fc.constant("says something"),
        },
        keywords,
      ),
    ),
  ),
}))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...SCALARS, undefined, Number.NaN, Number.POSITIVE_INFINITY),
    few(tie("value")),
    fc.dictionary(NAMES, tie("value"), { maxKeys: 3 }),
  ),
}))

describe("a value that is taken without the full check", () => {
  test("meets the schema as Ajv reads it, whatever both are", () => {
    let taken = 0
    fc.assert(
      fc.property(schema, value, (wanted, given) => {
        expect(isSimpleSchema(wanted)).toBe(true)
        if (!plainlyFits(wanted, given)) return
        taken++
        expect(ajv.validate(wanted as object, given)).toBe(true)
        if (typeof wanted === "object") ajv.removeSchema(wanted as object)
      }),
      { numRuns: 2000 },
    )
    expect(taken).toBeGreaterThan(100)
  })

  test("and no schema with a keyword that is not looked at is simple, however deep", () => {
    for (const keyword of ["pattern", "$ref", "not", "anyOf", "uniqueItems", "$schema", "exclusiveMinimum", "x-own"])
      for (const around of [
        (inner: object) => inner,
        (inner: object) => ({ properties: { a: { items: inner } } }),
        (inner: object) => ({ additionalProperties: inner }),
      ])
        expect(isSimpleSchema(around({ [keyword]: "a" })), keyword).toBe(false)
  })
})

test("what does not fit plainly is told as before, and what comes after it is checked as ever", async () => {
  const wanted: JsonSchema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }
  expect(await inspect(wanted, { a: 1 })).toEqual({ errors: [], complete: true })
  expect(await inspect(wanted, { a: "1" })).toMatchObject({ errors: [{ keyword: "type", instancePath: "/a" }] })
  expect(await inspect(wanted, {})).toMatchObject({ errors: [{ keyword: "required" }] })
  expect(await inspect(wanted, { a: 2 })).toEqual({ errors: [], complete: true })
})

test("what only a program can make is looked at as the full check does: gaps of a list, fields that are not listed", () => {
  const gap: unknown[] = []
  gap[1] = "a"
  expect(plainlyFits({ type: "array", items: { type: "string" } }, gap)).toBe(false)
  const hidden = Object.defineProperty({}, "a", { value: 1 })
  expect(plainlyFits({ type: "object", properties: { a: { type: "string" } } }, hidden)).toBe(false)
})

test("a schema with an enum of nothing is refused for the first value too, whether or not it is reached", async () => {
  const wanted: JsonSchema = { type: "object", properties: { a: { enum: [] } } }
  for (const given of [{}, {}]) await expect(inspect(wanted, given)).rejects.toMatchObject({ code: "INVALID_SCHEMA" })
})
