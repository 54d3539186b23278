import { createScriptedBackend } from "@toolwright/backends"
import { createApp, listen } from "@toolwright/server"
import { defineTool, failure, ToolRegistry, type ToolDefinition } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { serveRegistry } from "../../../mcp/src/testing/serve-registry.ts"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { folderWith } from "../testing/run-cli.ts"
import { overTheWire, SURFACES, surface } from "../testing/surfaces.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

const call = (name: string, args: Record<string, unknown> = {}): Steps[number] => ({
  reply: { calls: [{ name, arguments: args }] },
})

function registryOf(...tools: ToolDefinition[]): ToolRegistry {
  const registry = new ToolRegistry()
  for (const tool of tools) registry.register(tool)
  return registry
}

/** A tools service with one text, which counts what it was asked for. */
async function fileService() {
  const asked: string[] = []
  let text = "one"
  const path = { path: { type: "string" }, head: { type: "integer" } } as const
  const read = defineTool({
    name: "read_text_file",
    description: "Reads a file",
    parameters: { type: "object", properties: path },
    effects: { readOnly: true, idempotent: true },
    execute({ path: wanted }) {
      asked.push(`read ${wanted}`)
      return wanted === "a.txt" ? text : failure({ code: "NOT_FOUND", message: `${wanted} is not there.` })
    },
  })
  const write = defineTool({
    name: "write_file",
    description: "Writes a file",
    parameters: { type: "object", properties: { ...path, content: { type: "string" } } },
    execute({ content }) {
      asked.push("write")
      text = String(content)
      return "written"
    },
  })
  const server = await listen(createApp({ tools: registryOf(read, write) }), { port: 0, secured: false, drainMs: 200 })
  onTestFinished(() => server.close())
  return { asked, server }
}

/** The assistant of a surface, with the tools of a service and no others. */
async function assistant([way, database]: [way: string, database: string], steps: Steps, services: string[]) {
  const model = createScriptedBackend({
    model: "m",
    abilities: { nativeTools: true },
    steps: overTheWire(steps),
  })
  const asked = await surface(way, {
    cwd: folderWith(),
    database,
    model,
    settings: { builtins: { enabled: false }, sources: { services } },
  })
  return { model, asked }
}

onBothDatabases("a run with the tools of a service", (address) => {
  test.each(SURFACES)(
    "over %s asks it once for what it has read, again after a write, and for what failed each time",
    async (way) => {
      const { asked: seen, server } = await fileService()
      const steps = [
        call("read_text_file", { path: "a.txt", head: 5 }),
        call("read_text_file", { head: 5, path: "a.txt" }),
        call("write_file", { path: "a.txt", content: "two" }),
        call("read_text_file", { path: "a.txt", head: 5 }),
        { expect: { result: "two" }, ...call("read_text_file", { path: "none" }) },
        call("read_text_file", { path: "none" }),
        { reply: "It says two." },
      ]
      const { model, asked } = await assistant([way, address()], steps, [`tools-api=${server.url}`])
      await asked.run("What does it say?", "assistant")
      expect(seen).toEqual(["read a.txt", "write", "read a.txt", "read none", "read none"])
      expect(model.remaining).toBe(0)
      const { events } = await asked.record()
      expect(events.at(-1)).toMatchObject({ summary: { calls: 6, failedCalls: 2 } })
    },
  )

  test.each(SURFACES)("over %s goes on when it is stopped, and the model is told", async (way) => {
    const { server } = await fileService()
    const steps = [
      call("read_text_file", { path: "a.txt" }),
      { expect: { result: "does not answer" }, reply: "I could not read it." },
    ]
    const { model, asked } = await assistant([way, address()], steps, [`tools-api=${server.url}`])
    model.infer = ((infer) =>
      async function* (request, options) {
        if (model.requests.length === 0) await server.close()
        yield* infer(request, options)
      })(model.infer.bind(model))
    await asked.run("What does it say?", "assistant")
    expect(model.remaining).toBe(0)
    const { events } = await asked.record()
    expect(events.at(-1)).toMatchObject({ summary: { outcome: "completed-with-failures", failedCalls: 1 } })
  })
})

/** A tool that answers with its own name. */
const named = (name: string) =>
  defineTool({ name, description: name, parameters: { type: "object" }, execute: () => `${name} was here` })

const OWN = `export const grep = {
  name: "grep",
  description: "Finds",
  category: "utility",
  optionality: "optional",
  effects: { readOnly: true },
  parameters: { type: "object", properties: {} },
  handler: async () => ({ success: true, output: "found", modifiedFiles: [], metadata: {}, executionTimeMs: 0 }),
}
`

