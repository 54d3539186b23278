import { ToolwrightError, validate, type JsonSchema } from "@toolwright/toolbox"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { describe, expect, test } from "vitest"
import { at, isObject, lostInForm, pretty, withPart, type Schema } from "../lib/json.ts"
import { startingValue } from "../lib/schema.ts"
import { SchemaForm } from "./form.tsx"

interface SchemaRecord {
  source: string
  schema: string
  tests: { text: string; valid: boolean }[]
}

interface ToolRecord {
  tools: { name: string; parameters: Schema }[]
  tests: { data: { name: string; arguments?: unknown } }[]
}

/** Test data outside the project, where it is there. */
const [tools = "", file = ""] = ["bfcl", "json-schema-bench"].map(
  (name) =>
    Object.entries(
      import.meta.glob<string>("../../../../../../shared/data/{bfcl,json-schema-bench}.jsonl", {
        query: "?raw",
        import: "default",
        eager: true,
      }),
    ).find(([path]) => path.includes(`/${name}.`))?.[1],
)
const isThere = file !== "" && tools !== ""
const WHY = isThere ? "" : " (skipped: the test data is not on this machine)"
const linesOf = <Line>(text: string): Line[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]))
const records = linesOf<SchemaRecord>(file)

/** Every how manieth tool is looked at: their schemas are much alike. */
const STEP = 3

/** Of the tools that models are tried with each kind of arguments once, with what is given to it. */
function toolSchemas(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { tools: offered, tests } of linesOf<ToolRecord>(tools))
    for (const { name, parameters } of offered) {
      const given = tests
        .filter(({ data }) => data.name === name)
        .map(({ data }) => JSON.stringify(data.arguments ?? {}))
      found.set(JSON.stringify(parameters), given)
    }
  return new Map([...found].filter((_, index) => index % STEP === 0))
}

/** What forms get wrong most often, one of each. */
const SAMPLE: Record<string, Schema> = {
  "nothing is said": {},
  "no arguments": { type: "object", additionalProperties: false },
  "every kind": {
    type: "object",
    properties: {
      text: { type: "string", maxLength: 40 },
      count: { type: "integer", minimum: 3 },
      share: { type: ["number", "null"] },
      on: { type: "boolean" },
      one: { enum: ["a", 1, null, { deep: true }] },
      only: { const: "this" },
      list: { type: "array", items: { type: "object", properties: { x: { type: "string" } }, required: ["x"] } },
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
      map: { type: "object", additionalProperties: { type: "string" } },
      any: {},
      all: true,
      none: false,
    },
    required: ["text", "count", "one", "list"],
  },
  "forms to choose from": {
    type: "object",
    properties: {
      who: {
        oneOf: [
          { title: "by name", type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          { type: "integer" },
          { const: "nobody" },
        ],
      },
    },
    required: ["who"],
  },
  "a tree that refers to itself": {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: { name: { type: "string" }, below: { type: "array", items: { $ref: "#/$defs/node" } } },
        required: ["name"],
      },
      loop: { $ref: "#/$defs/loop" },
    },
  },
  "what refers to nothing": { type: "object", properties: { a: { $ref: "#/$defs/gone" }, b: { $ref: "other.json" } } },
  "names that harm": {
    type: "object",
    properties: { __proto__x: { type: "string" }, constructor: { type: "string" }, "<b>": { type: "string" } },
    required: ["constructor"],
  },
}

const markup = (schema: Schema, value: unknown): string =>
  renderToStaticMarkup(createElement(SchemaForm, { schema, value, change: () => {}, check: undefined }))

