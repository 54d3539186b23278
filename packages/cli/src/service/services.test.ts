import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { createToolwright } from "@toolwright/runtime"
import { openDatabase } from "@toolwright/store"
import type { RunEvent } from "@toolwright/toolbox"
import { expect, test, vi } from "vitest"
import { freePort } from "../../../host/src/testing/free-port.ts"
import { cli, folderWith, startCli, stateOfTests, type Running } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

// Each test starts several programs, one after another.
vi.setConfig({ testTimeout: 120_000 })

const SERVER = fileURLToPath(new URL("../../../mcp/src/testing/users-server.ts", import.meta.url))
const USERS = `users=${process.execPath} --conditions=toolwright-source ${SERVER}`
const STARTED = /at (http:\/\/127\.0\.0\.1:\d+)\s/
const TOKEN = "a-token-for-tests"
const AUTHORIZED = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
const call = (name: string, args: object) => ({
  reply: { calls: [{ name, arguments: args as Record<string, unknown> }] },
})

/** A service in this process. @returns its address, and what ends it and gives what it said on the way */
async function serving(args: readonly string[], { cwd, env }: { cwd: string; env?: Record<string, string> }) {
  const { until, stop, said } = startHere(["serve", ...args], { cwd, env: { TOOLWRIGHT_TOKEN: TOKEN, ...env } })
  const [, url] = await until(STARTED)
  return { url: url!, end: async () => (await stop()).stderr, said }
}

const OWN_FOLDER = { BASE_REPOS_PATH: "", BASE_DOWNLOADS_PATH: "" }

/** The tools service; its requests are counted by tool. */
async function startTools(cwd: string, port: string) {
  const service = await serving(["--port", port, "--root", cwd], { cwd, env: OWN_FOLDER })
  const seen = () =>
    [...service.said.stderr.matchAll(/"method":"POST","path":"\/tools\/(\w+)"/g)].map(([, name]) => name!)
  return { ...service, seen }
}

/** The same as a process, which can be killed. */
async function startToolsProcess(cwd: string, port: string) {
  const env = { ...OWN_FOLDER, TOOLWRIGHT_TOKEN: TOKEN }
  const running = startCli(["serve", "--port", port, "--root", cwd], { cwd, env })
  await running.until(STARTED)
  return { ...running, url: `http://127.0.0.1:${port}` }
}

function startReasoning(cwd: string, tools: string, more: { baseUrl?: string } = {}) {
  const model = more.baseUrl === undefined ? [] : ["--model", "m", "--base-url", more.baseUrl]
  const env = { TOOLS_API_URL: `tools-api=${tools}`, TOOLS_API_TOKEN: TOKEN }
  return serving(["--port", "0", "--quiet", "--no-builtins", ...model], { cwd, env })
}

async function end({ child, finished }: Running): Promise<string> {
  child.kill("SIGTERM")
  return (await finished).stderr
}

test("the reasoning service asks the tools service once for what it read, again after it wrote, and goes on without it", async () => {
  const cwd = folderWith({ "repo/a.txt": "one\n", "own/x.txt": "" })
  const path = join(cwd, "repo/a.txt")
  const steps = [
    call("read_text_file", { path, head: 5 }),
    call("read_text_file", { head: 5, path }),
    call("write_file", { path, content: "two\n" }),
    call("read_text_file", { path, head: 5 }),
    { expect: { last: "two" }, reply: "It says two." },
    call("read_text_file", { path, head: 4 }),
    { expect: { last: "does not answer" }, reply: "I could not read it." },
    call("read_text_file", { path, head: 3 }),
    { expect: { last: "two" }, reply: "It says two again." },
  ]
  await using model = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const port = String(await freePort())
  const tools = await startTools(join(cwd, "repo"), port)
  const reasoning = await startReasoning(join(cwd, "own"), tools.url, { baseUrl: model.baseUrl })
  const ask = async (content: string): Promise<string> => {
    const body = JSON.stringify({ model: "toolwright/assistant", messages: [{ role: "user", content }] })
    const answer = await fetch(`${reasoning.url}/v1/chat/completions`, { method: "POST", headers: AUTHORIZED, body })
    return ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content
  }
  expect(await ask("What does a.txt say?")).toBe("It says two.")
  await vi.waitFor(() => expect(tools.seen()).toEqual(["read_text_file", "write_file", "read_text_file"]))
  const metrics = await (await fetch(`${reasoning.url}/metrics`, { headers: AUTHORIZED })).text()
  expect(metrics).toMatch(/toolwright_cache_hits_total 1\n/)
  await tools.end()
  expect(await ask("And now?")).toMatch(/^I could not read it\.\n\n\[completed-with-failures: .+\]$/)
  const again = await startTools(join(cwd, "repo"), port)
  expect(await ask("And now?")).toBe("It says two again.")
  expect(await reasoning.end()).toMatch(/The tools service 'tools-api' is away, the rest works/)
  await again.end()
})

