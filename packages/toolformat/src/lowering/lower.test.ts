import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { defineTool, validate, type JsonObject, type JsonSchema } from "@toolwright/toolbox"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { lowerSchema, lowerTools, restoreArguments, type LoweringTarget } from "./index.ts"

const object = (properties: Record<string, JsonSchema>, required: string[] = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
})
const lossesOf = (schema: JsonSchema, target: LoweringTarget): string[] =>
  lowerSchema(schema, target).losses.map(({ path, keyword, effect }) => `${path} ${keyword} ${effect}`)

describe("OpenAI strict", () => {
  test("requires every property and makes the optional ones nullable, without loss", () => {
    const schema = object({ a: { type: "string" }, b: { type: "integer", minimum: 1 }, c: { enum: ["x", "y"] } }, ["a"])
    expect(lowerSchema(schema, "openai-strict")).toEqual({
      schema: object({
        a: { type: "string" },
        b: { type: ["integer", "null"], minimum: 1 },
        c: { anyOf: [{ type: "string", enum: ["x", "y"] }, { type: "null" }] },
      }),
      losses: [],
    })
  })

  test("says what it cannot enforce, with the path, and leaves it in the description", () => {
    const schema = object({
      "a/b": { type: "string", minLength: 2, description: "Name" },
      free: { type: "object", additionalProperties: { type: "number" } },
    })
    const { schema: lowered, losses } = lowerSchema(schema, "openai-strict")
    expect(losses.map(({ path, keyword, effect }) => [path, keyword, effect])).toEqual([
      ["/properties/a~1b", "minLength", "widened"],
      ["/properties/free", "additionalProperties", "narrowed"],
    ])
    expect(lowered.properties?.["a/b"]).toEqual({ type: "string", description: "Name\nminLength: 2" })
  })

  test("puts the branches of a union at the root into one object", () => {
    const branch = (action: string, name: string) => object({ action: { const: action }, [name]: { type: "string" } })
    const { schema, losses } = lowerSchema(
      { type: "object", oneOf: [branch("open", "path"), branch("close", "id")] },
      "openai-strict",
    )
    expect(schema.properties?.action).toEqual({ type: "string", enum: ["open", "close"] })
    expect(schema.required).toEqual(["action", "path", "id"])
    expect(losses).toMatchObject([{ path: "", keyword: "oneOf", effect: "widened" }])
  })

  test("takes oneOf for anyOf where its branches exclude each other", () => {
    const branch = (kind: string) => object({ kind: { const: kind } })
    expect(lossesOf(object({ v: { oneOf: [branch("a"), branch("b")] } }), "openai-strict")).toEqual([])
    expect(lossesOf(object({ v: { oneOf: [{ type: "string" }, { type: "number" }] } }), "openai-strict")).toEqual([])
    expect(lossesOf(object({ v: { oneOf: [object({ a: {} }), object({ b: {} }, [])] } }), "openai-strict")).toContain(
      "/properties/v oneOf widened",
    )
  })

  test("keeps schemas that contain themselves, as definitions", () => {
    const schema = {
      ...object({ tree: { $ref: "#/definitions/Tree" } }),
      definitions: { Tree: object({ children: { type: "array", items: { $ref: "#/definitions/Tree" } } }) },
    }
    const { schema: lowered, losses } = lowerSchema(schema, "openai-strict")
    expect(losses).toEqual([])
    expect(lowered).toEqual({
      ...object({ tree: { $ref: "#/$defs/Tree" } }),
      $defs: { Tree: object({ children: { type: "array", items: { $ref: "#/$defs/Tree" } } }) },
    })
  })

  test("joins allOf", () => {
    const schema = {
      allOf: [object({ a: { type: "string" } }, ["a"]), { properties: { a: { pattern: "^x" } } }],
      type: "object",
    }
    expect(lowerSchema(schema, "openai-strict")).toEqual({
      schema: object({ a: { type: "string", pattern: "^x" } }),
      losses: [],
    })
  })
})

