import { describe, expect, it } from "vitest"
import { defineTool } from "../define.ts"
import { splitActions } from "../registry/split-actions.ts"
import { validate } from "../validate/compile.ts"
import { GROUNDED, hideGrounded } from "./grounded.ts"
import type { JsonSchema } from "./schema.ts"

const PATH: JsonSchema = { type: "string", grounded: "path" }
const tool = defineTool({
  name: "open",
  description: "",
  parameters: {
    type: "object",
    properties: {
      path: PATH,
      more: { type: "array", items: { type: "integer", grounded: { kind: "number", also: ["1"] } } },
      grounded: { type: "boolean" },
      any: { anyOf: [PATH, { type: "null" }] },
      named: { $ref: "#/$defs/named" },
    },
    required: ["path"],
    additionalProperties: false,
    $defs: { named: { type: "object", patternProperties: { "^a": PATH } } },
  },
  execute: () => "",
})

/** The annotation on the schema at a path. */
const at = (schema: JsonSchema, ...path: (string | number)[]): unknown =>
  (path.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], schema) as { [GROUNDED]?: unknown })[
    GROUNDED
  ]

describe("the annotation grounded in a tool's definition", () => {
  it("is kept where it stood, under the symbol", () => {
    const { parameters: schema } = tool
    expect([
      at(schema, "properties", "path"),
      at(schema, "properties", "any", "anyOf", 0),
      at(schema, "$defs", "named", "patternProperties", "^a"),
      at(schema, "properties", "grounded"),
    ]).toEqual(["path", "path", "path", undefined])
    expect(at(schema, "properties", "more", "items")).toEqual({ kind: "number", also: ["1"] })
  })

  it("is in no text, no copy and no list of keywords", () => {
    for (const seen of [
      JSON.stringify(tool.parameters),
      JSON.stringify(structuredClone(tool.parameters)),
      Object.keys(tool.parameters.properties!["path"]!).join(),
    ])
      expect(seen).not.toMatch(/kind|path",|"grounded":"|type,grounded/)
    expect(tool.parameters.properties).toHaveProperty("grounded", { type: "boolean" })
  })

  it("asserts nothing", async () => {
    expect(await validate(tool.parameters, { path: "anything", more: [7], grounded: true })).toEqual([])
    expect(await validate({ type: "object", properties: { path: PATH } }, { path: "anything" })).toEqual([])
    expect(await validate(tool.parameters, { path: 7 })).toHaveLength(1)
  })

  it("stays with each action of a tool", () => {
    const [read] = splitActions(
      defineTool({
        name: "file",
        description: "",
        parameters: {
          type: "object",
          oneOf: [
            { properties: { action: { const: "read" }, path: PATH }, required: ["action", "path"] },
            { properties: { action: { const: "list" } }, required: ["action"] },
          ],
        },
        actions: {
          argument: "action",
          list: [
            { action: "read", description: "" },
            { action: "list", description: "" },
          ],
        },
        execute: () => "",
      }),
    )
    expect([read!.name, at(read!.parameters, "properties", "path")]).toEqual(["file_read", "path"])
  })

  it("is refused where it is malformed, with what it may be", () => {
    for (const grounded of ["somewhere", { kind: "path", also: "." }, { also: [] }, null]) {
      expect(() =>
        defineTool({
          name: "x",
          description: "",
          parameters: { type: "object", properties: { a: { type: "string", grounded } } },
          execute: () => "",
        }),
      ).toThrow(expect.objectContaining({ code: "INVALID_TOOL", hint: expect.stringContaining('"span"') }))
    }
  })

  it("costs nothing where there is none", () => {
    const plain: JsonSchema = {
      type: "object",
      properties: { a: { items: [{ type: "string" }] as never } },
      allOf: [true as never],
    }
    expect(hideGrounded(plain)).toBe(plain)
  })
})