test("services may stop and start under load: each call has an answer, and after it all go well", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const port = String(await freePort())
  const first = await startToolsProcess(cwd, port)
  const reasoning = await startReasoning(cwd, first.url)
  const codes = new Map<string, number>()
  const echo = async (message: string): Promise<string> => {
    const answer = await fetch(`${reasoning.url}/tools/echo`, {
      method: "POST",
      headers: { ...AUTHORIZED, "idempotency-key": message },
      body: JSON.stringify({ message }),
    })
    const { result, metadata } = (await answer.json()) as {
      result: { echo?: string } | null
      metadata: { toolwright: { error?: { code: string } } }
    }
    const said = result?.echo === message ? "right" : (metadata.toolwright.error?.code ?? "wrong")
    codes.set(said, (codes.get(said) ?? 0) + 1)
    return said
  }
  const loading = new AbortController()
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let count = 0; !loading.signal.aborted; count++) await echo(`${caller}-${count}`)
  })
  await vi.waitFor(() => expect(codes.get("right")).toBeGreaterThan(20))
  first.child.kill("SIGKILL")
  await first.finished
  await vi.waitFor(() => expect(codes.get("SOURCE_UNAVAILABLE")).toBeGreaterThan(20))
  const second = await startToolsProcess(cwd, port)
  const before = codes.get("right")!
  await vi.waitFor(() => expect(codes.get("right")).toBeGreaterThan(before + 20))
  loading.abort()
  await Promise.all(callers)
  expect([...codes.keys()].sort()).toEqual(["SOURCE_UNAVAILABLE", "right"])
  expect(await Promise.all(Array.from({ length: 20 }, (_, index) => echo(`after-${index}`)))).not.toContain(
    "SOURCE_UNAVAILABLE",
  )
  await reasoning.end()
  await end(second)
})

test("a service that is away at the start is told, the rest works, and its tools come with it", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const port = String(await freePort())
  const reasoning = await startReasoning(cwd, `http://127.0.0.1:${port}`)
  const names = async (): Promise<string[]> =>
    ((await (await fetch(`${reasoning.url}/tools/`, { headers: AUTHORIZED })).json()) as { name: string }[]).map(
      ({ name }) => name,
    )
  expect(await names()).toEqual([])
  const conversations = await fetch(`${reasoning.url}/conversations`, { headers: AUTHORIZED })
  expect(conversations.status).toBe(500)
  expect(await conversations.json()).toMatchObject({ detail: "Conversation manager not initialized" })
  const tools = await startTools(cwd, port)
  await vi.waitFor(async () => expect(await names()).toContain("read_text_file"))
  expect(await reasoning.end()).toContain("is away, the rest works")
  await tools.end()
  const alone = await here(["tools", "call", "echo", "--message", "hi", "--rest", tools.url], { cwd })
  expect(alone).toMatchObject({ code: 0, stderr: expect.stringContaining("is away, the rest works") })
})

