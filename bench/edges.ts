/**
 * One read of a 4 KB file by every way in: inside the process, cached, over REST, over MCP on stdio and HTTP, and
 * through a bridge from
 * REST to MCP on stdio. CPU is what this process and the server's use together, so the ways can be compared on a busy
 * machine.
 */
import { fork, spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { readFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpMCPClient, mcpOverHttp, StdioMCPClient } from "@toolwright/mcp"
import { ToolsApiClient } from "@toolwright/rest"
import { createApp, listen } from "@toolwright/server"
import { createResultCache, defineTool, executeCall, ToolRegistry, type Middleware } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { writeEdgesPage } from "./edges/page.ts"
import type { BenchmarkResult } from "./run.ts"

const CLI = join(import.meta.dirname, "../packages/cli/bin/toolwright.js")
/** The ways take turns, so that whatever else the machine does meets all of them. */
const ROUNDS = 5
/**
 * A sample is at least this many calls and milliseconds; before the first one, calls are made for some time, so that
 * all code is compiled.
 */
const CALLS = 400
const SAMPLE_MS = 300
const WARM_UP_MS = 2000
/** Another process's CPU is counted in hundredths of a second, in a stat file of its own. */
const TICK_US = 10_000

interface Way {
  name: string
  /** One read; fails when the content is not the file's. */
  read(): Promise<void>
  /** Processes of the other side, whose CPU counts too. */
  servers?: readonly number[]
  close?(): Promise<void>
}

export interface Measured {
  p50: number
  p95: number
  p99: number
  cpu: number
  throughput: number
  memory: number
}

/** Every way is used from a process of its own, so that none pays for what another has loaded. */
const WAYS = {
  in_process: inProcess,
  cached,
  node_http: bareHttp,
  rest,
  bridge,
  mcp_stdio: mcpStdio,
  mcp_http: mcpHttp,
} as const

export async function run(): Promise<BenchmarkResult> {
  const folder = mkdtempSync(join(tmpdir(), "bench-edges-"))
  const path = join(folder, "file.txt")
  writeFileSync(path, "0123456789abcde\n".repeat(256))
  const names = Object.keys(WAYS)
  const users = new Map(
    names.map((name) => [
      name,
      fork(import.meta.filename, ["--way", name, folder, path], { execArgv: ["--conditions=toolwright-source"] }),
    ]),
  )
  const samples = new Map(names.map((name) => [name, [] as Sample[]]))
  try {
    for (const user of users.values()) await answer(user)
    for (let round = 0; round < ROUNDS; round++)
      for (const [name, user] of users) samples.get(name)!.push(await answer(user, "sample"))
  } finally {
    for (const user of users.values()) if (user.connected) user.send("end")
    await Promise.all([...users.values()].map((user) => user.exitCode ?? once(user, "exit")))
    rmSync(folder, { recursive: true, force: true })
  }
  const measured = Object.fromEntries([...samples].map(([name, taken]) => [name, summary(taken)]))
  const crowd = await crowded()
  const figures: Record<string, number> = {
    mcp_call_us_with_5_tools: crowd.few,
    mcp_call_us_with_500_tools: crowd.many,
    cache_hit_rate: samples.get("cached")!.at(-1)!.hitRate,
  }
  for (const [name, { p50, p95, p99, cpu, throughput, memory }] of Object.entries(measured)) {
    Object.assign(figures, {
      [`${name}_p50_ms`]: p50,
      [`${name}_p95_ms`]: p95,
      [`${name}_p99_ms`]: p99,
      [`${name}_cpu_us`]: cpu,
      [`${name}_calls_per_s_at_32`]: throughput,
      [`${name}_memory_mb`]: memory,
    })
  }
  const cpuRatio = (of: string, to: string): number => measured[of]!.cpu / measured[to]!.cpu
  const ratios = {
    in_process_vs_mcp_http: cpuRatio("mcp_http", "in_process"),
    cached_vs_mcp_http: cpuRatio("mcp_http", "cached"),
    rest_vs_node_http: cpuRatio("node_http", "rest"),
    in_process_vs_bridge: cpuRatio("bridge", "in_process"),
    mcp_500_tools_vs_5: crowd.few / crowd.many,
  }
  if (process.argv.includes("--write-docs"))
    writeEdgesPage(measured, { ...ratios, cacheHitRate: figures.cache_hit_rate! })
  return { figures, ratios }
}

async function answer(user: ChildProcess, request?: string): Promise<Sample> {
  if (request !== undefined) user.send(request)
  const [message] = await Promise.race([
    once(user, "message"),
    once(user, "exit").then(([code]) => {
      throw new Error(`a way ended with ${code}`)
    }),
  ])
  return message as Sample
}

/** The other side of {@link run}: sets one way up, and takes a sample whenever it is asked to. */
async function beUser(name: keyof typeof WAYS, folder: string, path: string): Promise<void> {
  const way = await WAYS[name](folder, path)
  for (const until = performance.now() + WARM_UP_MS; performance.now() < until;) await way.read()
  process.on("message", async (message) => {
    if (message === "sample") process.send!(await sample(way))
    else {
      await way.close?.()
      process.disconnect()
      process.exit(0)
    }
  })
  process.send!("ready")
}

/**
 * CPU of a call over MCP, both sides in this process, to a server of five tools and to one of five hundred, in turns.
 */
async function crowded(): Promise<{ few: number; many: number }> {
  const start = async (count: number) => {
    const tools = new ToolRegistry()
    for (let index = 0; index < count; index++)
      tools.register(
        defineTool({
          name: `tool_${index}`,
          description: "One of many",
          parameters: { type: "object", properties: { text: { type: "string" } } },
          execute: () => "done",
        }),
      )
    const exported = mcpOverHttp({ tools })
    const server = await listen(
      createApp({ tools }, (app) => app.all("/mcp", (context) => exported.fetch(context.req.raw))),
      { port: 0, secured: false, drainMs: 200 },
    )
    const client = await HttpMCPClient.create({ name: "crowd", url: `${server.url}/mcp` })
    const context = { signal: new AbortController().signal, progress: () => {} }
    const call = async (): Promise<void> =>
      expectContent((await client.callTool("tool_3", { text: "x" }, context)).success)
    return {
      call,
      samples: [] as number[],
      close: async () => {
        await client.close()
        await server.close()
      },
    }
  }
  const sides = [await start(5), await start(500)]
  for (const { call } of sides) for (let index = 0; index < 300; index++) await call()
  for (let round = 0; round < 7; round++) {
    for (const { call, samples } of sides) {
      const before = cpuOf([])
      for (let index = 0; index < 200; index++) await call()
      samples.push((cpuOf([]) - before) / 200)
    }
  }
  const [few, many] = sides.map(({ samples }) => samples.toSorted((a, b) => a - b)[3]!)
  for (const { close } of sides) await close()
  return { few: few!, many: many! }
}

interface Sample {
  times: number[]
  cpu: number
  throughput: number
  /** Resident memory of both sides, in megabytes. */
  memory: number
  hitRate: number
}

async function sample({ read, servers = [] }: Way): Promise<Sample> {
  const times: number[] = []
  const before = cpuOf(servers)
  for (const until = performance.now() + SAMPLE_MS; times.length < CALLS || performance.now() < until;) {
    const started = performance.now()
    await read()
    times.push(performance.now() - started)
  }
  const cpu = (cpuOf(servers) - before) / times.length
  const started = performance.now()
  let left = CALLS
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await read()
    }),
  )
  return {
    times,
    cpu,
    throughput: CALLS / ((performance.now() - started) / 1000),
    memory: memoryOf(servers),
    hitRate: hitRate(),
  }
}

