import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadPrompts } from "@toolwright/prompts"
import { createResultCache, defineTool, readingTools, ToolRegistry, type ToolDefinition } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { ToolsApiClient } from "@toolwright/rest"
import { createApp, listen, type LogEntry, type ServerOptions } from "./index.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "server-"))
  writeFileSync(join(folder, "test.txt"), "line 1\nline 2\nline 3\n")
  mkdirSync(join(folder, "sub"))
  symlinkSync("/etc", join(folder, "l"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hang = (seen: { aborted?: boolean } = {}): ToolDefinition =>
  defineTool({
    name: "hang",
    description: "Never returns",
    timeoutMs: 25_000,
    parameters: { type: "object" },
    execute: (_args, { signal }) => {
      seen.aborted = false
      return new Promise(() => signal.addEventListener("abort", () => (seen.aborted = true)))
    },
  })
const quick = defineTool({
  name: "quick",
  description: "Is stopped soon",
  timeoutMs: 20,
  parameters: { type: "object" },
  execute: () => new Promise(() => {}),
})
const counter = { runs: 0 }
const count = defineTool({
  name: "count",
  description: "Counts its runs",
  tags: ["counting"],
  parameters: { type: "object" },
  execute: (_args, { progress }) => {
    progress({ message: "counting", progress: 1, total: 1 })
    return ++counter.runs
  },
})

function app(options: Partial<ServerOptions> = {}, ...more: ToolDefinition[]) {
  const tools = new ToolRegistry()
  for (const tool of [...createBuiltinTools({ roots: [{ path: folder, access: "read-write" }] }), count, ...more])
    tools.register(tool)
  const application = createApp({ tools, ...options })
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await application.request(`http://localhost${path}`, {
      ...init,
      headers: { host: "localhost", ...init.headers },
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: <Value = Record<string, unknown>>() => JSON.parse(text) as Value,
    }
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    })
  return { application, call, post }
}

describe("the tools API", () => {
  test("says that it lives, exactly", async () => {
    expect((await app().call("/health")).text).toBe('{"status":"healthy","service":"tools-api"}')
  })

  test("lists tools with schema and tags, with and without a slash at the end", async () => {
    const { call } = app()
    const list = (await call("/tools/")).json<{ name: string; parameters: object; tags: string[] }[]>()
    expect(list.find(({ name }) => name === "echo")).toMatchObject({
      parameters: { type: "object", required: ["message"] },
      tags: ["example", "test"],
    })
    expect((await call("/tools")).text).toBe((await call("/tools/")).text)
  })

  test("calls a tool with its bare arguments", async () => {
    const { post } = app()
    const answer = (await post("/tools/echo", { message: "hello" })).json()
    expect(answer).toMatchObject({ success: true, result: { echo: "hello", length: 5 }, error: null })
    expect(answer.execution_time_ms).toBeGreaterThan(0)
  })

  test("calls one action of a tool by the name that it has as a tool of its own", async () => {
    const { post } = app()
    const grep = { pattern: "line 2", path: "." }
    expect((await post("/tools/search_grep", grep)).json()).toMatchObject({
      success: true,
      result: (await post("/tools/search", { action: "grep", ...grep })).json().result,
    })
    expect((await post("/tools/search_nothing", {})).status).toBe(404)
    const read = { deny: [{ tool: "git_commit", permission: "deny" as const }] }.deny
    const refused = await app({ permissions: { rules: read } }).post("/tools/git_commit", { message: "x" })
    expect(refused.json()).toMatchObject({ success: false, error: expect.stringContaining("git_commit") })
  })

  test("says at its entrance what is served, to programs and to people", async () => {
    const { call } = app({ tokens: [{ token: "secret" }] })
    const said = (await call("/")).json<{ documentation: string; routes: Record<string, string[]> }>()
    expect(said.documentation).toBe("/docs")
    expect(said.routes).toMatchObject({ "/tools": ["GET"], "/tools/:name": ["POST"], "/openapi.json": ["GET"] })
    const page = await call("/", { headers: { accept: "text/html,*/*" } })
    expect(page.headers.get("content-type")).toContain("text/html")
    expect(page.text).toContain('<a href="docs">')
    expect(page.text).toContain('<a href="openapi.json">/openapi.json</a>')
  })

  test("answers 200 where the tool failed, and says why", async () => {
    const { status, json } = await app().post("/tools/echo", {})
    expect([status, json()]).toEqual([
      200,
      expect.objectContaining({ success: false, error: expect.stringContaining("message") }),
    ])
  })

  test("answers 404 for a tool that is not there, as a problem and as a result", async () => {
    const { status, headers, json } = await app().post("/tools/nope", {})
    expect([status, headers.get("content-type")]).toEqual([404, "application/problem+json"])
    expect(json()).toMatchObject({
      detail: "Tool 'nope' not found",
      success: false,
      result: null,
      error: { code: "TOOL_NOT_FOUND" },
    })
  })

  test("takes no body for a tool without arguments", async () => {
    expect((await app().call("/tools/count", { method: "POST" })).status).toBe(200)
  })

  test.each([
    ["no JSON", 400, "{", { "content-type": "application/json" }],
    ["bytes that are no UTF-8", 400, new Uint8Array([0xff, 0xfe]), { "content-type": "application/json" }],
    ["plain text", 415, "{}", { "content-type": "text/plain" }],
    ["too much", 413, JSON.stringify({ message: "x".repeat(200) }), { "content-type": "application/json" }],
  ])("refuses a body that is %s", async (_name, status, body, headers) => {
    expect((await app({ maxBodyBytes: 100 }).call("/tools/echo", { method: "POST", body, headers })).status).toBe(
      status,
    )
  })

  test("answers another method with the right one, and a time limit with 504", async () => {
    const { call, post } = app({}, quick)
    const wrong = await call("/tools/echo")
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"])
    expect((await post("/tools/quick", {})).status).toBe(504)
  })

  test.each([
    ["GET", "/tools/echo/check", "POST"],
    ["GET", "/tools/echo/check/", "POST"],
    ["DELETE", "/health", "GET"],
  ])("answers %s %s with the method that is taken there", async (method, path, allow) => {
    const { status, headers, json } = await app().call(path, { method })
    expect([status, headers.get("allow")]).toEqual([405, allow])
    expect(json()).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED", hint: `Ask with ${allow}.` } })
    expect((await app().call("/tools/echo/nothing", { method })).status).toBe(404)
  })

  test("gives a result that is too large as a failure", async () => {
    const { json } = await app({ maxResultBytes: 300 }).post("/tools/echo", { message: "x".repeat(400) })
    expect(json()).toMatchObject({ success: false, metadata: { toolwright: { error: { code: "RESULT_TOO_LARGE" } } } })
  })

  test("carries a request with an Idempotency-Key out once", async () => {
    const { post } = app()
    const before = counter.runs
    const key = { "idempotency-key": "k1" }
    const answers = await Promise.all([post("/tools/count", {}, key), post("/tools/count", {}, key)])
    expect(answers.map(({ json }) => json().result)).toEqual([before + 1, before + 1])
    expect((await post("/tools/count", { other: 1 }, key)).status).toBe(422)
    expect(counter.runs).toBe(before + 1)
  })

  test("streams progress, and the result as the last event", async () => {
    const { text } = await app().post("/tools/count", {}, { accept: "text/event-stream" })
    expect(text).toMatch(
      /^event: progress\ndata: \{"message":"counting","progress":1,"total":1\}\n\nevent: result\ndata: \{"success":true/,
    )
  })

  test("refuses more calls at once than it runs; what only reads waits its turn, sixteen times as many", async () => {
    const reading = { ...hang(), name: "reading", effects: { readOnly: true } }
    const { post } = app({ maxConcurrentCalls: 1 }, hang(), reading)
    void post("/tools/hang", {})
    await vi.waitFor(async () => expect((await post("/tools/hang", {})).status).toBe(429))
    expect((await post("/tools/echo", { message: "x" })).status).toBe(200)
    for (let each = 0; each < 16; each++) void post("/tools/reading", {})
    const refused = await post("/tools/reading", {})
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"])
  })

  test("counts calls, answers and the cache for Prometheus", async () => {
    const cache = createResultCache()
    const { call, post } = app({ cache })
    for (let time = 0; time < 2; time++) await post("/tools/read_text_file", { path: join(folder, "test.txt") })
    const { text } = await call("/metrics")
    expect(text).toContain('toolwright_tool_calls_total{tool="read_text_file",outcome="success"} 2')
    expect(text).toContain("toolwright_cache_hit_rate 0.5")
    expect(text).toMatch(/toolwright_http_responses_total\{status="200"\} 2/)
  })

  test("logs each request with tool and error", async () => {
    const log: LogEntry[] = []
    const { post } = app({ log: (entry) => log.push(entry) })
    await post("/tools/echo", {})
    expect(log).toEqual([
      expect.objectContaining({
        method: "POST",
        path: "/tools/echo",
        status: 200,
        tool: "echo",
        error: "INVALID_ARGUMENTS",
      }),
    ])
  })
})

describe("the file tools over REST", () => {
  const read = async (args: object) =>
    (await app().post("/tools/read_text_file", args)).json<{
      success: boolean
      result: Record<string, unknown>
      error: string
    }>()
  const path = () => join(folder, "test.txt")

  test("read whole, by head, by tail", async () => {
    expect((await read({ path: path() })).result).toMatchObject({
      content: "line 1\nline 2\nline 3\n",
      line_count: 3,
      size_bytes: 21,
      is_truncated: false,
      modified_time: expect.any(Number),
    })
    expect((await read({ path: path(), head: 2 })).result).toMatchObject({
      content: "line 1\nline 2\n",
      line_count: 2,
      is_truncated: true,
    })
    expect((await read({ path: path(), tail: 1 })).result).toMatchObject({ content: "line 3\n" })
    expect((await read({ path: path(), tail: 0 })).result).toMatchObject({ content: "", line_count: 0 })
    expect((await read({ path: path(), head: 1, tail: 1 })).result).toMatchObject({ content: "line 1\n" })
  })

  test.each(["/nonexistent/file.txt", "/etc/passwd", "../../etc/passwd", "l/passwd", "a\0b"])(
    "do not leave the workspace by %j",
    async (outside) => {
      const { success, error } = await read({ path: outside })
      expect(success).toBe(false)
      expect(error).toMatch(/denied|invalid|not allowed|NUL|null/i)
    },
  )

  test("say not found and denied in one message for what lies outside", async () => {
    const { error } = await read({ path: "/nonexistent/file.txt" })
    expect(error).toMatch(/denied/)
    expect(error).toMatch(/not found/)
  })
})

describe("who may call", () => {
  test("a request for another host is refused, on every route", async () => {
    const { call } = app()
    for (const path of ["/health", "/tools/", "/openapi.json", "/docs", "/metrics"])
      expect((await call(path, { headers: { host: "evil.example" } })).status).toBe(403)
    expect(
      (await app({ allowedHosts: ["tools.example"] }).call("/health", { headers: { host: "tools.example:8001" } }))
        .status,
    ).toBe(200)
  })

  test("a page of another origin is refused unless it is allowed", async () => {
    const origin = { origin: "https://evil.example" }
    expect((await app().post("/tools/echo", { message: "x" }, origin)).status).toBe(403)
    const allowed = app({ allowedOrigins: ["https://evil.example"] })
    const preflight = await allowed.call("/tools/echo", { method: "OPTIONS", headers: origin })
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
      204,
      "https://evil.example",
    ])
    expect(
      (await allowed.post("/tools/echo", { message: "x" }, origin)).headers.get("access-control-allow-origin"),
    ).toBe("https://evil.example")
  })

  test("the figures of the whole server are not for a token of some tags", async () => {
    const { call } = app({ tokens: [{ token: "all" }, { token: "some", tags: ["counting"] }] })
    const status = async (path: string, token: string) =>
      (await call(path, { headers: { authorization: `Bearer ${token}` } })).status
    for (const path of ["/metrics", "/metrics/", "//metrics"]) expect(await status(path, "some")).toBe(403)
    expect(await status("/metrics", "all")).toBe(200)
  })

  test("a token opens the tools of its tags, and what it does not open does not exist", async () => {
    const { call, post } = app({ tokens: [{ token: "all" }, { token: "some", tags: ["counting"] }] })
    const as = (token: string) => ({ authorization: `Bearer ${token}` })
    const missing = await call("/tools/")
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, "Bearer"])
    expect((await call("/tools/", { headers: as("wrong") })).status).toBe(401)
    expect((await call("/health")).status).toBe(200)
    expect((await call("/tools/", { headers: as("some") })).json()).toMatchObject([{ name: "count" }])
    expect((await post("/tools/echo", { message: "x" }, as("some"))).status).toBe(404)
    expect((await post("/tools/echo", { message: "x" }, as("all"))).status).toBe(200)
    expect(Object.keys((await call("/openapi.json", { headers: as("some") })).json<{ paths: object }>().paths)).toEqual(
      ["/tools/count"],
    )
  })

  test("a tool that is kept back is told why, and whoever may not know of it learns nothing", async () => {
    const registry = new ToolRegistry()
    for (const tool of createBuiltinTools({ roots: [{ path: folder, access: "read-write" }] })) registry.register(tool)
    const tools = readingTools(registry)
    const tokens = [{ token: "all" }, { token: "some", tags: ["counting"] }]
    const hint = async (name: string, token: string) => {
      const { post } = app({ tools, tokens })
      const answer = await post(`/tools/${name}`, { path: "a" }, { authorization: `Bearer ${token}` })
      expect(answer.status).toBe(404)
      return answer.json<{ error: { hint: string } }>().error.hint
    }
    expect(await hint("write_file", "all")).toMatch(
      /^The tool 'write_file' is not offered here, .*a folder that may be/,
    )
    expect(await hint("write_file", "some")).toBe(await hint("nope", "some"))
  })

  test("a token for some tags does not open the routes of other surfaces, which know no tags", async () => {
    const served = createApp(
      { tools: new ToolRegistry(), tokens: [{ token: "everything" }, { token: "some", tags: ["git"] }] },
      (application) => {
        application.all("/mcp", (context) => context.text("all tools"))
      },
    )
    const status = async (token: string, path: string) =>
      (
        await served.request(`http://localhost${path}`, {
          headers: { host: "localhost", authorization: `Bearer ${token}` },
        })
      ).status
    expect(
      await Promise.all([
        status("everything", "/mcp"),
        status("some", "/mcp"),
        status("some", "/tools/"),
        status("some", "/health"),
      ]),
    ).toEqual([200, 403, 200, 200])
  })

  test("no address but this machine's is bound without a token", async () => {
    await expect(listen(app().application, { host: "0.0.0.0", port: 0, secured: false })).rejects.toMatchObject({
      code: "TOKEN_REQUIRED",
    })
  })
})

