import { readFileSync } from "node:fs"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { JsonSchema } from "../model/schema.ts"
import { inspect } from "./compile.ts"
import { isSimpleSchema, plainlyFits, withoutDraft } from "./plain-value.ts"

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

const SCALARS = [null, true, false, 0, 1, -0, 1.5, 3, "", "a", "ab", "🙂", "constructor"]
const NAMES = fc.constantFrom("a", "b", "constructor", "__proto__", "toString")
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 3 })
const TYPES = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string")

const LOOKED_AT = (
  "type enum const properties required additionalProperties items minimum maximum minLength minItems maxItems " +
  "pattern propertyNames not description"
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
          pattern: fc.constantFrom("^a$", "^ab$", "^constructor$", "^[a-z]$", "^[A-Z_][0-9a]*$"),
          propertyNames: tie("schema"),
          not: tie("schema"),
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
    for (const keyword of [
      "pattern",
      "$ref",
      "not",
      "propertyNames",
      "anyOf",
      "uniqueItems",
      "$schema",
      "exclusiveMinimum",
      "x-own",
    ])
      for (const around of [
        (inner: object) => inner,
        (inner: object) => ({ properties: { a: { items: inner } } }),
        (inner: object) => ({ additionalProperties: inner }),
      ])
        expect(isSimpleSchema(around({ [keyword]: "a" })), keyword).toBe(false)
  })
})

describe("a pattern", () => {
  test("is simple where every engine can read it", () => {
    for (const pattern of ["^char$", "^[A-Za-z_][A-Za-z0-9_]*$", "^a[0-9]+$"])
      expect(isSimpleSchema({ pattern }), pattern).toBe(true)
    for (const pattern of [
      "char",
      "^char",
      "^a|b$",
      "^[$",
      "^[z-a]$",
      "^a.$",
      "^\\d$",
      "^a{2}$",
      "^(a)$",
      "^[]$",
      "^$",
    ])
      expect(isSimpleSchema({ pattern }), pattern).toBe(false)
  })

  test("of one text takes that text, and what others take is left to the full check", () => {
    for (const [pattern, text, fits] of [
      ["^char$", "char", true],
      ["^char$", "chars", false],
      ["^char$", "char\n", false],
      ["^[a-z]$", "a", false],
    ] as const)
      expect(plainlyFits({ pattern }, text), `${pattern} ${text}`).toBe(fits)
    expect(plainlyFits({ type: ["integer", "string"], pattern: "^char$" }, 3)).toBe(true)
  })

  test("with a mistake is refused for the first value too, whether or not it is reached", async () => {
    for (const wrong of [{ pattern: "^[z-a]$" }, { propertyNames: { pattern: "^(a$" } }, { not: { pattern: "[" } }]) {
      const wanted: JsonSchema = { type: "object", properties: { a: wrong } }
      for (const given of [{}, {}])
        await expect(inspect(wanted, given)).rejects.toMatchObject({ code: "INVALID_SCHEMA" })
    }
  })
})

test("a screenplay as most are is taken without Ajv, of which loading and compiling took a quarter of a scripted run", async () => {
  const page = new URL("../../../backends/schema/screenplay.schema.json", import.meta.url)
  const published = JSON.parse(readFileSync(page, "utf8")) as JsonSchema
  const simple = withoutDraft(published)
  expect(isSimpleSchema(simple)).toBe(true)
  const call = { name: "file_read", arguments: { path: "a.txt" } }
  const steps = [
    { repeat: "always", expect: { result: "one" }, reply: { text: "I look.", calls: [call] } },
    { reply: "x" },
  ]
  expect(plainlyFits(simple, { $schema: "a", abilities: { nativeTools: true }, chunks: "char", steps })).toBe(true)
  for (const wrong of [{ steps: [] }, { steps: [{ reply: 1 }] }, { steps, chunks: "chars" }, { steps, other: 1 }]) {
    expect(plainlyFits(simple, wrong)).toBe(false)
    expect((await inspect({ ...published }, wrong)).errors).not.toEqual([])
  }
})

test("a draft that is named is left out only where it is the one that schemas are read by", () => {
  const newer = "https://json-schema.org/draft/2020-12/schema"
  expect(withoutDraft({ $schema: newer, type: "string" })).toEqual({ type: "string" })
  for (const $schema of ["http://json-schema.org/draft-07/schema#", "elsewhere", null])
    expect(isSimpleSchema(withoutDraft({ $schema, type: "string" }))).toBe(false)
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
