import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineTool, executeCall, ToolRegistry, validate } from "@toolwright/toolbox"
import { formatterById, getFormatter } from "@toolwright/toolformat"
import type { LlamaBackend } from "../llama/backend.ts"
import type { LlamaEngine } from "../llama/engine.ts"
import { collectEvents, joined } from "../testing/collect-events.ts"
import { pocketGrounding } from "./grounding.ts"
import { openPocket, pocketBackend } from "./open.ts"
import { absentPocketTools, POCKET_TOOLS, pocketTools } from "./tools.ts"

describe("pocketTools", () => {
  const text = { type: "string" } as const
  const search = defineTool({
    name: "search",
    description: "Searches",
    parameters: {
      type: "object",
      oneOf: [
        {
          properties: {
            action: { const: "grep" },
            include: text,
            pattern: { ...text, minLength: 1 },
            fixed: { type: "boolean" },
          },
          required: ["action", "pattern"],
          additionalProperties: false,
        },
        { properties: { action: { const: "count" } }, required: ["action"], additionalProperties: false },
      ],
    },
    actions: {
      argument: "action",
      list: [
        { action: "grep", description: "Finds lines" },
        { action: "count", description: "Counts" },
      ],
    },
    execute: (args) => JSON.stringify(args),
  })
  const other = defineTool({
    name: "other",
    description: "Not known to it",
    parameters: { type: "object" },
    execute: () => "",
  })
  const echo = defineTool({
    name: "echo",
    description: "",
    parameters: { type: "object", properties: { message: text, loud: text }, required: ["message", "loud"] },
    execute: () => "",
  })

  it("are single actions in the model's order, with its arguments alone, in its order", async () => {
    const tools = pocketTools([echo, other, search])
    expect(tools.map(({ name }) => name)).toEqual(["search_grep", "echo"])
    expect(tools[0]!.parameters).toEqual({
      type: "object",
      properties: { pattern: { ...text, minLength: 1 }, path: text, include: text },
      required: ["pattern"],
      additionalProperties: false,
    })
    expect(Object.keys(tools[0]!.parameters.properties!)).toEqual(["pattern", "path", "include"])
    expect(tools[1]!.parameters.required).toEqual(["message"])
    const registry = new ToolRegistry()
    registry.register(tools[0]!)
    expect((await executeCall(registry, { name: "search_grep", arguments: { pattern: "x" } })).data).toBe(
      '{"action":"grep","pattern":"x"}',
    )
  })

  it("are stood in for by tools that say that they are not there", async () => {
    const [tool] = absentPocketTools(["delete_file"])
    expect(await validate(tool!.parameters, { path: "a" })).toEqual([])
    const registry = new ToolRegistry()
    registry.register(tool!)
    expect((await executeCall(registry, { name: "delete_file", arguments: { path: "a" } })).error?.code).toBe(
      "TOOL_NOT_AVAILABLE",
    )
    expect(absentPocketTools(POCKET_TOOLS)).toHaveLength(20)
  })
})

describe("pocketGrounding", () => {
  it("has rules for known tools and arguments alone", () => {
    const stands = new Map(
      absentPocketTools(POCKET_TOOLS).map(({ name, parameters: schema }) => [name, Object.keys(schema.properties!)]),
    )
    for (const [tool, rules] of Object.entries(pocketGrounding("")))
      expect(stands.get(tool)).toEqual(expect.arrayContaining(Object.keys(rules)))
  })

  it("allows the patterns of languages that are named", () => {
    const globs = (text: string) => pocketGrounding(text).search_files!.pattern
    expect(globs("find all Python and markdown files")).toEqual({ kind: "span", also: ["*.py", "*.md"] })
    expect(globs("find what goes wrong in the typescripts")).toEqual({ kind: "span", also: [] })
    expect(pocketGrounding("list javascript files").search_grep!.include).toEqual({ kind: "span", also: ["*.js"] })
  })
})

it("has calls in the form of Hermes", () => {
  expect(getFormatter("toolwright-pocket").id).toBe("hermes")
})

describe("openPocket", () => {
  let backend: LlamaBackend
  beforeAll(async () => {
    backend = await openPocket({ root: "/home/me/app" })
  })
  afterAll(() => backend.close!())
  const reply = async (content: string) =>
    joined(await collectEvents(backend.infer({ messages: [{ role: "user", content }] })))

  it("turns a request into a call, the same every time", async () => {
    expect([backend.modelName(), backend.engine.contextSize]).toEqual(["toolwright-pocket", 512])
    const texts = [
      await reply("show me the first 5 lines of README.md"),
      await reply("show me the first 5 lines of README.md"),
    ]
    expect(texts[0]).toBe(texts[1])
    const { calls } = formatterById("hermes").parse(texts[0]!, { tools: absentPocketTools(POCKET_TOOLS) })
    expect(calls.map(({ name, arguments: args }) => ({ name, arguments: args }))).toEqual([
      { name: "read_text_file", arguments: { path: "README.md", head: 5 } },
    ])
  })

  it("answers a request that is too long, without reading it", async () => {
    expect(await reply("list the files in src ".repeat(100))).toContain("more than I can read")
    expect(await reply("x".repeat(2_000_000))).toContain("more than I can read")
  })

  it("stays within its window with results of any size", async () => {
    const call = {
      role: "assistant",
      content: '<tool_call>\n{"name": "read_text_file", "arguments": {"path": "a.txt"}}\n</tool_call>',
    } as const
    for (const text of ["word ".repeat(50_000), "Ü€😀".repeat(2000), "1\n".repeat(5000), ""]) {
      const events = await collectEvents(
        backend.infer({
          messages: [
            { role: "user", content: "read a.txt" },
            call,
            { role: "user", content: `<tool_response>\n${text}\n</tool_response>` },
          ],
        }),
      )
      expect(events.at(-1)).toMatchObject({ type: "end" })
    }
  })

  it.each([
    ["words that go in circles end as an answer", "https:/(", "stop", 304],
    ["a call that is cut off stays one", '<tool_call>\n{"name": "', "length", 2200],
  ])("%s", async (_, begin, finishReason, length) => {
    const engine = {
      contextSize: 512,
      tokenize: () => [1],
      async *generate() {
        yield begin
        for (let index = 0; index < 200 - begin.length / 11; index++) yield "https:/(   "
        return { finishReason: "length", inputTokens: 1, outputTokens: 200 }
      },
    } as unknown as LlamaEngine
    const events = await collectEvents(pocketBackend(engine).infer({ messages: [{ role: "user", content: "x" }] }))
    expect(events.at(-1)).toMatchObject({ type: "end", finishReason })
    expect(Math.abs(joined(events).length - length)).toBeLessThan(20)
  })

  it("says what is missing", async () => {
    await expect(openPocket({ modelPath: "/nowhere/pocket.gguf" })).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" })
  })
})
