import { describe, expect, test, vi } from "vitest"
import { defineTool, ToolRegistry, type ToolDefinition } from "../index.ts"

const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  ...defineTool({ name, description: name, parameters: { type: "object" }, execute: () => name }),
  ...more,
})

const search = defineTool({
  name: "search",
  description: "Searches",
  parameters: {
    type: "object",
    oneOf: [
      {
        properties: { action: { const: "grep" }, pattern: { type: "string" } },
        required: ["action", "pattern"],
        additionalProperties: false,
      },
      {
        properties: { action: { const: "find_files" }, glob: { type: "string" } },
        required: ["action", "glob"],
        additionalProperties: false,
      },
    ],
  },
  effects: { readOnly: true },
  actions: {
    argument: "action",
    list: [
      {
        action: "grep",
        description: "Finds text",
        examples: [{ description: "todo", input: { action: "grep", pattern: "TODO" } }],
      },
      { action: "find_files", description: "Finds files" },
    ],
  },
  execute: (args) => args,
})

describe("ToolRegistry", () => {
  test("lists by name, category, optionality and mode in the order of registration", () => {
    const registry = new ToolRegistry()
    registry.register(tool("b", { category: "code", optionality: "required" }))
    registry.register(tool("a", { category: "vcs", modes: ["build"] }))
    expect(registry.list().map(({ name }) => name)).toEqual(["b", "a"])
    expect(registry.get("a")?.category).toBe("vcs")
    expect(registry.get("c")).toBeUndefined()
    expect(registry.listByCategory("code")).toHaveLength(1)
    expect(registry.listByOptionality("required").map(({ name }) => name)).toEqual(["b"])
    expect(registry.listForMode("chat").map(({ name }) => name)).toEqual(["b"])
    expect(registry.listForMode("build")).toHaveLength(2)
  })

  test("refuses a duplicate and names both owners", () => {
    const registry = new ToolRegistry()
    registry.register(tool("a", { provenance: { kind: "mcp", name: "files" } }))
    expect(() => registry.register(tool("a"))).toThrow(/mcp source 'files'.*this process/)
  })

  test("refuses a tool without a name", () => {
    expect(() => new ToolRegistry().register(tool("a", { name: "" }))).toThrow(
      expect.objectContaining({ code: "INVALID_TOOL" }),
    )
  })

  test("a bundle reports the tools that are not registered", () => {
    const registry = new ToolRegistry()
    registry.register(tool("file", { sets: ["coding"] }))
    registry.register(tool("other"))
    expect(registry.applyBundle("coding").tools.map(({ name }) => name)).toEqual(["file"])
    registry.registerBundle({ name: "mine", description: "", tools: ["file", "absent"] })
    const { tools, missing } = registry.applyBundle("mine")
    expect(tools.map(({ name }) => name)).toEqual(["file"])
    expect(missing).toEqual(["absent"])
    expect(() => registry.applyBundle("codin")).toThrow(expect.objectContaining({ hint: "Did you mean coding?" }))
  })

  test("listeners hear of changes until they unsubscribe, and one that throws stops nobody", () => {
    const registry = new ToolRegistry()
    const heard: string[] = []
    registry.subscribe({
      onToolRegistered() {
        throw new Error("a fault of the listener")
      },
    })
    const end = registry.subscribe({
      onToolRegistered: ({ name }) => heard.push(`+${name}`),
      onToolUnregistered: ({ name }) => heard.push(`-${name}`),
    })
    registry.register(tool("a"))
    registry.unregister("a")
    end()
    registry.register(tool("b"))
    expect(heard).toEqual(["+a", "-a"])
  })

  test("a tool that was unregistered is no longer available, while its running call finishes", async () => {
    const registry = new ToolRegistry()
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    registry.register(
      defineTool({
        name: "slow",
        description: "",
        parameters: { type: "object" },
        execute: () => gate.then(() => "done"),
      }),
    )
    const running = registry.execute("slow", {})
    await vi.waitFor(() => expect(registry.unregister("slow")).toBe(true))
    const late = await registry.execute("slow", {})
    expect(late.error).toMatchObject({ code: "TOOL_WITHDRAWN", message: "The tool 'slow' is no longer available." })
    release()
    expect((await running).data).toBe("done")
  })
})

