import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import {
  defineTool,
  failure,
  success,
  isOf,
  type FromSchema,
  type JsonObject,
  type JsonSchema,
  type LiteralSchema,
  type OutputSummary,
  type RunEvent,
  type RunEventOf,
  type ToolDefinition,
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
    expectTypeOf<() => ToolSuccess<{ n: number }> | ToolFailure>().toExtend<Execute>()
    expectTypeOf<() => ToolSuccess<{ n: string }>>().not.toExtend<Execute>()
    const untold = (): ToolResult => success({ data: { n: 1 } })
    defineTool({ name: "untold", description: "", parameters: { type: "object" }, outputSchema, execute: untold })
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

describe("the events of a run", () => {
  const forecast = defineTool({
    name: "forecast",
    description: "",
    parameters: z.object({ city: z.string(), days: z.int().default(1) }),
    outputSchema: z.object({ celsius: z.number() }),
    execute: ({ days }) => ({ celsius: days }),
  })
  const roll = defineTool({
    name: "roll",
    description: "",
    parameters: { type: "object", properties: { sides: { type: "integer" } }, required: ["sides"] },
    execute: async ({ sides }) => (sides < 1 ? failure({ code: "NOT_FOUND", message: "" }) : { rolled: sides }),
  })
  type Event = RunEventOf<typeof forecast | typeof roll>

  test("have a tool's own arguments and data, by its name", () => {
    type End<Name> = Extract<Event, { type: "tool-end"; name: Name }>["result"]
    expectTypeOf<End<"forecast">>().toEqualTypeOf<ToolResult<{ celsius: number }>>()
    expectTypeOf<End<"roll">>().toEqualTypeOf<ToolResult<{ rolled: number }>>()
    const look = (event: Event): void => {
      if (event.type === "tool-end" && event.name === "forecast" && event.result.success)
        expectTypeOf(event.result.data).toEqualTypeOf<{ celsius: number }>()
      if (event.type === "tool-start" && event.name === "forecast" && event.refused !== true)
        expectTypeOf(event.arguments).toEqualTypeOf<{ city: string; days?: number | undefined }>()
      if (event.type === "tool-end" && event.name === "made_up")
        expectTypeOf(event.result.success).toEqualTypeOf<false>()
    }
    expectTypeOf(look).toBeFunction()
    expectTypeOf<Event>().toExtend<RunEvent>()
  })

  test("are those of any tool where nobody knows which there are", () => {
    expectTypeOf<Extract<RunEventOf<ToolDefinition>, { type: "tool-end" }>>().toEqualTypeOf<
      Extract<RunEvent, { type: "tool-end" }>
    >()
  })

  test("are told apart by the tool where there are others", () => {
    const event = { type: "tool-end", callId: "1", name: "roll", result: success({ data: { rolled: 1 } }) } as RunEvent
    expect([isOf(event, roll), isOf(event, forecast), isOf({ type: "round-end", round: 1 }, roll)]).toEqual([
      true,
      false,
      false,
    ])
    if (isOf(event, roll) && event.type === "tool-end" && event.result.success)
      expectTypeOf(event.result.data).toEqualTypeOf<{ rolled: number }>()
  })

  test("a run in a form has its value where it succeeds", () => {
    const summary = { success: true, output: { city: "Bern" } } as OutputSummary<{ city: string }>
    if (summary.success) expectTypeOf(summary.output).toEqualTypeOf<{ city: string }>()
    else expectTypeOf(summary.output).toEqualTypeOf<{ city: string } | undefined>()
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
