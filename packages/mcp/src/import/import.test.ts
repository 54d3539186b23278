import { fileURLToPath } from "node:url"
import { attachSource, defineTool, listTools, ToolRegistry, UNHOSTED, type ToolContext } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import { afterEach, describe, expect, test, vi } from "vitest"
import {
  BaseMCPClient,
  connectMcpServer,
  HttpMCPClient,
  mcpToDialFormat,
  parseMcpServer,
  readMcpServers,
  StdioMCPClient,
  type StdioMCPClientOptions,
} from "../index.ts"
import { freePort } from "../../../host/src/testing/free-port.ts"
import { serveRegistry } from "../testing/serve-registry.ts"

const SERVER = fileURLToPath(new URL("../testing/users-server.ts", import.meta.url))
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})
const context: ToolContext = {
  ...UNHOSTED,
  signal: new AbortController().signal,
  callId: "c",
  idempotencyKey: "c",
  progress: () => {},
}

async function stdio(mode = "plain", more: Partial<StdioMCPClientOptions> = {}): Promise<StdioMCPClient> {
  const client = await StdioMCPClient.create({
    name: "search",
    command: process.execPath,
    args: ["--conditions=toolwright-source", SERVER, mode],
    connectTimeoutMs: 120_000,
    ...more,
  })
  open.push(client)
  return client
}

const users = new ToolRegistry()
for (const name of ["create_user", "get_user", "search_users", "update_user", "delete_user"]) {
  users.register(
    defineTool({
      name,
      description: `${name}!`,
      parameters: {
        type: "object",
        properties: { id: { type: "integer", minimum: 1 } },
        required: ["id"],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { id: { type: "integer" } } },
      effects: { readOnly: name.startsWith("get") },
      execute: ({ id }, { progress }) => {
        progress({ progress: 1, total: 2, message: "half" })
        return { id }
      },
    }),
  )
}

describe("conversion", () => {
  test("gives the OpenAI form with the schema unchanged", () => {
    const inputSchema = { type: "object", properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: { type: "string" } } }
    expect(mcpToDialFormat({ name: "t", description: "d", inputSchema })).toEqual({
      type: "function",
      function: { name: "t", description: "d", parameters: inputSchema },
    })
  })

  test("names the part that is missing", () => {
    expect(() => mcpToDialFormat({ description: "d" })).toThrow(/^Missing 'name' in /)
    expect(() => BaseMCPClient.mcpToDialFormat({ name: "" })).toThrow(/^Missing 'name' in /)
  })
})

describe("a server over HTTP", () => {
  test("is converted when it is connected to, and both views are the same tools", async () => {
    await using server = await serveRegistry({ tools: users })
    const lines: string[] = []
    const client = await HttpMCPClient.create({ name: "UMS", url: server.url, log: (line) => lines.push(line) })
    open.push(client)
    expect(lines).toEqual(["Converted 5 tools to DIAL format"])
    expect(client.getTools()).toEqual(
      listTools(users.list()).map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      })),
    )
    expect(formatterById("openai").formatToolsForAPI(client.toToolDefinitions())).toEqual(client.getTools())
    expect(client.toToolDefinitions()[0]).toMatchObject({
      category: "utility",
      optionality: "optional",
      provenance: { kind: "mcp", name: "UMS" },
    })
  })

  test("answers with data, checks arguments, and passes progress on", async () => {
    await using server = await serveRegistry({ tools: users })
    const client = await HttpMCPClient.create({ name: "UMS", url: server.url })
    open.push(client)
    const registry = new ToolRegistry()
    await attachSource(registry, client)
    const progress: object[] = []
    const result = await registry.execute(
      "get_user",
      { id: 7 },
      { onEvent: (event) => event.type === "tool-progress" && progress.push(event) },
    )
    expect(result).toMatchObject({ success: true, data: { id: 7 } })
    expect(progress).toEqual([expect.objectContaining({ progress: 1, total: 2, message: "half" })])
    expect((await client.callTool("get_user", { id: "x" }, context)).error?.message).toContain("id: must be an integer")
  })

  test("that is not there is named", async () => {
    await expect(HttpMCPClient.create({ name: "none", url: "http://127.0.0.1:1/mcp" })).rejects.toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: expect.stringContaining("http://127.0.0.1:1/mcp"),
    })
    await expect(HttpMCPClient.create({ name: "none", url: "nonsense" })).rejects.toMatchObject({
      code: "INVALID_CONFIGURATION",
    })
  })
})