test("variables, a file of them and a file with a token make the service", async () => {
  const cwd = folderWith({
    "repos/a.txt": "one\n",
    "downloads/b.txt": "two\n",
    "plays/hi.yaml": "name: hi\ntemplate: Hi.\ndescription: Hi\n",
  })
  writeFileSync(
    join(cwd, ".env"),
    `BASE_REPOS_PATH=${cwd}/repos\nBASE_DOWNLOADS_PATH=${cwd}/downloads\nPLAYBOOKS_PATH=${cwd}/plays\n` +
      `TOOLWRIGHT_TOKEN_FILE=${cwd}/service/token\n`,
  )
  const service = startCli(["serve", "--port", "0", "--quiet", "--env-file", ".env"], { cwd })
  const [, url] = await service.until(STARTED)
  expect((await fetch(`${url}/tools/`)).status).toBe(401)
  await end(service)
  // The token is kept: who starts the service again, or the one beside it, has the same.
  const { TOOLWRIGHT_TOKEN_FILE } = { TOOLWRIGHT_TOKEN_FILE: join(cwd, "service/token") }
  const listed = startHere(["serve", "--port", "0", "--quiet", "--env-file", ".env"], { cwd })
  const [, again] = await listed.until(STARTED)
  const env = { TOOLS_API_URL: `tools-api=${again}`, TOOLS_API_TOKEN_FILE: TOOLWRIGHT_TOKEN_FILE }
  const beside = startHere(["serve", "--port", "0", "--quiet", "--no-builtins"], { cwd, env })
  const [, reasoning] = await beside.until(STARTED)
  const folders = await fetch(`${reasoning}/tools/list_allowed_directories`, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  })
  const text = await folders.text()
  expect(text).toContain("repos")
  expect(text).toContain("downloads")
  await beside.stop()
  await listed.stop()
})

test("one run uses a tool of one's own, a REST service and MCP servers: by the command, over HTTP and from a program", async () => {
  const cwd = folderWith({
    "a.txt": "one two\n",
    // Written out: this process of tests has no package of the name toolwright to import from.
    "own.ts": `export const length = {
  name: "length_of",
  description: "Length",
  category: "utility",
  optionality: "optional",
  effects: { readOnly: true },
  parameters: { type: "object", properties: { path: { type: "string" } } },
  async handler({ path }: { path: string }, { files }: { files: { read(path: string): Promise<string> } }) {
    const output = String((await files.read(path)).length)
    return { success: true, output, modifiedFiles: [], metadata: {}, executionTimeMs: 0 }
  },
}
`,
  })
  const tools = await startTools(cwd, String(await freePort()))
  const used = [
    ["length_of", { path: "a.txt" }],
    ["echo", { message: "over there" }],
    ["picture", {}],
  ] as const
  const steps = [...used.map(([name, args]) => call(name, args)), { reply: "All three were used." }]
  const options = ["--no-builtins", "--tools", "own.ts", "--rest", `tools-api=${tools.url}`, "--mcp-server", USERS]
  const env = { TOOLS_API_URL: `tools-api=${tools.url}`, TOOLS_API_TOKEN: TOKEN }
  const playing = () => serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const origins = (events: readonly { type: string; provenance?: unknown }[]) =>
    events.flatMap(({ type, provenance }) => (type === "tool-start" ? [provenance] : []))
  const expected = [
    { kind: "local", name: join(cwd, "own.ts") },
    { kind: "rest", name: "tools-api" },
    { kind: "mcp", name: "users" },
  ]
  {
    await using model = await playing()
    const line = ["run", "use them", "--json", "--model", "m", "--base-url", model.baseUrl, ...options]
    const { code, stdout } = await cli(line, { cwd, env })
    expect(code).toBe(0)
    const events = stdout
      .trim()
      .split("\n")
      .map((each) => JSON.parse(each) as { type: string; provenance?: unknown })
    expect(origins(events)).toEqual(expected)
  }
  {
    await using model = await playing()
    const line = ["--port", "0", "--quiet", "--model", "m", "--base-url", model.baseUrl, ...options]
    const { url, end: stopped } = await serving(line, { cwd, env })
    const body = JSON.stringify({ model: "toolwright/assistant", messages: [{ role: "user", content: "use them" }] })
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers: AUTHORIZED, body })
    expect(await answer.text()).toContain("All three were used.")
    await stopped()
  }
  {
    await using model = await playing()
    await using toolwright = await createToolwright({
      cwd,
      env: { ...env, ...stateOfTests() },
      record: false,
      tools: ["own.ts"],
      sources: { services: [`tools-api=${tools.url}`] },
      mcp: { connect: [USERS] },
      model: { name: "m", baseUrl: model.baseUrl },
    })
    const events: RunEvent[] = []
    for await (const event of toolwright.run("use them")) events.push(event)
    expect(origins(events)).toEqual(expected)
    expect(events.at(-1)).toMatchObject({ summary: { outcome: "completed", failedCalls: 0 } })
  }
  await tools.end()
})

