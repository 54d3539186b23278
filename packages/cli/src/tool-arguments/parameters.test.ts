import { defineTool, type JsonSchema } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { parametersOf } from "./parameters.ts"
import { readCall } from "./read.ts"

const tool = (input: JsonSchema) => defineTool({ name: "t", description: "T", parameters: input, execute: () => 0 })
const own = { args: { type: "string", description: "" }, json: { type: "boolean", description: "" } } as const
const stdin = (async function* () {})()
const read = async (input: JsonSchema, ...args: string[]) =>
  (await readCall(tool(input), args, own, { stdin, cwd: "/" })).args

const properties: Record<string, JsonSchema> = {
  text: { type: "string" },
  max_results: { type: "integer" },
  exact: { type: "boolean" },
  names: { type: "array", items: { type: "string" } },
  numbers: { type: "array", items: { type: "number" } },
  options: { type: "object" },
  mixed: { type: ["string", "null"] },
  either: { anyOf: [{ type: "string" }, { type: "object" }] },
  referred: { $ref: "#/$defs/size" },
  anything: {},
}
const schema: JsonSchema = { type: "object", properties, required: ["text"], $defs: { size: { type: "number" } } }

test("parameters have the kinds of their schemas", () => {
  expect(Object.fromEntries(parametersOf(tool(schema)).map(({ name, kind }) => [name, kind]))).toEqual({
    text: "string",
    max_results: "number",
    exact: "boolean",
    names: "array",
    numbers: "array",
    options: "object",
    mixed: "string",
    either: "any",
    referred: "number",
    anything: "any",
  })
})

test("the parameters of all actions are there together", () => {
  const actions: JsonSchema = {
    type: "object",
    properties: { action: { type: "string", enum: ["a", "b"] } },
    required: ["action"],
    oneOf: [
      { properties: { action: { const: "a" }, x: { type: "integer" }, v: { type: "string" } } },
      { properties: { action: { const: "b" }, v: { type: "integer" } } },
    ],
  }
  expect(parametersOf(tool(actions)).map(({ name, kind, required }) => [name, kind, required])).toEqual([
    ["action", "string", true],
    ["x", "number", false],
    ["v", "any", false],
  ])
})

describe("flags become arguments", () => {
  test.each<[string[], object]>([
    [["--text", "7"], { text: "7" }],
    [["--text=--max-results"], { text: "--max-results" }],
    [["--max-results", "-7"], { max_results: -7 }],
    [["--max-results", "7"], { max_results: 7 }],
    [["--max_results=7"], { max_results: 7 }],
    [["--max-results", "many"], { max_results: "many" }],
    [["--exact"], { exact: true }],
    [["--no-exact"], { exact: false }],
    [["--exact=false"], { exact: false }],
    [["--names", "a", "--names", "b"], { names: ["a", "b"] }],
    [["--names", '["a", "b"]'], { names: ["a", "b"] }],
    [["--numbers", "1", "--numbers", "2.5"], { numbers: [1, 2.5] }],
    [["--options", '{"a": {"b": 1}}'], { options: { a: { b: 1 } } }],
    [["--anything", "[1]"], { anything: [1] }],
    [["--anything", "plain"], { anything: "plain" }],
    [["--referred", "3"], { referred: 3 }],
    [["--args", '{"text": "a", "exact": true}', "--text=b"], { text: "b", exact: true }],
    [['{"text": "a"}'], { text: "a" }],
    [["--text="], { text: "" }],
    [["--text=a\nb"], { text: "a\nb" }],
  ])("%j", async (args, expected) => {
    expect(await read(schema, ...args)).toEqual(expected)
  })

  test("an own option goes before an argument of its name, which --args still reaches", async () => {
    const input: JsonSchema = { type: "object", properties: { json: { type: "string" } } }
    expect(await read(input, "--json", "--args", '{"json": "x"}')).toEqual({ json: "x" })
  })

  test("an unknown flag is answered with the nearest", async () => {
    await expect(read(schema, "--txt", "a")).rejects.toMatchObject({ code: "USAGE", hint: "Did you mean '--text'?" })
    await expect(read(schema, "--options", "{oops")).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("takes JSON"),
    })
  })
})