describe("other targets", () => {
  test("Gemini: no references, nullable, strings only in enums", () => {
    const schema = {
      ...object({ a: { $ref: "#/$defs/A" }, n: { type: ["integer", "null"] }, e: { enum: [1, 2] }, k: { const: "x" } }),
      $defs: { A: { type: "string" } },
    }
    const { schema: lowered, losses } = lowerSchema(schema, "gemini")
    expect(lowered.properties).toEqual({
      a: { type: "string" },
      n: { type: "integer", nullable: true },
      e: { type: "number", description: "enum: [1,2]" },
      k: { type: "string", enum: ["x"] },
    })
    expect(losses.map((loss) => `${loss.path} ${loss.keyword}`)).toEqual([
      "/properties/e enum",
      " additionalProperties",
    ])
  })

  test("Gemini: a schema that contains itself ends, and is told", () => {
    const schema = {
      ...object({ tree: { $ref: "#/$defs/T" } }),
      $defs: { T: object({ t: { $ref: "#/$defs/T" } }, []) },
    }
    expect(lossesOf(schema, "gemini")).toContain("/properties/tree/properties/t $ref widened")
  })

  test("a schema that contains itself within what has no type ends, and the mark of a bound that is absent says nothing", () => {
    const list: JsonSchema = {
      type: ["array", "integer"],
      items: { minimum: 0, prefixItems: [{ type: "string" }, {}] },
    }
    const schema: JsonSchema = {
      type: "object",
      properties: { a: list, b: { type: "number", exclusiveMaximum: true } },
    }
    list.items = { minimum: 0, prefixItems: [{ type: "string" }, { $ref: "#", maxProperties: 9 }] }
    for (const target of ["openai-strict", "anthropic-output", "gemini", "llama.cpp-gbnf"] as const) {
      const { schema: lowered } = lowerSchema(schema, target)
      expect(JSON.stringify(lowered).length, target).toBeLessThan(100_000)
      expect(JSON.stringify(lowered), target).not.toContain("exclusiveMaximum")
    }
  })

  test("Anthropic: everything but a union at the root", () => {
    const nested = object({ v: { oneOf: [{ type: "string", pattern: "^a", not: { const: "ab" } }, { type: "null" }] } })
    expect(lowerSchema(nested, "anthropic")).toEqual({ schema: nested, losses: [] })
    expect(lossesOf({ type: "object", anyOf: [object({ a: {} }), object({ b: {} })] }, "anthropic")).toEqual([
      " anyOf widened",
    ])
  })

  test("llama.cpp: siblings of a union go into its branches, bounds of broken numbers are told", () => {
    const schema = object({
      v: {
        type: "object",
        properties: { a: { type: "number", minimum: 0 } },
        anyOf: [{ required: ["a"] }, { properties: { b: { type: "null" } } }],
      },
    })
    const { schema: lowered, losses } = lowerSchema(schema, "llama.cpp-gbnf")
    expect(lowered.properties?.v?.anyOf).toHaveLength(2)
    expect(losses.map((loss) => loss.keyword)).toEqual(["minimum", "minimum"])
  })

  test("generic: as it is", () => {
    const schema = { type: "object", oneOf: [object({ a: { not: {} } })] }
    expect(lowerSchema(schema, "generic")).toEqual({ schema, losses: [] })
  })
})

test("one bad schema is set aside with its reason, the others go on", () => {
  const tool = (name: string, input: JsonSchema) => ({
    ...defineTool({ name, description: name, parameters: { type: "object" }, execute: () => 0 }),
    parameters: input,
  })
  const loop = {
    type: "object",
    properties: { a: { $ref: "#/$defs/a" } },
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
  }
  const tools = [
    tool("good", object({ a: { type: "string" } })),
    tool("dangling", { type: "object", properties: { a: { $ref: "#/$defs/nope" } } }),
    tool("text", { type: "string" }),
    tool("loop", loop),
  ]
  const { tools: lowered, quarantined } = lowerTools(tools, "openai-strict")
  expect(lowered.map((each) => each.tool.name)).toEqual(["good"])
  expect(quarantined.map(({ tool: { name }, code }) => [name, code])).toEqual([
    ["dangling", "INVALID_SCHEMA"],
    ["text", "INVALID_SCHEMA"],
    ["loop", "INVALID_SCHEMA"],
  ])
  expect(quarantined[0]?.reason).toContain("#/$defs/nope")
})