describe("a server over stdio", () => {
  test("is started, called, and gone when it is closed", async () => {
    const client = await stdio()
    expect(client.getTools().map((tool) => tool.function.name)).toEqual(["web_search", "die", "picture", "pid"])
    const pid = Number((await client.callTool("pid", {}, context)).output)
    expect((await client.callTool("web_search", { query: "Acme" }, context)).output).toBe("found Acme")
    await client.close()
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"))
  })

  test("keeps pictures and structured content", async () => {
    const result = await (await stdio()).callTool("picture", {}, context)
    expect(result).toMatchObject({
      data: { width: 1 },
      output: "look\n[image image/png, 3 bytes]",
      metadata: { mcpContent: [{ type: "text" }, { type: "image", data: "AAAA" }] },
    })
  })

  test("that dies in the middle of a call gives a result, and is started again for the next one", async () => {
    const client = await stdio()
    const died = await client.callTool("die", {}, context)
    expect(died.error).toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining("may or may not have taken effect"),
    })
    expect((await client.callTool("web_search", { query: "again" }, context)).output).toBe("found again")
  })

  test.each([
    ["writes noise to its output", "noise", 4],
    ["has a tool whose schema is no object", "bad-schema", 5],
  ])("that %s is used all the same", async (_name, mode, count) => {
    expect((await stdio(mode)).getTools()).toHaveLength(count)
  })

  test("that lists without end is cut off", async () => {
    const lines: string[] = []
    const client = await stdio("endless", { log: (line) => lines.push(line) })
    expect(client.getTools().length).toBeLessThanOrEqual(5000)
    expect(lines[0]).toContain("lists more than can be taken")
  })

  test("with a tool that has no name is refused", async () => {
    await expect(stdio("nameless")).rejects.toThrow(/^Missing 'name' in /)
  })

  test("that says nothing, or cannot be started, is refused within its time", async () => {
    await expect(stdio("silent", { connectTimeoutMs: 300 })).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
    await expect(StdioMCPClient.create({ name: "none", command: "/nonexistent/program" })).rejects.toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: expect.stringContaining("/nonexistent/program"),
    })
  })
})

test("three servers make one list, in their order, and each call goes to its owner", async () => {
  await using server = await serveRegistry({ tools: users })
  const ums = await HttpMCPClient.create({ name: "UMS", url: server.url })
  const search = await stdio()
  open.push(ums)
  const registry = new ToolRegistry()
  registry.register(
    defineTool({ name: "mine", description: "", parameters: { type: "object" }, execute: () => "mine" }),
  )
  for (const client of [ums, search]) await attachSource(registry, client)
  expect(registry.list().map(({ name }) => name)).toEqual([
    "mine",
    "create_user",
    "get_user",
    "search_users",
    "update_user",
    "delete_user",
    "web_search",
    "die",
    "picture",
    "pid",
  ])
  expect((await registry.execute("web_search", { query: "x" })).output).toBe("found x")
  expect((await registry.execute("get_user", { id: 1 })).data).toEqual({ id: 1 })
  const again = await stdio()
  await expect(attachSource(registry, again)).rejects.toThrow(/Two tools are named 'web_search'/)
})

test("a server over HTTP that changes its tools is heard, and what it told is looked up", async () => {
  const tools = new ToolRegistry()
  const named = (name: string) =>
    defineTool({ name, description: name, parameters: { type: "object" }, execute: () => name })
  tools.register(named("first"))
  await using server = await serveRegistry({ tools })
  const client = await HttpMCPClient.create({ name: "changing", url: server.url })
  open.push(client)
  const registry = new ToolRegistry()
  await attachSource(registry, client)
  tools.unregister("first")
  tools.register(named("second"))
  // Until it is asked to tell of changes, it tells nobody: so it tells again.
  await vi.waitFor(() => {
    server.toolsChanged()
    expect(registry.list().map(({ name }) => name)).toEqual(["second"])
  })
})

describe("configuration", () => {
  test("reads the usual file, with disabled entries marked", () => {
    expect(
      readMcpServers({
        mcpServers: {
          a: { url: "http://x/mcp" },
          b: { command: "docker", args: ["run"], enabled: false, prefix: "b" },
        },
      }),
    ).toMatchObject([
      { name: "a", url: "http://x/mcp", enabled: true, required: false },
      { name: "b", command: "docker", args: ["run"], enabled: false, prefix: "b" },
    ])
    expect(() => readMcpServers({ mcpServers: { a: {} } }, "servers.json")).toThrow(
      "servers.json: 'a' needs either a 'url' or a 'command'.",
    )
    expect(() => readMcpServers({})).toThrow("no mapping 'mcpServers'")
  })

  test("reads a server from a command line", () => {
    expect(parseMcpServer("http://localhost:8005/mcp")).toMatchObject({
      name: "localhost:8005",
      url: "http://localhost:8005/mcp",
    })
    expect(parseMcpServer(`files=npx server --root "/a b" 'c d'`)).toMatchObject({
      name: "files",
      command: "npx",
      args: ["server", "--root", "/a b", "c d"],
    })
    expect(() => parseMcpServer("  ")).toThrow(expect.objectContaining({ code: "INVALID_CONFIGURATION" }))
  })

  test("connects by it", async () => {
    const client = await connectMcpServer({
      name: "s",
      command: process.execPath,
      args: ["--conditions=toolwright-source", SERVER],
      enabled: true,
      required: true,
    })
    open.push(client)
    expect(client.getTools()).toHaveLength(4)
  })
})

test("a server over HTTP that has gone away is told so, and is found again when it is back", async () => {
  const port = await freePort()
  const first = await serveRegistry({ tools: users }, port)
  await using client = await HttpMCPClient.create({ name: "UMS", url: first.url })
  await first[Symbol.asyncDispose]()
  expect((await client.callTool("get_user", { id: 1 }, context)).error).toMatchObject({
    code: "SOURCE_UNAVAILABLE",
    retryable: true,
  })
  expect((await client.callTool("get_user", { id: 1 }, context)).error?.code).toBe("SOURCE_UNAVAILABLE")
  await using _second = await serveRegistry({ tools: users }, port)
  await vi.waitFor(
    async () => expect((await client.callTool("get_user", { id: 2 }, context)).data).toEqual({ id: 2 }),
    { timeout: 120_000, interval: 200 },
  )
})
