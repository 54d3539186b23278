import { describe, expect, test } from "vitest"
import { defineTool, executeCall, ToolRegistry, validate, type JsonSchema, type ToolResult } from "../index.ts"

/**
 * Time of the processor, so that what else a busy machine does is not counted: far more than linear work takes, far
 * less than what grows with the square of these sizes.
 */
const SOON_MS = 4000
/** Characters of an answer, whatever was sent. */
const A_PAGE = 20_000

const from = { kind: "mcp", name: "elsewhere" } as const

async function call(schema: JsonSchema, args: unknown, more: object = {}): Promise<{ result: ToolResult; ms: number }> {
  const registry = new ToolRegistry()
  registry.register({
    ...defineTool({ name: "echo", description: "", parameters: schema, execute: () => "ran" }),
    ...more,
  })
  await executeCall(registry, { name: "echo", arguments: {} })
  const started = process.cpuUsage()
  const result = await executeCall(registry, { name: "echo", arguments: args })
  return { result, ms: msSince(started) }
}

/** Milliseconds that this process has been at work since then, on all its threads. */
function msSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

const echo: JsonSchema = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
}
const edits: JsonSchema = {
  type: "object",
  properties: {
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: { old_text: { type: "string" }, new_text: { type: "string" } },
        required: ["old_text", "new_text"],
        additionalProperties: false,
      },
    },
  },
}
const list = <Item>(length: number, make: (index: number) => Item): Item[] => Array.from({ length }, (_, i) => make(i))
const nested = (depth: number, text: string): unknown =>
  JSON.parse(`${'{"n":'.repeat(depth)}${text}${"}".repeat(depth)}`)
const tree: JsonSchema = {
  type: "object",
  properties: { n: { $ref: "#/$defs/n" } },
  $defs: { n: { anyOf: [1, 2, 3].map(() => ({ type: "object", properties: { n: { $ref: "#/$defs/n" } } })) } },
}

describe("an answer to wrong arguments takes time linear in them, and a page", () => {
  test.each<[string, JsonSchema, unknown]>([
    ["150,000 unknown keys", echo, Object.fromEntries(list(150_000, (i) => [`key${i}`, i]))],
    ["one unknown key of 2 MB", echo, { ["k".repeat(2_000_000)]: 1 }],
    ["20,000 wrong edits", edits, { edits: list(20_000, (i) => ({ oldtext: `${i}`, newtext: 1, other: {} })) }],
    ["20,000 edits that are no objects", edits, { edits: list(20_000, (i) => [i]) }],
    ["a wrong value of 4 MB", edits, { edits: { text: "x".repeat(4_000_000) } }],
    ["an argument that may stay, of 4 MB", echo, { text: "x".repeat(4_000_000), other: 1 }],
    ["keys of 10 KB at every depth", tree, nested(200, JSON.stringify({ ["n".repeat(10_000)]: 1, n: 1 }))],
    [
      "a choice of 20,000",
      { type: "object", properties: { a: { enum: list(15_000, (i) => `value-${i}`) } } },
      { a: "none" },
    ],
    [
      "a schema with 5,000 names",
      {
        type: "object",
        properties: Object.fromEntries(list(5000, (i) => [`property_${i}`, { type: "string" }])),
        additionalProperties: false,
      },
      Object.fromEntries(list(2000, (i) => [`propretty_${i}`, i])),
    ],
    [
      "60,000 entries that may not be twice",
      { type: "object", properties: { a: { type: "array", uniqueItems: true } } },
      { a: [...list(60_000, (i) => ({ id: i })), { id: 0 }] },
    ],
    [
      "20,000 wrong entries behind a reference",
      {
        type: "object",
        properties: { a: { type: "array", items: { $ref: "#/$defs/n" } } },
        $defs: { n: { type: "object", required: ["x", "y"], properties: { x: { type: "integer" } } } },
      },
      { a: list(20_000, () => ({ x: "no" })) },
    ],
    ["40,000 wrong entries in one of ten forms", many(10), { a: list(40_000, () => ({ kind: "none" })) }],
  ])("%s", async (_name, schema, args) => {
    const { result, ms } = await call(schema, args)
    expect(result.error?.code).toMatch(/INVALID_ARGUMENTS|TOO_MUCH_TO_CHECK/)
    expect(JSON.stringify(result).length).toBeLessThan(A_PAGE)
    expect(ms).toBeLessThan(SOON_MS)
  })

  function many(forms: number): JsonSchema {
    const form = (i: number) => ({ properties: { kind: { const: `form${i}` }, [`x${i}`]: {} }, required: [`x${i}`] })
    return { type: "object", properties: { a: { type: "array", items: { anyOf: list(forms, form) } } } }
  }

  test("says how many more there are", async () => {
    const { result } = await call(echo, Object.fromEntries(list(1000, (i) => [`key${i}`, i])))
    expect(result.error?.message).toMatch(/- key1: is not known here\. Known: text\.\n/)
    expect(result.error?.message.split("\n")).toHaveLength(22)
    expect(result.error?.message).toContain("and 981 more.")
    expect(result.error?.details).toMatchObject({ more: 981 })
  })

  test("and so does what was put right", async () => {
    const { result, ms } = await call(edits, {
      edits: list(20_000, (i) => ({ old_text: i, new_text: "y" })),
    })
    expect(result.success).toBe(true)
    expect(JSON.stringify(result).length).toBeLessThan(A_PAGE)
    expect(ms).toBeLessThan(SOON_MS)
  })
})