describe("views", () => {
  test("follow the registry, and each request may have its own", () => {
    const registry = new ToolRegistry()
    registry.register(search)
    registry.register(tool("write"))
    const reading = registry.view({ readOnly: true })
    const own = registry.view({ only: ["write"], add: [tool("mine")] })
    expect(reading.list().map(({ name }) => name)).toEqual(["search"])
    expect(own.list().map(({ name }) => name)).toEqual(["write", "mine"])
    registry.register(tool("look", { effects: { readOnly: true } }))
    expect(reading.list().map(({ name }) => name)).toEqual(["search", "look"])
    expect(reading.get("write")).toBeUndefined()
  })

  test("say of a tool that they do not offer that it is withheld, and why", async () => {
    const registry = new ToolRegistry()
    registry.register(search)
    registry.register(tool("write"))
    const { executeCall } = await import("../index.ts")
    const answer = async (view: ReturnType<ToolRegistry["view"]>, name: string) =>
      (await executeCall(view, { name, arguments: {} })).error
    expect(await answer(registry.view({ readOnly: true }), "write")).toMatchObject({
      code: "TOOL_WITHDRAWN",
      message:
        "The tool 'write' is not offered here, where nothing may be changed: it does not say that it only reads, as " +
        "'effects: { readOnly: true }' does.",
    })
    const destroying = new ToolRegistry()
    destroying.register(tool("delete", { effects: { destructive: true } }))
    expect(await answer(destroying.view({ readOnly: true }), "delete")).toMatchObject({
      message: "The tool 'delete' is not offered here, where nothing may be changed.",
    })
    expect(await answer(registry.view({ only: ["search"] }), "write")).toMatchObject({
      message: "The tool 'write' is not offered here.",
    })
    const unavailable = [{ name: "search", reason: "set SEARCH_KEY" }]
    const without = registry.view({ splitActions: true, unavailable })
    expect(without.list().map(({ name }) => name)).toEqual(["write"])
    for (const name of ["search", "search_grep"]) {
      expect(await answer(without, name)).toMatchObject({
        code: "TOOL_WITHDRAWN",
        message: `The tool '${name}' is not available here: set SEARCH_KEY.`,
      })
    }
    expect(await answer(registry.view({ splitActions: true, only: ["search_grep"] }), "search")).toMatchObject({
      code: "UNKNOWN_TOOL",
      hint: expect.stringContaining("search_grep"),
    })
  })

  test("name the tool that does what one does that they withhold, and first what is nearest to a name that is none", async () => {
    const registry = new ToolRegistry()
    registry.register(tool("edit_file", { ruledAs: ["save_text", "search_grep"] }))
    registry.register(tool("save_text", { ruledAs: ["edit_file"] }))
    registry.register(tool("move_file", { ruledAs: ["edit_file"] }))
    registry.register(search)
    const { executeCall } = await import("../index.ts")
    const answer = async (name: string) =>
      (await executeCall(registry.view({ without: ["edit_file"] }), { name, arguments: {} })).error
    expect(await answer("edit_file")).toMatchObject({
      code: "TOOL_WITHDRAWN",
      hint: 'Did you mean {"name":"save_text","arguments":{}}?',
    })
    expect((await answer("text_writer"))?.hint).toBe("Available tools: save_text, move_file, search.")
    expect((await answer("search_grep"))?.hint).toBe(
      'Did you mean {"name":"search","arguments":{"action":"grep","pattern":"TODO"}}?',
    )
  })

  test("a tool whose actions are all presented answers to its own name too", async () => {
    const registry = new ToolRegistry()
    registry.register(search)
    const view = registry.view({ splitActions: true })
    expect(view.get("search")).toBe(search)
    expect(registry.view({ splitActions: true, only: ["search_grep"] }).get("search")).toBeUndefined()
  })

  test("present each action as a tool of its own", async () => {
    const registry = new ToolRegistry()
    registry.register(search)
    const single = registry.view({ splitActions: true })
    expect(single.list().map(({ name }) => name)).toEqual(["search_grep", "search_find_files"])
    const grep = single.get("search_grep")!
    expect(grep.parameters).toEqual({
      type: "object",
      properties: { pattern: { type: "string" } },
      required: ["pattern"],
      additionalProperties: false,
    })
    expect(grep.examples).toEqual([{ description: "todo", input: { pattern: "TODO" } }])
    const separate = new ToolRegistry()
    separate.register(grep)
    expect((await separate.execute("search_grep", { pattern: "x" })).data).toEqual({ action: "grep", pattern: "x" })
  })

  test("a name list may name the whole tool or one of its actions", () => {
    const registry = new ToolRegistry()
    registry.register(search)
    registry.register(tool("write"))
    const names = (only: string[]) =>
      registry
        .view({ splitActions: true, only })
        .list()
        .map(({ name }) => name)
    expect(names(["search"])).toEqual(["search_grep", "search_find_files"])
    expect(names(["search_grep", "write"])).toEqual(["search_grep", "write"])
  })
})