describe("prompts", () => {
  test("are listed and rendered, and a missing argument is named", async () => {
    const { call, post } = app({ prompts: await loadPrompts() })
    const list = (await call("/prompts/")).json<{ name: string; arguments: object[] }[]>()
    expect(list.find(({ name }) => name === "code_review")?.arguments).toContainEqual(
      expect.objectContaining({ name: "code", required: true }),
    )
    const rendered = (await post("/prompts/code_review", { code: "a={1:2}", language: "python" })).json<{
      messages: { content: string }[]
    }>()
    expect(rendered.messages[0]?.content).toContain("Review the following python code:")
    expect((await post("/prompts/code_review", {})).json()).toMatchObject({
      success: false,
      error: expect.stringContaining("'code'"),
      messages: [],
    })
    expect((await post("/prompts/nope", {})).json()).toMatchObject({ detail: "Prompt 'nope' not found" })
  })
})

describe("a running server", () => {
  const start = async (...more: ToolDefinition[]) => listen(app({}, ...more).application, { port: 0, secured: false })

  test("is a source of tools, and one that is down gives failed results", async () => {
    const server = await start()
    const client = new ToolsApiClient({ baseUrl: server.url })
    const registry = new ToolRegistry()
    for (const tool of await client.list()) registry.register(tool)
    expect(await registry.execute("echo", { message: "hi" })).toMatchObject({
      success: true,
      data: { echo: "hi", length: 2 },
    })
    expect((await registry.execute("read_text_file", { path: "none.txt" })).error?.code).toBe(
      (await app().post("/tools/read_text_file", { path: "none.txt" })).json<{
        metadata: { toolwright: { error: { code: string } } }
      }>().metadata.toolwright.error.code,
    )
    await server.close()
    expect((await registry.execute("echo", { message: "hi" })).error).toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      retryable: true,
    })
    await expect(client.list()).rejects.toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: expect.stringContaining(server.url),
    })
  })

  test("cancels the tool when its client goes away", async () => {
    const seen: { aborted?: boolean } = {}
    await using server = await start(hang(seen))
    const request = httpRequest(`${server.url}/tools/hang`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    })
    request.on("error", () => {})
    request.end("{}")
    await vi.waitFor(() => expect(seen.aborted).toBe(false), 10_000)
    request.destroy()
    await vi.waitFor(() => expect(seen.aborted).toBe(true), 10_000)
  })

  test("lets a call that is under way end before it stops", async () => {
    let release: (() => void) | undefined
    const slow = defineTool({
      name: "slow",
      description: "",
      parameters: { type: "object" },
      execute: () => new Promise((resolve) => (release = () => resolve("done"))),
    })
    const server = await start(slow)
    const answer = new ToolsApiClient({ baseUrl: server.url }).executeTool("slow")
    await vi.waitFor(() => expect(release).toBeDefined(), 10_000)
    const stopped = server.close()
    release!()
    expect((await answer).data).toBe("done")
    await stopped
  })
})