test("nulls for what was left out are taken back, other nulls stay", () => {
  const schema = object(
    {
      a: { type: "string" },
      n: { type: ["string", "null"] },
      list: { type: "array", items: { $ref: "#/$defs/item" } },
      u: { anyOf: [object({ x: { type: "integer" } }, []), { type: "null" }] },
    },
    [],
  )
  const root = { ...schema, $defs: { item: object({ o: { type: "integer" } }, []) } }
  expect(restoreArguments({ a: null, n: null, list: [{ o: null }, { o: 1 }], u: { x: null } }, root)).toEqual({
    n: null,
    list: [{}, { o: 1 }],
    u: {},
  })
  expect(restoreArguments({ unknown: null, u: null }, root)).toEqual({ unknown: null, u: null })
})

/* ---- laws over real schemas ---- */

const STRICT_KEYWORDS = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "enum",
  "pattern",
  "format",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "description",
  "title",
  "$ref",
  "$defs",
])

/**
 * Everything that strict mode demands of a schema, checked at every place. There are tens of thousands of places:
 * `expect` would take longer than what it looks at.
 */
function checkStrict(schema: JsonSchema): void {
  for (const keyword of Object.keys(schema)) assert(STRICT_KEYWORDS.has(keyword), keyword)
  if (schema.type === "object" || (Array.isArray(schema.type) && schema.type.includes("object"))) {
    assert.equal(schema.additionalProperties, false)
    assert.deepEqual(schema.required, Object.keys(schema.properties ?? {}))
  }
  if (schema.type === "array") assert(schema.items !== undefined)
  assert((schema.type ?? schema.anyOf ?? schema.$ref ?? schema.enum) !== undefined)
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.$defs ?? {}),
    ...(schema.anyOf ?? []),
    ...(typeof schema.items === "object" ? [schema.items] : []),
  ]
  for (const each of inner) checkStrict(each)
}

/** `nullable` in JSON Schema's own words, so that a validator can judge. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null) return value
  const { nullable, ...rest } = value as JsonSchema
  const schema = Object.fromEntries(
    Object.entries(rest).map(([key, item]) => [key, key === "enum" ? item : plain(item)]),
  )
  return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema
}

/**
 * Nulls for what is left out, as a model in strict mode writes it; undefined where a union leaves open which branch it
 * is.
 */
function filled(value: unknown, schema: JsonSchema, root: JsonSchema): unknown {
  if (typeof schema.$ref === "string")
    return filled(value, root.$defs?.[schema.$ref.slice("#/$defs/".length)] ?? {}, root)
  if (typeof value !== "object" || value === null) return value
  if (schema.anyOf !== undefined) {
    const wanted = Array.isArray(value) ? "array" : "object"
    const branches = schema.anyOf.filter((branch) => branch.type === wanted || branch.$ref !== undefined)
    return branches.length === 1 ? filled(value, branches[0]!, root) : undefined
  }
  if (Array.isArray(value))
    return value.map((item) => filled(item, (schema.items as JsonSchema | undefined) ?? {}, root))
  const result: JsonObject = {}
  for (const [name, item] of Object.entries(value)) result[name] = filled(item, schema.properties?.[name] ?? {}, root)
  for (const name of Object.keys(schema.properties ?? {})) if (!Object.hasOwn(result, name)) result[name] = null
  return result
}

const file = new URL("../../../../../shared/data/json-schema-bench.jsonl", import.meta.url)
const present = existsSync(file)
if (!present)
  console.warn("The schemas are not here (../shared/data/json-schema-bench.jsonl); the laws over them are skipped.")

/** Says of values whether they are valid; of one object for each schema, which is compiled once. */
function validity({ $schema: _dialect, ...schema }: JsonSchema) {
  return async (value: unknown): Promise<boolean | undefined> => {
    try {
      const errors = await validate(schema, value)
      // An object that says nothing about further properties is taken to have none; such instances prove nothing.
      return errors.length === 0
        ? true
        : errors.some((error) => error.keyword === "additionalProperties")
          ? undefined
          : false
    } catch {
      return undefined
    }
  }
}

