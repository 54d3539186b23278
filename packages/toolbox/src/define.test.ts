import { describe, expect, test } from "vitest"
import { z } from "zod"
import {
  defineTool,
  executeCall,
  serializeTool,
  success,
  ToolRegistry,
  type TextInput,
  wrapMinimalTool,
} from "./index.ts"

describe("defineTool", () => {
  test("converts a Zod schema once, keeps its order, and hands the handler parsed arguments", async () => {
    const forecast = defineTool({
      name: "get_forecast",
      description: "Weather forecast for a city",
      category: "research",
      parameters: z.object({ city: z.string(), days: z.int().min(1).max(7).default(1) }),
      outputSchema: z.object({ celsius: z.array(z.number()) }),
      execute: ({ city, days }) => ({ celsius: Array.from({ length: days }, () => city.length) }),
    })
    expect(Object.keys(forecast.parameters.properties ?? {})).toEqual(["city", "days"])
    expect(forecast.parameters.required).toEqual(["city"])
    expect(forecast.outputSchema).toMatchObject({ type: "object", required: ["celsius"] })
    const registry = new ToolRegistry()
    registry.register(forecast)
    const result = await registry.execute("get_forecast", { city: "Rome" })
    expect(result).toMatchObject({ success: true, data: { celsius: [4] } })
    expect(result.output).toContain("4")
  })

  test("reports what a Zod refinement finds as wrong arguments", async () => {
    const registry = new ToolRegistry()
    const input = z.object({ even: z.number().refine((n) => n % 2 === 0, "must be even") })
    registry.register(
      defineTool({ name: "halve", description: "Halves", parameters: input, execute: ({ even }) => even / 2 }),
    )
    const result = await registry.execute("halve", { even: 3 })
    expect(result.error).toMatchObject({ code: "INVALID_ARGUMENTS", message: "even: must be even" })
  })

  test.each([
    [{ name: "" }, "A tool needs a name."],
    [{ name: "1st" }, "must begin with a letter"],
    [
      { name: "a", category: "magic" as never },
      "Use one of: code, vcs, build, research, publish, orchestration, utility.",
    ],
    [{ name: "a", optionality: "maybe" as never }, "unknown optionality 'maybe'"],
    [{ name: "a", parameters: { type: "string" } }, "must be an object schema"],
    [{ name: "a", effects: { writs: ["path"] } as never }, "there is no effect 'writs'. Did you mean 'writes'?"],
    [{ name: "a", effects: { pure: true } as never }, "Effects are readOnly, destructive"],
    [{ name: "a", effects: { readOnly: "yes" } as never }, "'readOnly' is not understood. It is true or false."],
    [{ name: "a", effects: { writes: "path" } as never }, "a list of arguments that hold paths"],
    [{ name: "a", effects: "readOnly" as never }, "Write, for example, effects: { readOnly: true }."],
    [{ name: "a", readOnly: true } as never, "'readOnly' is one of its effects. Write effects: { readOnly: … }."],
    [
      { name: "a", needsApproval: true } as never,
      "no 'needsApproval'. Name the tool where it is used: permissions: { ask",
    ],
    [{ name: "a", timeOutMs: 5 } as never, "a tool here has no 'timeOutMs'. Did you mean 'timeoutMs'?"],
    [{ name: "a", handler: () => 1 } as never, "a tool here has no 'handler'. Write execute"],
    [{ name: "a", zzzzzz: 1 } as never, "a tool here has no 'zzzzzz'. It may have name, description"],
    [{ name: "a", description: undefined as never }, "it has no description. Say in a sentence what it does"],
    [
      { name: "a", parameters: undefined as never },
      'it has no parameters. One without arguments says parameters: { type: "',
    ],
    [{ name: "a", execute: undefined as never }, "it has no execute. Write execute: (args) => …"],
    [{ name: "a", inputSchema: {} } as never, "a tool here has no 'inputSchema'. Write parameters: …"],
  ])("refuses %o", (given, message) => {
    const build = () => defineTool({ description: "", parameters: { type: "object" }, execute: () => null, ...given })
    expect(build).toThrow(expect.objectContaining({ code: "INVALID_TOOL" }))
    try {
      build()
    } catch (error) {
      const { message: text, hint } = error as { message: string; hint?: string }
      expect(`${text} ${hint ?? ""}`).toContain(message)
    }
  })

  test("serialises every field but the handler", () => {
    const tool = defineTool({
      name: "a",
      description: "b",
      usageHint: "when",
      produces: ["x"],
      consumes: ["y"],
      examples: [{ description: "e", input: {} }],
      parameters: { type: "object" },
      execute: () => null,
    })
    expect(JSON.parse(JSON.stringify(serializeTool(tool)))).toEqual({
      name: "a",
      description: "b",
      category: "utility",
      optionality: "optional",
      schema: { type: "object" },
      usage_hint: "when",
      examples: [{ description: "e", input: {} }],
      produces: ["x"],
      consumes: ["y"],
    })
  })

  test("a minimal tool registers through its wrapper, with and without metadata", async () => {
    const registry = new ToolRegistry()
    const base = {
      description: () => "d",
      execute: (args: Record<string, unknown>) => success({ output: JSON.stringify(args) }),
    }
    registry.register(wrapMinimalTool({ ...base, name: () => "old" }))
    registry.register(
      wrapMinimalTool({
        ...base,
        name: () => "newer",
        metadata: () => ({ category: "vcs" as const, parameters: { type: "object", required: ["a"] } }),
      }),
    )
    expect((await registry.execute("old", { any: 1 })).output).toBe('{"any":1}')
    expect(registry.listByCategory("vcs").map(({ name }) => name)).toEqual(["newer"])
    expect((await registry.execute("newer", {})).success).toBe(false)
  })
})

