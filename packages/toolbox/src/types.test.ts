import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import {
  defineTool,
  failure,
  success,
  type FromSchema,
  type JsonObject,
  type JsonSchema,
  type LiteralSchema,
  type ToolFailure,
  type ToolResult,
  type ToolSuccess,
  type TypedSpecification,
} from "./index.ts"

describe("the types of a tool", () => {
  test("come from a JSON Schema that stands in the program, and its data are checked", async () => {
    const tool = defineTool({
      name: "forecast",
      description: "",
      parameters: {
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer" },
          unit: { enum: ["c", "f"] },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["city", "tags"],
      },
      outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; tags: string[]; days?: number; unit?: "c" | "f" }>()
        return { celsius: args.days ?? 1 }
      },
    })
    const result = await tool.handler({ city: "Bern", tags: [] }, undefined as never)
    expect(result).toMatchObject({ success: true, data: { celsius: 1 } })
  })

  test("come from zod", () => {
    defineTool({
      name: "forecast",
      description: "",
      parameters: z.object({ city: z.string(), days: z.int().default(1) }),
      outputSchema: z.object({ celsius: z.number() }),
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
        return { celsius: args.days }
      },
    })
  })

  test("refuse data that the tool did not promise", () => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const
    type Execute = TypedSpecification<LiteralSchema, typeof outputSchema>["execute"]
    expectTypeOf<() => { n: number }>().toExtend<Execute>()
    expectTypeOf<() => Promise<{ n: number }>>().toExtend<Execute>()
    expectTypeOf<() => { n: string }>().not.toExtend<Execute>()
    const zod = z.object({ n: z.number() })
    expectTypeOf<() => { n: string }>().not.toExtend<TypedSpecification<LiteralSchema, typeof zod>["execute"]>()
    defineTool({
      name: "c",
      description: "",
      parameters: { type: "object" },
      outputSchema,
      execute: () => success({ data: { n: 1 } }),
    })
    const lost = () => failure({ code: "NOT_FOUND", message: "" })
    defineTool({ name: "d", description: "", parameters: { type: "object" }, outputSchema, execute: lost })
  })

  test("are any object where the schema is known only when it runs", () => {
    const parameters: JsonSchema = { type: "object" }
    defineTool({
      name: "a",
      description: "",
      parameters,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    })
  })

  test("read what a schema says", () => {
    expectTypeOf<FromSchema<{ type: ["string", "null"] }>>().toEqualTypeOf<string | null>()
    expectTypeOf<FromSchema<{ const: 1 }>>().toEqualTypeOf<1>()
    expectTypeOf<FromSchema<{ anyOf: [{ type: "string" }, { type: "boolean" }] }>>().toEqualTypeOf<string | boolean>()
  })
})

test("a result is told apart by its success", () => {
  const result = success({ data: { n: 1 } }) as ToolResult<{ n: number }>
  if (result.success) expectTypeOf(result.data).toEqualTypeOf<{ n: number }>()
  else expectTypeOf(result.error.code).toEqualTypeOf<string>()
  expectTypeOf<Extract<ToolResult, { success: true }>>().toEqualTypeOf<ToolSuccess>()
  expectTypeOf<Extract<ToolResult, { success: false }>>().toEqualTypeOf<ToolFailure>()
  expectTypeOf<Omit<ToolFailure, "error">>().not.toExtend<ToolResult>()
})
