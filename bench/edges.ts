/**
 * One read of a 4 KB file by every way in: inside the process, cached, over REST, over MCP on stdio and HTTP, and through a bridge from
 * REST to MCP on stdio. CPU is what this process and the server's use together, so the ways can be compared on a busy machine.
 */
import { fork, spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { readFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpMCPClient, StdioMCPClient } from "@toolwright/mcp"
import { createApp, listen, ToolsApiClient } from "@toolwright/server"
import { createResultCache, executeCall, ToolRegistry, type Middleware } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import type { BenchmarkResult } from "./run.ts"

const CLI = join(import.meta.dirname, "../packages/cli/bin/toolwright.js")
const CALLS = 1500
const WARM_UP = 300

interface Way {
  name: string
  /** One read; fails when the content is not the file's. */
  read(): Promise<void>
  /** Process of the other side, whose CPU counts too. */
  server?: ChildProcess
  close?(): Promise<void>
}

interface Measured {
  p50: number
  p95: number
  p99: number
  cpu: number
  throughput: number
}

export async function run(): Promise<BenchmarkResult> {
  const folder = mkdtempSync(join(tmpdir(), "bench-edges-"))
  const path = join(folder, "file.txt")
  writeFileSync(path, "0123456789abcde\n".repeat(256))
  const ways = [await inProcess(folder, path), await cached(folder, path), await bareHttp(path), await rest(folder, path), await bridge(folder, path), await mcpStdio(folder, path), await mcpHttp(folder, path)]
  const measured: Record<string, Measured> = {}
  try {
    for (const way of ways) measured[way.name] = await measure(way)
  } finally {
    for (const way of ways) await way.close?.()
    rmSync(folder, { recursive: true, force: true })
  }
  const figures: Record<string, number> = { memory_mb: process.memoryUsage().rss / 1024 / 1024 }
  for (const [name, { p50, p95, p99, cpu, throughput }] of Object.entries(measured)) {
    Object.assign(figures, { [`${name}_p50_ms`]: p50, [`${name}_p95_ms`]: p95, [`${name}_p99_ms`]: p99, [`${name}_cpu_us`]: cpu, [`${name}_calls_per_s_at_32`]: throughput })
  }
  const cpuRatio = (of: string, to: string): number => measured[of]!.cpu / measured[to]!.cpu
  return {
    figures,
    ratios: {
      in_process_vs_mcp_http: cpuRatio("mcp_http", "in_process"),
      cached_vs_mcp_http: cpuRatio("mcp_http", "cached"),
      rest_vs_node_http: cpuRatio("node_http", "rest"),
      in_process_vs_bridge: cpuRatio("bridge", "in_process"),
    },
  }
}

async function measure({ read, server }: Way): Promise<Measured> {
  for (let count = 0; count < WARM_UP; count++) await read()
  const times: number[] = []
  const before = cpuOf(server)
  for (let count = 0; count < CALLS; count++) {
    const started = performance.now()
    await read()
    times.push(performance.now() - started)
  }
  const cpu = (cpuOf(server) - before) / CALLS
  const started = performance.now()
  let left = CALLS
  await Promise.all(Array.from({ length: 32 }, async () => { while (left-- > 0) await read() }))
  const throughput = CALLS / ((performance.now() - started) / 1000)
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), cpu, throughput }
}

/** CPU microseconds of this process and the other one. Linux counts in hundredths of a second there. */
function cpuOf(server: ChildProcess | undefined): number {
  const { user, system } = process.cpuUsage()
  if (server?.pid === undefined) return user + system
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")
  return user + system + (Number(fields[11]) + Number(fields[12])) * 10_000
}

function registryOf(folder: string): ToolRegistry {
  const registry = new ToolRegistry()
  for (const tool of createBuiltinTools({ roots: [{ path: folder, access: "read-only" }] })) registry.register(tool)
  return registry
}

function expectContent(success: boolean): void {
  if (!success) throw new Error("the read failed")
}

async function inProcess(folder: string, path: string): Promise<Way> {
  const registry = registryOf(folder)
  return { name: "in_process", read: async () => expectContent((await registry.execute("read_text_file", { path })).success) }
}

async function cached(folder: string, path: string): Promise<Way> {
  const registry = registryOf(folder)
  const middleware: Middleware[] = [createResultCache().middleware]
  return { name: "cached", read: async () => expectContent((await executeCall(registry, { name: "read_text_file", args: { path } }, { middleware })).success) }
}

/** The floor of REST: node's own server in a process of its own, reading the file and answering JSON. */
async function bareHttp(path: string): Promise<Way> {
  const child = fork(import.meta.filename, ["--bare", path], { execArgv: ["--conditions=toolwright-source"] })
  const port = await new Promise<number>((resolve) => child.once("message", (message) => resolve(message as number)))
  const read = async (): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ path }) })
    expectContent(((await response.json()) as { success: boolean }).success)
  }
  return { name: "node_http", read, server: child, close: async () => void child.kill() }
}

async function served(folder: string, args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--quiet", "--no-cache", "--read-only", folder, ...args], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] })
  const url = await new Promise<string>((resolve) => {
    let text = ""
    child.stdout.on("data", (data) => {
      text += String(data)
      const match = /at (http:\S+)\n/.exec(text)
      if (match !== null) resolve(match[1]!)
    })
  })
  return { child, url }
}

async function rest(folder: string, path: string): Promise<Way> {
  const { child, url } = await served(folder, [])
  const client = new ToolsApiClient({ baseUrl: url })
  return { name: "rest", read: async () => expectContent((await client.executeTool("read_text_file", { path })).success), server: child, close: async () => void child.kill() }
}

async function mcpHttp(folder: string, path: string): Promise<Way> {
  const { child, url } = await served(folder, ["--mcp"])
  const client = await HttpMCPClient.create({ name: "bench", url: `${url}/mcp` })
  const context = { signal: new AbortController().signal, progress: () => {} }
  return { name: "mcp_http", read: async () => expectContent((await client.callTool("read_text_file", { path }, context)).success), server: child, close: async () => { await client.close(); child.kill() } }
}

async function mcpStdio(folder: string, path: string): Promise<Way> {
  const client = await StdioMCPClient.create({ name: "bench", command: process.execPath, args: [CLI, "mcp", "--read-only", folder], cwd: folder })
  const context = { signal: new AbortController().signal, progress: () => {} }
  return { name: "mcp_stdio", read: async () => expectContent((await client.callTool("read_text_file", { path }, context)).success), close: () => client.close() }
}

/** REST in front of an MCP server on stdio, as a bridge between two processes would be. */
async function bridge(folder: string, path: string): Promise<Way> {
  const upstream = await StdioMCPClient.create({ name: "upstream", command: process.execPath, args: [CLI, "mcp", "--read-only", folder], cwd: folder })
  const registry = new ToolRegistry()
  for (const tool of upstream.toToolDefinitions()) registry.register(tool)
  const server = await listen(createApp({ tools: registry }), { port: 0, secured: false })
  const client = new ToolsApiClient({ baseUrl: server.url })
  return { name: "bridge", read: async () => expectContent((await client.executeTool("read_text_file", { path })).success), close: async () => { await server.close(); await upstream.close() } }
}

if (process.argv[2] === "--bare") {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", async () => {
      const { path } = JSON.parse(Buffer.concat(pieces).toString()) as { path: string }
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ success: true, result: { path, content: await readFile(path, "utf8") }, error: null, metadata: {}, execution_time_ms: 0 }))
    })
  })
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
}
