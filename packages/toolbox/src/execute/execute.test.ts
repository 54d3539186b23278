import { describe, expect, test, vi } from "vitest"
import { defineTool, executeCall, success, ToolRegistry, type ToolDefinition, type ToolEvent } from "../index.ts"

function registryWith(...tools: ToolDefinition[]): ToolRegistry {
  const registry = new ToolRegistry()
  for (const tool of tools) registry.register(tool)
  return registry
}

const object = { type: "object" } as const
const define = (run: (args: Record<string, unknown>, context: { signal: AbortSignal }) => unknown, more: object = {}) =>
  defineTool({ name: "tool", description: "", parameters: object, execute: run, ...more })

describe("a handler cannot break its caller", () => {
  test.each([
    ["throws", () => Promise.reject(new TypeError("boom")), "TOOL_CRASHED", /boom/],
    [
      "throws at once",
      () => {
        throw new RangeError("bang")
      },
      "TOOL_CRASHED",
      /bang/,
    ],
    [
      "throws no error",
      () => {
        throw "words"
      },
      "TOOL_CRASHED",
      /words/,
    ],
  ])("that %s", async (_name, run, code, message) => {
    const result = await registryWith(define(run)).execute("tool", {})
    expect(result).toMatchObject({ success: false, error: { code } })
    expect(result.error?.message).toMatch(message)
    expect(result.executionTimeMs).toBeGreaterThan(0)
  })

  test.each([[undefined], [null], [42], [{ success: "yes" }], [[]]])("that returns garbage (%o)", async (garbage) => {
    const raw = { ...define(() => null), handler: () => garbage } as unknown as ToolDefinition
    expect((await registryWith(raw).execute("tool", {})).error?.code).toBe("INVALID_RESULT")
  })

  const throws = () => {
    throw new Error("read")
  }
  test.each([
    ["returns a result that throws when it is read", () => Object.defineProperty({}, "success", { get: throws })],
    [
      "returns a proxy that throws later",
      () => {
        let reads = 0
        const result = { success: true, output: "", modifiedFiles: [], metadata: {} }
        return new Proxy(result, {
          get: (target, key) => (key !== "then" && reads++ > 3 ? throws() : Reflect.get(target, key)),
        })
      },
    ],
    [
      "throws what has no text",
      () => {
        throw Object.create(null)
      },
    ],
    [
      "throws what throws when it is read",
      () => {
        throw Object.defineProperties(new Error("x"), { stack: { get: throws }, message: { get: throws } })
      },
    ],
  ])("that %s", async (_name, handler) => {
    const raw = {
      ...define(() => null, { timeoutMs: 1000 }),
      handler: async () => handler(),
    } as unknown as ToolDefinition
    expect((await registryWith(raw).execute("tool", {})).error?.code).toBe("TOOL_CRASHED")
  })

  test.each([[1e12], [Infinity], [NaN]])("and a time limit of %o is a long one, not none", async (timeoutMs) => {
    const slow = define(() => new Promise((resolve) => setTimeout(resolve, 20, "done")), { timeoutMs })
    expect((await registryWith(slow).execute("tool", {})).data).toBe("done")
  })

  test("and what it did is its result, whatever its output schema is worth", async () => {
    const remote = define(() => ({ a: 1n }), {
      outputSchema: { type: "object", properties: { a: { $ref: "https://example.org/a.json" } } },
    })
    const result = await registryWith(remote).execute("tool", {})
    expect(result).toMatchObject({
      success: true,
      metadata: { outputProblems: [{ message: expect.stringContaining("example.org") as string }] },
    })
  })

  test("nor can one that listens to its events", async () => {
    const result = await registryWith(define(() => "done")).execute("tool", {}, { onEvent: throws })
    expect(result.data).toBe("done")
  })

  test("nor can arguments that are nested too deeply to be walked", async () => {
    const recursive = {
      type: "object",
      properties: { n: { $ref: "#/$defs/n" } },
      $defs: { n: { type: "object", properties: { n: { $ref: "#/$defs/n" } } } },
    }
    const tool = defineTool({ name: "tool", description: "", parameters: recursive, execute: () => "ran" })
    const args = `${'{"n":'.repeat(50_000)}{}${"}".repeat(50_000)}`
    expect((await registryWith(tool).execute("tool", args)).error?.code).toBe("INVALID_ARGUMENTS")
  })

  test("that never returns and ignores its signal", async () => {
    const hanging = define(() => new Promise(() => {}), { timeoutMs: 20 })
    const result = await registryWith(hanging).execute("tool", {})
    expect(result.error).toMatchObject({ code: "TIMEOUT", retryable: true })
  })

  test("that fails after its time is over", async () => {
    const unhandled = vi.fn()
    process.on("unhandledRejection", unhandled)
    const late = define(
      (_args, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("late")))),
      { timeoutMs: 10 },
    )
    expect((await registryWith(late).execute("tool", {})).error?.code).toBe("TIMEOUT")
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  test("data that cannot be written as JSON still has a text", async () => {
    const loop: { self?: unknown } = {}
    loop.self = loop
    const result = await registryWith(define(() => loop)).execute("tool", {})
    expect(result).toMatchObject({ success: true, output: "[object Object]" })
  })
})