/** Times over all rounds; CPU and throughput of the median round. */
function summary(samples: Sample[]): Measured {
  const times = samples.flatMap((sample) => sample.times).toSorted((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    cpu: median(samples.map(({ cpu }) => cpu)),
    throughput: median(samples.map(({ throughput }) => throughput)),
    memory: samples.at(-1)!.memory,
  }
}

/** CPU microseconds of this process and the others. */
function cpuOf(servers: readonly number[]): number {
  const { user, system } = process.cpuUsage()
  const others = servers.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")
    return (Number(fields[11]) + Number(fields[12])) * TICK_US
  })
  return others.reduce((sum, micros) => sum + micros, user + system)
}

function memoryOf(servers: readonly number[]): number {
  const others = servers.map(
    (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024,
  )
  return others.reduce((sum, megabytes) => sum + megabytes, process.memoryUsage().rss / 1024 / 1024)
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
  return {
    name: "in_process",
    read: async () => expectContent((await registry.execute("read_text_file", { path })).success),
  }
}

const cache = createResultCache()

function hitRate(): number {
  const { hits, misses } = cache.statistics()
  return hits === 0 ? 0 : hits / (hits + misses)
}

async function cached(folder: string, path: string): Promise<Way> {
  const registry = registryOf(folder)
  const middleware: Middleware[] = [cache.middleware]
  return {
    name: "cached",
    read: async () =>
      expectContent(
        (await executeCall(registry, { name: "read_text_file", arguments: { path } }, { middleware })).success,
      ),
  }
}

/** Processes that this one has started and that live. */
function childPids(): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  return pids.filter((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")[1]) === process.pid
    } catch {
      // It ended in the meantime.
      return false
    }
  })
}