/** Every place of a value, however deep. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  const below = Array.isArray(value)
    ? value.flatMap((each, index) => pathsOf(each, [...path, index]))
    : isObject(value)
      ? Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))
      : []
  return [path, ...below]
}

/** A schema is shown with what a form begins with and with each value; what it yields fits, or it is said why not. */
async function hold(schema: Schema, texts: readonly string[]): Promise<"fits" | "says why" | "is no schema here"> {
  const start = startingValue(schema, schema)
  expect(markup(schema, start)).toMatch(/</)
  for (const text of texts) {
    const value = JSON.parse(text) as unknown
    expect(markup(schema, value)).toMatch(/</)
    // A form that is looked at and left changes nothing, wherever somebody has been in it.
    const after = pathsOf(value)
      .slice(0, 200)
      .map((path) => withPart(value, path, at(value, path)))
    const altered = after.find((one) => !saysTheSame(one, value)) ?? value
    expect(JSON.stringify(altered)).toBe(JSON.stringify(value))
    if (lostInForm(text) === undefined) expect(wordsOf(pretty(value))).toEqual(wordsOf(text))
  }
  const problems = await validate(schema as JsonSchema, start).catch((thrown: unknown) => {
    // A tool with such a schema is not taken in: there is nothing to fill in.
    if (ToolwrightError.isInstance(thrown) && thrown.code === "INVALID_SCHEMA") return undefined
    throw thrown
  })
  if (problems === undefined) return "is no schema here"
  for (const { message = "" } of problems) expect(message).not.toBe("")
  return problems.length === 0 ? "fits" : "says why"
}

/** Whether two values are one JSON text. Of an altered value most parts are the very ones that were there before. */
function saysTheSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false
  const [parts, others] = [Object.entries(one), Object.entries(other)]
  return (
    Array.isArray(one) === Array.isArray(other) &&
    parts.length === others.length &&
    parts.every(([key, part], at) => key === others[at]![0] && saysTheSame(part, others[at]![1]))
  )
}

/** Keys, values and their order: what a JSON text says, however it is laid out and spelled. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]|true|false|null/g)].map(([word]) =>
    word.startsWith('"') ? JSON.stringify(JSON.parse(word)) : word,
  )
}

describe("a form", () => {
  test.each(Object.keys(SAMPLE))(
    "of a schema in which there is %s is shown, and what it begins with fits or says why",
    async (name) => {
      expect(await hold(SAMPLE[name]!, ["{}", '{"text":"x","list":[{"x":"<i>"}],"more":{"deep":[1]}}'])).toMatch(/./)
    },
  )

  test.skipIf(!isThere)(
    `of each schema from practice is shown, alters nothing, and yields what fits or says why${WHY}`,
    async () => {
      const came = { fits: 0, "says why": 0, "is no schema here": 0 }
      for (const { source, schema, tests } of records) {
        const texts = tests
          .map(({ text }) => text)
          .filter((text) => text.length < 20_000)
          .slice(0, 6)
        const parsed = JSON.parse(schema) as Schema
        came[
          await hold(typeof parsed === "object" ? parsed : {}, texts).catch((thrown: unknown) => {
            throw new Error(`${source}: ${String(thrown)}`, { cause: thrown })
          })
        ]++
      }
      console.log(`The form's first value, of ${records.length} schemas: ${JSON.stringify(came)}`)
      expect(came.fits + came["says why"]).toBeGreaterThan(records.length * 0.9)
      expect(came.fits).toBeGreaterThan(records.length / 2)
    },
  )

  test.skipIf(!isThere)(
    `of tools that models are tried with is shown, alters nothing, and yields what fits or says why${WHY}`,
    async () => {
      const came = { fits: 0, "says why": 0, "is no schema here": 0 }
      const schemas = toolSchemas()
      for (const [schema, texts] of schemas) came[await hold(JSON.parse(schema) as Schema, texts.slice(0, 6))]++
      console.log(`The form's first value, of ${schemas.size} tools: ${JSON.stringify(came)}`)
      expect(records.length + schemas.size).toBeGreaterThan(500)
      expect(came["is no schema here"]).toBe(0)
      expect(came.fits).toBeGreaterThan(schemas.size / 2)
    },
  )

  test.each([
    ['{"a":1,"a":2}', 'the key "a" stands twice'],
    ['{"a":12345678901234567890}', "the number 12345678901234567890 would be rounded"],
    ['{"a":1.0}', "the number 1.0 would be rounded"],
    ['{"b":1,"1":2}', 'the key "1" would be moved'],
    ['{"__proto__":{"a":1}}', undefined],
    ['{"a":"1.0","b":[{"a":1},{"a":2}]}', undefined],
  ])("leaves %s to the text where it would alter it", (text, lost) => expect(lostInForm(text)).toBe(lost))
})