describe("cancellation", () => {
  test.each([
    [
      "a question that nobody answers",
      { permissions: { otherwise: "ask", approve: () => new Promise<boolean>(() => {}) } },
    ],
    ["middleware that never returns", { middleware: [() => new Promise<never>(() => {})] }],
  ] as const)("ends %s", async (_name, options) => {
    const controller = new AbortController()
    const running = registryWith(define(() => "done")).execute("tool", {}, { ...options, signal: controller.signal })
    controller.abort()
    expect((await running).error?.code).toBe("CANCELLED")
  })

  test("reaches the handler and ends the call at once", async () => {
    const controller = new AbortController()
    let seen: AbortSignal | undefined
    const tool = define((_args, { signal }) => {
      seen = signal
      return new Promise(() => {})
    })
    const running = registryWith(tool).execute("tool", {}, { signal: controller.signal })
    await vi.waitFor(() => expect(seen).toBeDefined())
    controller.abort()
    expect((await running).error?.code).toBe("CANCELLED")
    expect(seen?.aborted).toBe(true)
  })

  test("before the start keeps the handler from running", async () => {
    const run = vi.fn()
    const result = await registryWith(define(run)).execute("tool", {}, { signal: AbortSignal.abort() })
    expect(result.error?.code).toBe("CANCELLED")
    expect(run).not.toHaveBeenCalled()
  })
})

