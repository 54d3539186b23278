import { fileURLToPath } from "node:url"
import { DynamicExecutor } from "@toolwright/agents"
import { createScriptedBackend } from "@toolwright/backends"
import { HttpMCPClient, mcpOverHttp, StdioMCPClient } from "@toolwright/mcp"
import {
  attachSource,
  createResultCache,
  defineTool,
  executeCall,
  failure,
  localSource,
  traceHere,
  withTrace,
  ToolRegistry,
  type RunEvent,
  type ToolDefinition,
  type ToolSource,
} from "@toolwright/toolbox"
import { afterEach, describe, expect, test, vi } from "vitest"
import { ToolsApiClient } from "@toolwright/rest"
import { createApp, listen } from "./index.ts"

const SEARCH = fileURLToPath(new URL("../../mcp/src/testing/users-server.ts", import.meta.url))
const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

interface Seen {
  begun?: number
  aborted?: boolean
  args?: unknown
}

/** Tools in all their kinds; what they saw is told to the test. */
function sampleTools(seen: Seen = {}): ToolDefinition[] {
  const anything = { type: "object" } as const
  return [
    defineTool({
      name: "get_user",
      title: "Get a user",
      description: "Finds a user",
      parameters: {
        type: "object",
        properties: { id: { type: "integer", minimum: 1 } },
        required: ["id"],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } },
      effects: { readOnly: true, idempotent: true },
      execute: ({ id }) => ({ id, name: "Jöhn 👩‍🚀" }),
    }),
    defineTool({
      name: "say",
      description: "Says it",
      parameters: anything,
      execute: (args) => {
        seen.args = args
        return "plain\ntext"
      },
    }),
    defineTool({
      name: "refuse",
      description: "Refuses",
      parameters: anything,
      effects: { destructive: true },
      execute: () => failure({ code: "REFUSED", message: "Not today.", hint: "Ask tomorrow." }),
    }),
    defineTool({
      name: "crash",
      description: "Throws",
      parameters: anything,
      execute: () => {
        throw new Error("broken pipe dream")
      },
    }),
    defineTool({ name: "large", description: "Much", parameters: anything, execute: () => "ä".repeat(500_000) }),
    defineTool({
      name: "hang",
      description: "Never",
      parameters: anything,
      execute: (_args, { signal }) => {
        seen.begun = (seen.begun ?? 0) + 1
        return new Promise(() => signal.addEventListener("abort", () => (seen.aborted = true)))
      },
    }),
  ]
}

async function serve(tools: readonly ToolDefinition[], more: { mcp?: boolean } = {}) {
  const registry = new ToolRegistry()
  for (const tool of tools) registry.register(tool)
  const exported = more.mcp === true ? mcpOverHttp({ tools: registry }) : undefined
  const app = createApp({ tools: registry }, (application) => {
    if (exported !== undefined) application.all("/mcp", (context) => exported.fetch(context.req.raw))
  })
  const server = await listen(app, { port: 0, secured: false, drainMs: 200 })
  open.push(server)
  return server
}

const kinds: Record<string, (tools: ToolDefinition[]) => Promise<ToolSource>> = {
  local: async (tools) => localSource("here", tools),
  rest: async (tools) => new ToolsApiClient({ baseUrl: (await serve(tools)).url, name: "there" }),
  mcp: async (tools) => HttpMCPClient.create({ name: "there", url: `${(await serve(tools, { mcp: true })).url}/mcp` }),
}