describe("no schema takes for ever", () => {
  const text = (pattern: string): JsonSchema => ({ type: "object", properties: { a: { type: "string", pattern } } })
  const keys = (pattern: string): JsonSchema => ({
    type: "object",
    patternProperties: { [pattern]: { type: "string" } },
  })
  const long = `${"a".repeat(100_000)}!`

  test.each<[string, JsonSchema, unknown]>([
    ["a nested quantifier", text("^(a+)+$"), { a: long }],
    ["alternatives that overlap", text("^(a|aa)+$"), { a: long }],
    ["two runs one after the other", text("^a*a*a*b$"), { a: long }],
    ["a pattern of keys", keys("^(a+)+$"), { [long]: 1 }],
    ["a look-ahead that nests", text("^(?=(a+)+$)(a+)+$"), { a: long }],
    ["a reference back", text("^(a+)+\\1$"), { a: long }],
    ["references that name each other", tree, nested(60, "1")],
    [
      "references that name the next one twice",
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/n0" } },
        $defs: {
          ...Object.fromEntries(
            list(40, (i) => [`n${i}`, { allOf: [{ $ref: `#/$defs/n${i + 1}` }, { $ref: `#/$defs/n${i + 1}` }] }]),
          ),
          n40: { type: "string" },
        },
      },
      { a: "x" },
    ],
    ["a million values", { type: "object", properties: { a: { enum: list(100_000, String) } } }, { a: "x" }],
  ])("%s, in what a server sent", async (_name, schema, args) => {
    const { ms } = await call(schema, args, { provenance: from })
    expect(ms).toBeLessThan(SOON_MS)
  })

  test("patterns mean what they say, and what the linear engine cannot read still holds for a tool of one's own", async () => {
    expect(await validate(text("^[a-z]+(-[a-z]+)*$"), { a: "well-known" })).toEqual([])
    expect(await validate(text("^[a-z]+(-[a-z]+)*$"), { a: "Well-known" })).toHaveLength(1)
    expect(await validate(text("^\\p{Lu}\\d{2}/é$"), { a: "Ä12/é" })).toEqual([])
    expect(await validate(text("^(?!secret)"), { a: "secret" })).toHaveLength(1)
    expect(await validate(text("^(?!secret)"), { a: "secret" }, { foreign: true })).toEqual([])
  })
})
