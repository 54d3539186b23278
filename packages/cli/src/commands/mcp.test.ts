import { once } from "node:events"
import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { HttpMCPClient, StdioMCPClient } from "@toolwright/mcp"
import { expect, test } from "vitest"
import { BUILT, folderWith, startCli, stateOfTests } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const USERS = fileURLToPath(new URL("../../../mcp/src/testing/users-server.ts", import.meta.url))
const usersServer = `users=${process.execPath} --conditions=toolwright-source ${USERS}`
/** Longer than a busy machine takes to start a server. */
const PATIENCE_MS = 120_000
const context = { signal: new AbortController().signal, progress: () => {} }

test("an MCP host gets the tools of a folder, and those of another server, over stdio", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  await using host = await StdioMCPClient.create({
    name: "toolwright",
    command: process.execPath,
    env: stateOfTests(),
    args: [BUILT, "mcp", "--read-only", cwd, "--without-tools", "web_search", "--mcp-server", usersServer],
    cwd,
    connectTimeoutMs: PATIENCE_MS,
  })
  const names = host.getTools().map((tool) => tool.function.name)
  // Of a folder that is read-only only actions that read are offered.
  expect(names).toContain("file_read")
  // What is not listed is called by its name all the same.
  expect(names).not.toContain("read_text_file")
  expect(names).toContain("web_search")
  expect((await host.callTool("read_text_file", { path: join(cwd, "a.txt") }, context)).data).toMatchObject({
    content: "one\n",
  })
  expect(await host.callTool("picture", {}, context)).toMatchObject({
    data: { width: 1 },
    metadata: { mcpContent: [{ type: "text" }, { type: "image", data: "AAAA" }] },
  })
  expect((await host.callTool("write_file", { path: join(cwd, "b.txt"), content: "x" }, context)).success).toBe(false)
})

test("lists the tools of the bundles that are asked for, and no others", async () => {
  const cwd = folderWith({})
  const listed = async (...args: string[]): Promise<string[]> => {
    const start = {
      name: "toolwright",
      command: process.execPath,
      env: stateOfTests(),
      args: [BUILT, "mcp", ...args],
      cwd,
      connectTimeoutMs: PATIENCE_MS,
    }
    await using host = await StdioMCPClient.create(start)
    return host.getTools().map((tool) => tool.function.name)
  }
  expect(await listed()).toEqual(await listed("--bundle", "coding"))
  expect(await listed("--bundle", "agents")).toEqual(["agents"])
  expect((await listed("--bundle", "all")).length).toBeGreaterThan((await listed("--bundle", "reading")).length)
})

test("the same over HTTP, beside REST", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const { stop, until } = startHere(["serve", "--mcp", "--port", "0", "--quiet"], { cwd })
  const [, url] = await until(/(http:\S+\/mcp) +for MCP hosts/)
  const host = await HttpMCPClient.create({ name: "toolwright", url: url! })
  expect((await host.callTool("read_text_file", { path: "a.txt" }, context)).data).toMatchObject({ content: "one\n" })
  // Without a token it offers what reads, as REST does.
  expect((await host.callTool("write_file", { path: "b.txt", content: "x" }, context)).success).toBe(false)
  expect(existsSync(join(cwd, "b.txt"))).toBe(false)
  expect((await fetch(url!, { method: "POST", headers: { origin: "https://evil.example" } })).status).toBe(403)
  await host.close()
  await stop()
})

test("a tool that is denied runs over no surface", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const { stop, until } = startHere(["serve", "--mcp", "--port", "0", "--quiet", "--deny-tool", "read_*"], {
    cwd,
  })
  const [, url] = await until(/(http:\S+)\/mcp +for MCP hosts/)
  const headers = { "content-type": "application/json" }
  const answer = await fetch(`${url}/tools/read_text_file`, {
    method: "POST",
    headers,
    body: JSON.stringify({ path: "a.txt" }),
  })
  expect(await answer.json()).toMatchObject({ success: false, error: "'read_text_file' is not permitted here." })
  const overHttp = await HttpMCPClient.create({ name: "http", url: `${url}/mcp` })
  await using overStdio = await StdioMCPClient.create({
    name: "stdio",
    command: process.execPath,
    env: stateOfTests(),
    args: [BUILT, "mcp", "--deny-tool", "read_*"],
    cwd,
    connectTimeoutMs: PATIENCE_MS,
  })
  for (const host of [overHttp, overStdio]) {
    const refused = await host.callTool("read_text_file", { path: "a.txt" }, context)
    expect([refused.success, refused.error?.message]).toEqual([
      false,
      expect.stringContaining("'read_text_file' is not permitted here."),
    ])
    expect((await host.callTool("echo", { message: "hi" }, context)).success).toBe(true)
  }
  await overHttp.close()
  await stop()
})