describe.skipIf(!present)("over 400 real schemas with their instances", () => {
  const records = present
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { source: string; schema: string; tests: { text: string }[] })
    : []

  test("strict schemas have only what strict mode takes", () => {
    let checked = 0
    for (const record of records) {
      const [result] = lowerTools(
        [
          {
            ...defineTool({ name: "t", description: "", parameters: { type: "object" }, execute: () => 0 }),
            parameters: JSON.parse(record.schema) as JsonSchema,
          },
        ],
        "openai-strict",
      ).tools
      if (result === undefined) continue
      checkStrict(result.schema)
      checked += 1
    }
    expect(checked).toBeGreaterThan(380)
  })

  // Every tenth schema, others for each target, to stay short.
  test.each(["openai-strict", "anthropic-output", "gemini", "llama.cpp-gbnf", "anthropic"] as const)(
    "%s: what is not reported as lost is kept",
    async (target) => {
      const seed = ["openai-strict", "gemini", "llama.cpp-gbnf", "anthropic", "anthropic-output"].indexOf(target)
      const nullable = target === "openai-strict" || target === "anthropic-output"
      let kept = 0
      let refused = 0
      for (const [index, record] of records.entries()) {
        if (index % 10 !== seed || record.schema.length > 20_000) continue
        const schema = JSON.parse(record.schema) as JsonSchema
        let result
        try {
          result = lowerSchema(schema, target)
        } catch {
          continue
        }
        const lowered = plain(result.schema) as JsonSchema
        const narrowed = result.losses.some((loss) => loss.effect === "narrowed")
        const widened = result.losses.some((loss) => loss.effect === "widened")
        const [isValid, isStillValid] = [validity(schema), validity(lowered)]
        for (const { text } of record.tests) {
          const value = JSON.parse(text) as JsonObject
          const given = nullable ? filled(value, lowered, lowered) : value
          if (typeof value !== "object" || given === undefined || JSON.stringify(given) === undefined) continue
          const before = await isValid(nullable ? restoreArguments(value, schema) : value)
          const after = await isStillValid(given)
          if (before === true && !narrowed && after !== undefined) {
            expect({ source: record.source, text, after }).toMatchObject({ after: true })
            kept += 1
          }
          if (before === false && !widened) {
            expect({ source: record.source, text, after }).not.toMatchObject({ after: true })
            refused += 1
          }
        }
      }
      expect(kept).toBeGreaterThan(20)
      // A target that enforces few keywords loses something of most schemas.
      expect(refused).toBeGreaterThan(target === "anthropic-output" ? 10 : 20)
    },
  )
})

test("any object of optional scalars survives the round trip through strict mode", async () => {
  const scalar = fc.constantFrom<JsonSchema>(
    { type: "string" },
    { type: "integer" },
    { type: "boolean" },
    { type: ["number", "null"] },
    { enum: ["a", 1, null] },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        // the validator that decides here takes what every object inherits for a property of it
        fc.string().filter((name) => !(name in {})),
        fc.tuple(scalar, fc.boolean(), fc.boolean()),
      ),
      async (fields) => {
        const names = Object.keys(fields)
        const schema = object(
          Object.fromEntries(names.map((name) => [name, fields[name]![0]])),
          names.filter((name) => fields[name]![1]),
        )
        const sample = (given: JsonSchema): unknown =>
          given.enum !== undefined ? 1 : ({ string: "x", integer: 3, boolean: true }[String(given.type)] ?? null)
        const args = Object.fromEntries(
          names.filter((name) => fields[name]![1] || fields[name]![2]).map((name) => [name, sample(fields[name]![0])]),
        )
        const { schema: lowered, losses } = lowerSchema(schema, "openai-strict")
        expect(losses).toEqual([])
        const sent = filled(args, lowered, lowered) as JsonObject
        expect(await validate(lowered, sent)).toEqual([])
        const back = restoreArguments(sent, schema)
        for (const name of names) if (Object.hasOwn(args, name)) expect(back[name]).toEqual(args[name])
        expect(await validate(schema, back)).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
})