const search = defineTool({
  name: "search",
  description: "Searches",
  parameters: {
    type: "object",
    oneOf: [
      {
        properties: {
          action: { const: "grep" },
          pattern: { type: "string" },
          path: { type: "string" },
          limit: { type: "integer" },
        },
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
  aliases: { names: ["search_tool"], arguments: { query: "pattern" } },
  actions: {
    argument: "action",
    list: [
      { action: "grep", description: "" },
      { action: "find_files", description: "" },
    ],
  },
  execute: (args) => args,
})

describe("a wrong call is answered with the right one", () => {
  const answer = async (name: string, args: unknown) => (await registryWith(search).execute(name, args)).output

  test("an action taken for a tool", async () => {
    expect(await answer("grep", { pattern: "x" })).toBe(
      `There is no tool 'grep'.\n'grep' is an action of 'search'. Did you mean ` +
        `{"name":"search","arguments":{"action":"grep","pattern":"x"}}?`,
    )
    expect(await answer("grep", { query: "*.py", limit: "many" })).toContain(
      '{"name":"search","arguments":{"action":"grep","pattern":"*.py"}}?',
    )
    expect(await answer("grep", [])).toContain('{"action":"grep","pattern":"<pattern>"}')
  })

  test("a tool that may be one of a service that is away", async () => {
    const unavailable = [{ name: "shop", reason: "it does not answer" }]
    const registry = registryWith(search)
    const seen = registry.view({ unavailable })
    const { output } = await executeCall(seen, { name: "shop_order", arguments: {} })
    expect(output).toContain("There is no tool 'shop_order'.\nIt may be a tool of what is away now: shop (it does not")
    const provenance = { kind: "rest", name: "shop" } as const
    registry.register({ ...search, name: "shop_list", provenance })
    const { output: later } = await executeCall(seen, { name: "shop_order", arguments: {} })
    expect(later, "its tools have come").not.toContain("away")
  })

  test("a misspelt tool", async () => {
    expect(await answer("serach", {})).toContain('Did you mean {"name":"search"')
    expect(await answer("serach", { action: "find_files", glob: "*.py" })).toContain(
      'Did you mean {"name":"search","arguments":{"action":"find_files","glob":"*.py"}}?',
    )
  })

  test("a missing action, and one under another name", async () => {
    expect(await answer("search", { pattern: "x" })).toContain(
      'action: is missing; it says what to do, one of "grep", "find_files".',
    )
    expect(await answer("search", { type: "grep", pattern: "x" })).toContain("You gave it as 'type'; call it 'action'.")
    expect(await answer("search", { pattern: "x" })).toContain(
      'A correct call: {"name":"search","arguments":{"action":"grep","pattern":"x"}}',
    )
  })

  test("every wrong argument at once, each with its path, in the chosen action's terms", async () => {
    const text = await answer("search", { action: "grep", pattren: "x", limit: "many" })
    expect(text).toContain("- pattern: is required and missing.")
    expect(text).toContain("- pattren: is not known here. Did you mean 'pattern'?")
    expect(text).toContain('- limit: must be an integer, but the string "many" came.')
    expect(text).not.toContain("glob")
  })

  test("arguments that are no object", async () => {
    expect(await answer("search", [1])).toContain("the arguments must be one JSON object")
    expect(await answer("search", "{broken")).toContain("the arguments must be one JSON object")
  })
})

describe("repairs", () => {
  const repaired = async (name: string, args: unknown) => {
    const { data, metadata } = await registryWith(search).execute(name, args)
    return { data, kinds: ((metadata.repairs ?? []) as { kind: string }[]).map(({ kind }) => kind) }
  }

  test("aliases of the tool and of an argument, recorded", async () => {
    expect(await repaired("search_tool", { action: "grep", query: "x" })).toEqual({
      data: { action: "grep", pattern: "x" },
      kinds: ["tool-alias", "argument-alias"],
    })
  })

  test("a number in a string, null for an absent argument, arguments as JSON text", async () => {
    expect(await repaired("search", { action: "grep", pattern: "x", limit: "5" })).toEqual({
      data: { action: "grep", pattern: "x", limit: 5 },
      kinds: ["coerced-type"],
    })
    expect(await repaired("search", { action: "grep", pattern: "x", path: null })).toEqual({
      data: { action: "grep", pattern: "x" },
      kinds: ["dropped-null"],
    })
    expect((await repaired("search", '{"action":"grep","pattern":"x"}')).kinds).toEqual(["parsed-json"])
  })

  test("aliases of fields in a list", async () => {
    const edit = defineTool({
      name: "edit",
      description: "",
      aliases: { arguments: { "edits[].oldText": "old_text" } },
      parameters: {
        type: "object",
        properties: {
          edits: {
            type: "array",
            items: {
              type: "object",
              properties: { old_text: { type: "string" } },
              required: ["old_text"],
              additionalProperties: false,
            },
          },
        },
      },
      execute: (args) => args,
    })
    const { data, metadata } = await registryWith(edit).execute("edit", {
      edits: [{ oldText: "a" }, { old_text: "b" }],
    })
    expect(data).toEqual({ edits: [{ old_text: "a" }, { old_text: "b" }] })
    expect(metadata.repairs).toEqual([
      { path: "edits.0.old_text", kind: "argument-alias", from: "oldText", to: "old_text" },
    ])
  })

  test("a right call is passed on untouched", async () => {
    const args = { action: "grep", pattern: "12" }
    expect(await repaired("search", args)).toEqual({ data: args, kinds: [] })
  })
})

describe("permissions", () => {
  const write = define(() => "written", { name: "write", effects: { writes: ["path", "edits[].path"] } })

  test("the last matching rule decides; asking without anybody there denies", async () => {
    const registry = registryWith(write)
    const run = async (permissions: object) => (await registry.execute("write", {}, { permissions })).success
    expect(
      await run({
        rules: [
          { tool: "*", permission: "deny" },
          { tool: "wr?te", permission: "allow" },
        ],
      }),
    ).toBe(true)
    expect(await run({ otherwise: "deny" })).toBe(false)
    expect(await run({ otherwise: "ask" })).toBe(false)
    expect(await run({ otherwise: "ask", approve: async () => true })).toBe(true)
  })

  test("of a tool with actions a rule may name the tool or one action, in whichever form it is offered", async () => {
    const branch = (action: string) =>
      ({
        type: "object",
        properties: { action: { const: action } },
        required: ["action"],
        additionalProperties: false,
      }) as const
    const git = define(() => "done", {
      name: "git",
      parameters: { type: "object", oneOf: [branch("status"), branch("commit")] },
      actions: {
        argument: "action",
        list: [
          { action: "status", description: "" },
          { action: "commit", description: "", name: "git_save" },
        ],
      },
    })
    const whole = registryWith(git)
    const single = whole.view({ splitActions: true })
    const runs = async (denied: string) => {
      const options = { permissions: { rules: [{ tool: denied, permission: "deny" as const }] } }
      const results = [
        await whole.execute("git", { action: "status" }, options),
        await whole.execute("git", { action: "commit" }, options),
        await executeCall(single, { name: "git_status", arguments: {} }, options),
        await executeCall(single, { name: "git_save", arguments: {} }, options),
      ]
      return results.map(({ error }) => error?.code ?? "ran")
    }
    const no = "PERMISSION_DENIED"
    expect(await runs("git")).toEqual([no, no, no, no])
    expect(await runs("git_save")).toEqual(["ran", no, "ran", no])
    expect(await runs("git_status")).toEqual([no, "ran", no, "ran"])
    expect(await runs("gi")).toEqual(["ran", "ran", "ran", "ran"])
  })

  test("denied paths win over everything, wherever the call names them", async () => {
    const permissions = { rules: [{ tool: "*", permission: "allow" as const }], denyPaths: [".env", "*.key"] }
    const code = async (args: object) => (await registryWith(write).execute("write", args, { permissions })).error?.code
    expect(await code({ path: "src/.env" })).toBe("PERMISSION_DENIED")
    expect(await code({ edits: [{ path: "a.ts" }, { path: "id.key" }] })).toBe("PERMISSION_DENIED")
    for (const path of ["src/.ENV", ".Env.", "ID.Key", "Sub/id.KEY "])
      expect([path, await code({ path })]).toEqual([path, "PERMISSION_DENIED"])
    expect(await code({ path: "src/a.ts" })).toBeUndefined()
  })

  test("denied places are denied in every spelling", async () => {
    const permissions = { denyPaths: ["private/*"] }
    const code = async (path: string) =>
      (await registryWith(write).execute("write", { path }, { permissions })).error?.code
    for (const path of ["private/x", "./private/x", "a/../private/x", "private//x", "private/./y/z", "private\\x"])
      expect([path, await code(path)]).toEqual([path, "PERMISSION_DENIED"])
    for (const path of ["private", "privates/x", "private/../x"])
      expect([path, await code(path)]).toEqual([path, undefined])
  })
})

test("events come in order, with the arguments that ran", async () => {
  const events: ToolEvent[] = []
  const tool = defineTool({
    name: "count",
    description: "",
    parameters: { type: "object", properties: { n: { type: "integer" } } },
    execute: ({ n }, { progress }) => {
      progress({ progress: 1, total: n as number })
      return n
    },
  })
  await registryWith(tool).execute("count", { n: "3" }, { callId: "c", onEvent: (event) => events.push(event) })
  expect(events.map(({ type }) => type)).toEqual(["tool-start", "tool-progress", "tool-end"])
  expect(events[0]).toMatchObject({ callId: "c", arguments: { n: 3 }, repairs: [{ kind: "coerced-type" }] })
})

test("middleware stands around the run and may answer in its place", async () => {
  const run = vi.fn(() => "real")
  const seen: string[] = []
  const registry = registryWith(define(run))
  const result = await registry.execute(
    "tool",
    {},
    {
      middleware: [
        async ({ tool }, next) => {
          seen.push(tool.name)
          return next()
        },
        async (_call, next) => ({ ...(await next()), output: "changed" }),
      ],
    },
  )
  expect([result.output, seen]).toEqual(["changed", ["tool"]])
  const broken = await registry.execute("tool", {}, { middleware: [() => Promise.reject(new Error("cache down"))] })
  expect(broken.error).toMatchObject({ code: "EXECUTION_FAILED", message: expect.stringContaining("cache down") })
})

test("data that breaks a tool's own promise is a failure that keeps them", async () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } } }
  const tool = define(() => success({ data: { n: "x" }, modifiedFiles: ["a"] }), { outputSchema })
  const result = await registryWith(tool).execute("tool", {})
  expect(result).toMatchObject({ success: false, error: { code: "INVALID_OUTPUT" }, data: { n: "x" } })
  expect(result).toMatchObject({ modifiedFiles: ["a"], output: expect.stringContaining("n: must be a number") })
  const nothing = await registryWith(define(() => success(), { outputSchema })).execute("tool", {})
  expect(nothing.error?.code).toBe("INVALID_OUTPUT")
})

test("data that breaks the promise of a tool from elsewhere is delivered with the fact recorded", async () => {
  const tool = define(() => ({ n: "x" }), {
    outputSchema: { type: "object", properties: { n: { type: "number" } } },
    provenance: { kind: "mcp", name: "far" },
  })
  const result = await registryWith(tool).execute("tool", {})
  expect(result.success).toBe(true)
  expect(result.metadata.outputProblems).toEqual([{ path: "n", message: 'must be a number, but the string "x" came.' }])
})

test("a schema that cannot be compiled quarantines its own tool only", async () => {
  const broken = defineTool({
    name: "broken",
    description: "",
    parameters: { type: "object", properties: { a: { type: "nonsense" } } },
    execute: () => 1,
  })
  const registry = registryWith(
    broken,
    define(() => "fine"),
  )
  expect((await registry.execute("broken", {})).error?.code).toBe("INVALID_SCHEMA")
  expect((await registry.execute("tool", {})).success).toBe(true)
})