test("lists say of each tool which server it comes from: at the command line, as JSON, over HTTP", async () => {
  const cwd = folderWith()
  const options = ["--no-builtins", "--mcp-server", USERS]
  const [text, json, shown] = await Promise.all(
    [["list"], ["list", "--json"], ["show", "pid"]].map((line) => here(["tools", ...line, ...options], { cwd })),
  )
  expect(text!.stdout).toMatch(/^pid +utility .*\[from the MCP server users\]$/m)
  expect(shown!.stdout).toMatch(/^pid {2}\(.*from the MCP server users\)$/m)
  const origin = { name: "pid", provenance: { kind: "mcp", name: "users" } }
  expect(JSON.parse(json!.stdout)).toContainEqual(expect.objectContaining(origin))
  const { url, end: stopped } = await serving(["--port", "0", "--quiet", ...options], { cwd })
  const listed = await (await fetch(`${url}/tools/`, { headers: AUTHORIZED })).json()
  expect(listed).toContainEqual(expect.objectContaining(origin))
  await stopped()
})

test("what cannot run here is offered on no way: not in the list, not in OpenAPI, not over MCP, and a line says why", async () => {
  const cwd = folderWith({ "a.txt": "one" })
  const away = ["logit", "web_search", "git", "git_operations", "calendar", "blog_notion", "db_status"]
  const shown = async (more: { args?: string[]; env?: Record<string, string> } = {}) => {
    const { args = [], env = {} } = more
    const kits = ["web", "blog", "database"].flatMap((kit) => ["--kits", kit])
    const everything = ["--port", "0", "--quiet", "--mcp", ...kits, ...args]
    const { url, end: stopped, said } = await serving(everything, { cwd, env })
    const get = async (path: string) => (await fetch(`${url}${path}`, { headers: AUTHORIZED })).json()
    const listed = ((await get("/tools/")) as { name: string }[]).map(({ name }) => name)
    const described = Object.keys(((await get("/openapi.json")) as { paths: object }).paths)
    const asked = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }
    const headers = { ...AUTHORIZED, accept: "application/json, text/event-stream" }
    const overMcp = await (await fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(asked) })).text()
    const called = await fetch(`${url}/tools/logit`, {
      method: "POST",
      headers: AUTHORIZED,
      body: JSON.stringify({ operation: "generate", prompt: "x" }),
    })
    await stopped()
    return { listed, described, overMcp, called, stdout: said.stdout }
  }
  const { listed, described, overMcp, called, stdout } = await shown({ env: { PATH: cwd } })
  expect(listed).toContain("read_text_file")
  expect(overMcp).toContain('"name":"file"')
  for (const name of away) {
    expect(listed).not.toContain(name)
    expect(described.filter((path) => path.startsWith(`/tools/${name}`))).toEqual([])
    expect(overMcp).not.toContain(`"${name}"`)
    expect(stdout).toMatch(new RegExp(`^Not here: ${name} \\(`, "m"))
  }
  expect(called.status).toBe(404)
  const model = await shown({ args: ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"], env: { PATH: cwd } })
  expect(model.listed).toContain("logit")
})

test("a damaged message of a conversation is told in the log of the server, and no half of a call is shown", async () => {
  const cwd = folderWith({ "a.txt": "one", "logs/.keep": "" })
  const steps = [call("read_text_file", { path: join(cwd, "a.txt") }), { reply: "It says one." }]
  await using model = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const database = join(cwd, "logs/kept.sqlite")
  const args = ["--port", "0", "--quiet", "--model", "m", "--base-url", model.baseUrl, "--database", database]
  const { url, end: stopped } = await serving(args, { cwd })
  const ask = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
    return (await (await fetch(`${url}${path}`, { headers: AUTHORIZED, ...sent })).json()) as Record<string, unknown>
  }
  const { id } = (await ask("/conversations", { title: "x" })) as { id: string }
  await ask(`/conversations/${id}/chat`, { message: "What does a.txt say?" })
  const other = await openDatabase(database)
  await other.query("UPDATE conversation_messages SET message = ? WHERE conversation_id = ? AND position = 1", [
    "{",
    id,
  ])
  await other.close()
  const { messages } = (await ask(`/conversations/${id}`)) as { messages: { role: string }[] }
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"])
  expect(await stopped()).toContain(`Message 1 of conversation ${id} is damaged and was passed over.`)
})