describe("a tool of one text", () => {
  const input: TextInput = {
    syntax: "regex",
    definition: "[a-z]+",
    fault: (text) => (/^[a-z]+$/.test(text) ? undefined : "it leaves it at line 1, column 1."),
  }
  const shout = defineTool({ name: "shout", description: "Shouts", input, execute: (text) => text.toUpperCase() })
  const registry = new ToolRegistry()
  registry.register(shout)

  test("has one argument, whose description tells the grammar, and is given the text", async () => {
    expect(shout.parameters).toMatchObject({ required: ["input"], additionalProperties: false })
    expect(JSON.stringify(shout.parameters)).toContain("[a-z]+")
    for (const given of [{ input: "abc" }, "abc", '{"input":"abc"}'])
      expect(await executeCall(registry, { name: "shout", arguments: given })).toMatchObject({
        success: true,
        data: "ABC",
      })
  })

  test("a text outside its grammar is a failure that says where, and does not run", async () => {
    const result = await executeCall(registry, { name: "shout", arguments: { input: "{}" } })
    expect(result).toMatchObject({ success: false, error: { code: "INVALID_ARGUMENTS" } })
    expect(result.output).toContain("it leaves it at line 1, column 1.")
    expect(result.output).toContain("[a-z]+")
  })

  test("an input that is no grammar, or one beside parameters, is no tool", () => {
    const given = { name: "x", description: "", execute: () => 1 }
    expect(() => defineTool({ ...given, input: "start: x" as never })).toThrow(/its input is no grammar/)
    expect(() => defineTool({ ...given, input, parameters: {} as never })).toThrow(/both parameters and an input/)
  })
})

test("a schema of what JSON has not is told as one, with what to write", () => {
  const define = () =>
    defineTool({ name: "book", description: "", parameters: z.object({ day: z.date() }), execute: () => "" })
  expect(define).toThrow(
    expect.objectContaining({
      code: "INVALID_TOOL",
      message: expect.stringContaining("schema is none of JSON: Date"),
      hint: expect.stringContaining("z.iso.datetime()"),
    }),
  )
})