test("a server that must be there and is not stops the start; one that need not be is told as unavailable", async () => {
  const cwd = folderWith({
    "servers.json": JSON.stringify({
      mcpServers: { dead: { command: "/nonexistent/server" }, off: { url: "http://127.0.0.1:1/mcp", enabled: false } },
    }),
  })
  const required = await here(["mcp", "--mcp-server", "http://127.0.0.1:1/mcp"], { cwd })
  expect([required.code, required.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining("http://127.0.0.1:1/mcp"),
  ])
  const optional = await here(["run", "x", "--mcp-config", "servers.json", "--screenplay", "play.yaml", "--json"], {
    cwd: folderWith({
      "servers.json": JSON.stringify({ mcpServers: { dead: { command: "/nonexistent/server" } } }),
      "play.yaml": "steps:\n  - reply: done\n",
    }),
  })
  expect(optional.stdout).toMatch(/"unavailable":\[[^\]]*"dead"/)
  const { stop, until } = startHere(["serve", "--port", "0", "--mcp-config", "servers.json"], { cwd })
  await until(/at (http:\S+)\s/)
  expect((await stop()).stderr).toContain("The MCP server 'dead' is not available")
})

test("nothing but the protocol stands on its output, whatever tools and configuration say", async () => {
  const cwd = folderWith({ "toolwright.yaml": "model: { baseUrl: http://127.0.0.1:9 }\n" })
  const request = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id, method, params })
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } }
  const { child, until, finished } = startCli(["mcp"], {
    cwd,
    keepOpen: true,
    stdin: [
      request(1, "initialize", hello),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      "this is no message",
      request(2, "tools/call", { name: "bash", arguments: { command: "echo loud; echo louder >&2; false" } }),
      request(3, "tools/call", { name: "no_such_tool", arguments: {} }),
      "",
    ].join("\n"),
  })
  await until(/"id":2\b[^]*\n/u)
  child.stdin?.end()
  const { stdout, stderr } = await finished
  // A host passes on few variables: where trust was looked for is said with what to do.
  expect(stderr).toMatch(/is not trusted, so it may not: .*\nWhat you trust is kept in \/.*XDG_STATE_HOME/u)
  const lines = stdout.split("\n").filter((line) => line !== "")
  expect(lines.length).toBeGreaterThanOrEqual(2)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
})

test.each([
  ["closes its end", (child: ChildProcess) => void child.stdin!.destroy(), 0],
  ["sends SIGTERM", (child: ChildProcess) => void child.kill("SIGTERM"), 130],
])("a host that reads nothing of what it asked for is left when it %s", async (_, leave, code) => {
  const cwd = folderWith({ "a.txt": "a line of it\n".repeat(4000) })
  const message = (more: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...more })}\n`
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } }
  const { child, until } = startCli(["mcp", "--read-only", cwd], {
    cwd,
    keepOpen: true,
    stdin: message({ id: 0, method: "initialize", params: hello }),
  })
  const exited = once(child, "exit")
  await until(/"id":0\b[^]*\n/u)
  child.stdout!.pause()
  child.stdin!.write(message({ method: "notifications/initialized" }))
  const params = { name: "read_text_file", arguments: { path: "a.txt" }, _meta: { "t/padding": "p".repeat(8000) } }
  for (let id = 1; id <= 600; id++) child.stdin!.write(message({ id, method: "tools/call", params }))
  // What it takes no more of waits here.
  let before = -1
  const isHeld = (): boolean => before === (before = child.stdin!.writableLength)
  await expect.poll(isHeld, { interval: 400, timeout: PATIENCE_MS }).toBe(true)
  expect(before).toBeGreaterThan(1_000_000)
  leave(child)
  expect((await exited)[0]).toBe(code)
})