onBothDatabases("a run with a tool of one's own, a service and two MCP servers", (address) => {
  test.each(SURFACES)("over %s sees one list of clean names, and each call's origin stands on record", async (way) => {
    const rest = await listen(createApp({ tools: registryOf(named("read_text_file")) }), {
      port: 0,
      secured: false,
      drainMs: 200,
    })
    const users = await serveRegistry({ tools: registryOf(...["get_user", "search_users"].map(named)) })
    const fetcher = await serveRegistry({ tools: registryOf(named("fetch")) })
    onTestFinished(async () => {
      await rest.close()
      for (const server of [users, fetcher]) await server[Symbol.asyncDispose]()
    })
    const used = ["grep", "read_text_file", "search_users", "fetch"]
    const written = used.map((name) => ({ reply: `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>` }))
    const model = createScriptedBackend({
      model: "qwen2.5-7b-instruct",
      abilities: { nativeTools: false },
      steps: [...written, { reply: "All were used." }],
    })
    const cwd = folderWith({ "own.mjs": OWN })
    const asked = await surface(way, {
      cwd,
      database: address(),
      model,
      settings: {
        model: { nativeTools: false },
        builtins: { enabled: false },
        tools: [`${cwd}/own.mjs`],
        sources: { services: [`tools-api=${rest.url}`] },
        mcp: { connect: [`UMS=${users.url}`, `Fetch=${fetcher.url}`] },
      },
    })
    await asked.run("Who is John?", "assistant")
    expect(model.remaining).toBe(0)
    const { events } = await asked.record()
    expect(events[0]).toMatchObject({ tools: ["grep", "read_text_file", "get_user", "search_users", "fetch"] })
    expect(events.flatMap(({ type, provenance }) => (type === "tool-start" ? [provenance] : []))).toEqual([
      { kind: "local", name: `${cwd}/own.mjs` },
      { kind: "rest", name: "tools-api" },
      { kind: "mcp", name: "UMS" },
      { kind: "mcp", name: "Fetch" },
    ])
    expect(events.at(-1)).toMatchObject({ summary: { outcome: "completed", calls: 4, failedCalls: 0 } })
  })
})

const plain = (name: string) => ({ name, arguments: {} })

const reads = (name: string, execute: () => string | Promise<string>) =>
  defineTool({ name, description: name, parameters: { type: "object" }, effects: { readOnly: true }, execute })

/** A server whose tool `search` is taken away while it runs, and `word_count` is brought in its place. */
async function changingServer() {
  const tools = new ToolRegistry()
  tools.register(reads("file", () => "a file"))
  tools.register(
    reads("search", async () => {
      tools.unregister("search")
      tools.register(reads("word_count", () => "four words"))
      const listed = Promise.withResolvers<void>()
      tools.list = () => {
        listed.resolve()
        return ToolRegistry.prototype.list.call(tools)
      }
      server.toolsChanged()
      // It ends once somebody who heard of the change has looked.
      await listed.promise
      return "found it"
    }),
  )
  const server = await serveRegistry({ tools })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

onBothDatabases("tools of a server that change while a run is under way", (address) => {
  test.each(SURFACES)(
    "over %s are what the next request offers; a running call ends, and a late one is told",
    async (way) => {
      const server = await changingServer()
      const model = createScriptedBackend({
        model: "m",
        abilities: { nativeTools: true },
        steps: overTheWire([
          { expect: { tools: { exactly: ["file", "search"] } }, reply: { calls: [plain("search")] } },
          { expect: { result: "found it" }, reply: { calls: [plain("file")] } },
          {
            expect: { tools: { exactly: ["file", "word_count"] } },
            reply: { calls: [plain("search"), plain("word_count")] },
          },
          { expect: { result: "four words" }, reply: "Four." },
        ]),
      })
      const asked = await surface(way, {
        cwd: folderWith(),
        database: address(),
        model,
        settings: { builtins: { enabled: false }, mcp: { connect: [`words=${server.url}`] } },
      })
      await asked.run("count the words", "assistant")
      const { events } = await asked.record()
      expect(events.at(-1)).toMatchObject({
        summary: { message: "Four.", outcome: "completed-with-failures", calls: 4, failedCalls: 1 },
      })
      expect(model.remaining).toBe(0)
      expect(events).toContainEqual(expect.objectContaining({ type: "tools-changed", added: ["word_count"] }))
      const ends = events.flatMap(({ type, name, result }) =>
        type === "tool-end" ? [[name, (result as { success: boolean }).success]] : [],
      )
      expect(ends).toEqual([
        ["search", true],
        ["file", true],
        ["search", false],
        ["word_count", true],
      ])
      expect(JSON.stringify(events)).toContain("The tool 'search' is no longer available.")
    },
  )
})