/** The floor of REST: node's own server in a process of its own, reading the file and answering JSON. */
async function bareHttp(_folder: string, path: string): Promise<Way> {
  const child = fork(import.meta.filename, ["--bare", path], { execArgv: ["--conditions=toolwright-source"] })
  const port = await new Promise<number>((resolve) => child.once("message", (message) => resolve(message as number)))
  const read = async (): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path }),
    })
    expectContent(((await response.json()) as { success: boolean }).success)
  }
  return { name: "node_http", read, servers: [child.pid!], close: async () => void child.kill() }
}

async function served(folder: string, args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    [CLI, "serve", "--port", "0", "--quiet", "--no-cache", "--read-only", folder, ...args],
    { cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
  )
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
  return {
    name: "rest",
    read: async () => expectContent((await client.executeTool("read_text_file", { path })).success),
    servers: [child.pid!],
    close: async () => void child.kill(),
  }
}

async function mcpHttp(folder: string, path: string): Promise<Way> {
  const { child, url } = await served(folder, ["--mcp"])
  const client = await HttpMCPClient.create({ name: "bench", url: `${url}/mcp` })
  const context = { signal: new AbortController().signal, progress: () => {} }
  return {
    name: "mcp_http",
    read: async () => expectContent((await client.callTool("read_text_file", { path }, context)).success),
    servers: [child.pid!],
    close: async () => {
      await client.close()
      child.kill()
    },
  }
}

async function mcpStdio(folder: string, path: string): Promise<Way> {
  const before = childPids()
  const client = await StdioMCPClient.create({
    name: "bench",
    command: process.execPath,
    args: [CLI, "mcp", "--read-only", folder],
    cwd: folder,
  })
  const servers = childPids().filter((pid) => !before.includes(pid))
  const context = { signal: new AbortController().signal, progress: () => {} }
  return {
    servers,
    name: "mcp_stdio",
    read: async () => expectContent((await client.callTool("read_text_file", { path }, context)).success),
    close: () => client.close(),
  }
}

/** REST in front of an MCP server on stdio, as a bridge between two processes would be. */
async function bridge(folder: string, path: string): Promise<Way> {
  const before = childPids()
  const upstream = await StdioMCPClient.create({
    name: "upstream",
    command: process.execPath,
    args: [CLI, "mcp", "--read-only", folder],
    cwd: folder,
  })
  const servers = childPids().filter((pid) => !before.includes(pid))
  const registry = new ToolRegistry()
  for (const tool of upstream.toToolDefinitions()) registry.register(tool)
  const server = await listen(createApp({ tools: registry }), { port: 0, secured: false })
  const client = new ToolsApiClient({ baseUrl: server.url })
  return {
    servers,
    name: "bridge",
    read: async () => expectContent((await client.executeTool("read_text_file", { path })).success),
    close: async () => {
      await server.close()
      await upstream.close()
    },
  }
}

if (process.argv[2] === "--way") {
  const [name, folder, path] = process.argv.slice(3) as [keyof typeof WAYS, string, string]
  await beUser(name, folder, path)
} else if (process.argv[2] === "--bare") {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", async () => {
      const { path } = JSON.parse(Buffer.concat(pieces).toString()) as { path: string }
      response.setHeader("content-type", "application/json")
      response.end(
        JSON.stringify({
          success: true,
          result: { path, content: await readFile(path, "utf8") },
          error: null,
          metadata: {},
          execution_time_ms: 0,
        }),
      )
    })
  })
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
}