describe.each(Object.entries(kinds))("a %s source", (kind, create) => {
  const attach = async (seen: Seen = {}) => {
    const registry = new ToolRegistry()
    const source = await create(sampleTools(seen))
    const attached = await attachSource(registry, source)
    open.push(attached)
    return { registry, source, attached }
  }

  test("lists its tools in order, with schema, effects, title and origin", async () => {
    const { registry, source } = await attach()
    expect(registry.list().map(({ name }) => name)).toEqual(["get_user", "say", "refuse", "crash", "large", "hang"])
    expect(registry.get("get_user")).toMatchObject({
      title: "Get a user",
      description: "Finds a user",
      effects: { readOnly: true, idempotent: true },
      provenance: source.provenance,
      optionality: "optional",
      category: "utility",
    })
    expect(registry.get("get_user")!.parameters).toEqual({
      type: "object",
      properties: { id: { type: "integer", minimum: 1 } },
      required: ["id"],
      additionalProperties: false,
    })
    expect(registry.get("get_user")!.outputSchema).toMatchObject({ type: "object" })
    expect(source.provenance.kind).toBe(kind)
  })

  test("answers with data, and with text, unchanged", async () => {
    const seen: { args?: unknown } = {}
    const { registry } = await attach(seen)
    expect(await registry.execute("get_user", { id: 7 })).toMatchObject({
      success: true,
      data: { id: 7, name: "Jöhn 👩‍🚀" },
      executionTimeMs: expect.any(Number),
    })
    const args = { deep: { list: [1, null, "é\u2028"] }, flag: false }
    expect((await registry.execute("say", args)).output).toBe("plain\ntext")
    expect(seen.args).toEqual(args)
    expect((await registry.execute("large", {})).output).toHaveLength(500_000)
  })

  test("serves a call as part of the trace that it was made in", async () => {
    const registry = new ToolRegistry()
    const seen: unknown[] = []
    const where = defineTool({
      name: "where",
      description: "",
      parameters: { type: "object" },
      execute: () => void seen.push(traceHere()),
    })
    const attached = await attachSource(registry, await create([where]))
    open.push(attached)
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" }
    await withTrace(trace, () => registry.execute("where", {}))
    await registry.execute("where", {})
    expect(seen).toEqual([trace, undefined])
  })

  test("gives failures as results that say the same, and checks arguments before it calls", async () => {
    const { registry } = await attach()
    expect(await registry.execute("refuse", {})).toMatchObject({
      success: false,
      error: { message: expect.stringContaining("Not today."), retryable: false },
    })
    expect((await registry.execute("crash", {})).error?.message).toContain("broken pipe dream")
    expect((await registry.execute("get_user", { id: 0 })).error).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining("id"),
    })
  })

  test("is cancelled by its caller, and by a time limit", async () => {
    const seen: Seen = {}
    const { registry } = await attach(seen)
    // On a busy machine the shortest limit is over before the call has come to the tool.
    for (let timeoutMs = 100; seen.begun === undefined; timeoutMs *= 4)
      expect((await registry.execute("hang", {}, { timeoutMs })).error?.code).toBe("TIMEOUT")
    await vi.waitFor(() => expect(seen.aborted).toBe(true))
    const { begun } = seen
    const controller = new AbortController()
    const running = registry.execute("hang", {}, { signal: controller.signal })
    await vi.waitFor(() => expect(seen.begun).toBeGreaterThan(begun))
    controller.abort()
    expect((await running).error?.code).toBe("CANCELLED")
  })

  test("is gone from the registry when it is closed, and a later call says so", async () => {
    const { registry, attached } = await attach()
    await attached.close()
    expect(registry.list()).toEqual([])
    expect((await registry.execute("say", {})).error?.code).toBe("TOOL_WITHDRAWN")
  })

  test.skipIf(kind === "local")("that has gone away gives failed results at once", async () => {
    const { registry } = await attach()
    await open.shift()!.close()
    expect((await registry.execute("say", {})).error).toMatchObject({ code: "SOURCE_UNAVAILABLE" })
  })
})

describe("an agent that uses a service over REST, with a cache of its own", () => {
  const files = () => {
    const state = { content: "one", reads: 0, writes: 0 }
    const input = {
      type: "object",
      properties: { path: { type: "string" }, head: { type: "integer" } },
      required: ["path"],
    }
    const tools = [
      defineTool({
        name: "read_text_file",
        description: "Reads",
        parameters: input,
        effects: { readOnly: true, idempotent: true, reads: ["path"] },
        execute: ({ path }) => {
          state.reads++
          return path === "none"
            ? failure({ code: "NOT_FOUND", message: "File not found: none" })
            : { content: state.content }
        },
      }),
      defineTool({
        name: "write_file",
        description: "Writes",
        parameters: {
          type: "object",
          properties: { path: { type: "string" }, content: { type: "string" } },
          required: ["path", "content"],
        },
        effects: { writes: ["path"] },
        execute: ({ content }) => {
          state.writes++
          state.content = String(content)
          return { written: true }
        },
      }),
    ]
    return { state, tools }
  }
  const call = (name: string, args: object) => ({
    reply: { calls: [{ name, arguments: args as Record<string, unknown> }] },
  })
  const steps = [
    call("read_text_file", { path: "a.txt", head: 5 }),
    call("read_text_file", { head: 5, path: "a.txt" }),
    call("write_file", { path: "a.txt", content: "two" }),
    call("read_text_file", { path: "a.txt", head: 5 }),
    { expect: { last: "two" }, reply: "done" },
  ]
  const play = async (source: ToolSource, cache = createResultCache()) => {
    const registry = new ToolRegistry()
    await attachSource(registry, source)
    const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
    const events: RunEvent[] = []
    for await (const event of new DynamicExecutor({ tools: registry, backend, middleware: [cache.middleware] }).run({
      task: "Read",
    }))
      events.push(event)
    return {
      events,
      transcript: JSON.stringify(backend.requests.at(-1)?.messages).replaceAll(/call[-_][\w-]+/g, "id"),
      end: events.at(-1),
    }
  }

  test("asks the service once for what it has read, again after a write, and tells the same story as in-process", async () => {
    const remote = files()
    const cache = createResultCache()
    const over = await play(new ToolsApiClient({ baseUrl: (await serve(remote.tools)).url }), cache)
    expect(over.end).toMatchObject({ type: "run-end", summary: { outcome: "completed", calls: 4, failedCalls: 0 } })
    expect(remote.state).toMatchObject({ reads: 2, writes: 1 })
    expect(cache.statistics()).toMatchObject({ hits: 1, misses: 2 })
    const inside = await play(localSource("here", files().tools))
    expect(over.transcript).toBe(inside.transcript)
  })

  test("asks again after five minutes, and never keeps a failure", async () => {
    const { state, tools } = files()
    const registry = new ToolRegistry()
    await attachSource(registry, new ToolsApiClient({ baseUrl: (await serve(tools)).url }))
    let now = 0
    const cache = createResultCache({ now: () => now })
    const read = (path: string, noCache = false) =>
      executeCall(
        registry,
        { name: "read_text_file", arguments: { path } },
        { middleware: [cache.middleware], noCache },
      )
    await read("a")
    now = 299_999
    expect((await read("a")).metadata).toMatchObject({ cached: true })
    now = 300_001
    expect((await read("a")).metadata).not.toHaveProperty("cached")
    expect(state.reads).toBe(2)
    await read("a", true)
    expect(state.reads).toBe(3)
    await read("none")
    await read("none")
    expect(state.reads).toBe(5)
  })

  test("goes on when the service is stopped, and the model is told", async () => {
    const server = await serve(files().tools)
    const registry = new ToolRegistry()
    await attachSource(registry, new ToolsApiClient({ baseUrl: server.url }))
    await server.close()
    const backend = createScriptedBackend({
      abilities: { nativeTools: true },
      steps: [
        call("read_text_file", { path: "a" }),
        { expect: { last: "does not answer" }, reply: "I could not read it." },
      ],
    })
    expect(await new DynamicExecutor({ tools: registry, backend }).complete({ task: "Read" })).toMatchObject({
      outcome: "completed-with-failures",
      failedCalls: 1,
    })
  })
})

test("one run uses a local tool, a REST service and three MCP servers: clean names for the model, four kinds of origin on record", async () => {
  const user = (name: string) =>
    defineTool({ name, description: name, parameters: { type: "object" }, execute: () => ({ name: "John Doe" }) })
  const ums = await HttpMCPClient.create({
    name: "UMS",
    url: `${(await serve(["create_user", "get_user", "search_users", "update_user", "delete_user"].map(user), { mcp: true })).url}/mcp`,
  })
  const fetcher = await HttpMCPClient.create({
    name: "Fetch",
    url: `${(await serve(["fetch", "fetch_raw"].map(user), { mcp: true })).url}/mcp`,
  })
  const search = await StdioMCPClient.create({
    name: "search",
    command: process.execPath,
    args: ["--conditions=toolwright-source", SEARCH],
    connectTimeoutMs: 120_000,
  })
  const rest = new ToolsApiClient({ baseUrl: (await serve([user("read_text_file")])).url, name: "tools-api" })
  const registry = new ToolRegistry()
  registry.register(user("grep"))
  for (const [source, options] of [
    [rest, {}],
    [ums, {}],
    [fetcher, {}],
    [search, { allow: ["web_search"] }],
  ] as const)
    open.push(await attachSource(registry, source, options))
  const names = [
    "grep",
    "read_text_file",
    "create_user",
    "get_user",
    "search_users",
    "update_user",
    "delete_user",
    "fetch",
    "fetch_raw",
    "web_search",
  ]
  expect(registry.list().map(({ name }) => name)).toEqual(names)
  const used = ["grep", "read_text_file", "search_users", "fetch", "web_search"]
  const reply = (name: string) =>
    `<tool_call>\n{"name": "${name}", "arguments": ${name === "web_search" ? '{"query": "Acme"}' : "{}"}}\n</tool_call>`
  const backend = createScriptedBackend({
    model: "qwen2.5-7b",
    abilities: { nativeTools: false },
    steps: [...used.map((name) => ({ reply: reply(name) })), { reply: "John works at Acme." }],
  })
  const origins: string[] = []
  for await (const event of new DynamicExecutor({ tools: registry, backend }).run({ task: "Who is John?" })) {
    if (event.type === "run-start") expect(event.tools).toEqual(names)
    if (event.type === "tool-start") origins.push(`${event.provenance.kind}:${event.provenance.name}`)
    if (event.type === "run-end")
      expect(event.summary).toMatchObject({ outcome: "completed", calls: 5, failedCalls: 0 })
  }
  expect(origins).toEqual(["local:local", "rest:tools-api", "mcp:UMS", "mcp:Fetch", "mcp:search"])
})
