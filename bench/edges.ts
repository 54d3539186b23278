/**
 * One read of a 4 KB file by every way in: inside the process, cached, over REST, over MCP on stdio and HTTP, and
 * through a bridge from REST to MCP on stdio. CPU is what this process and the server's use together, so the ways can
 * be compared on a busy machine.
 */
import { fork, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crowded } from "./edges/crowd.ts"
import { writeEdgesPage } from "./edges/page.ts"
import { sample, summary, type Sample } from "./edges/sample.ts"
import { WAYS } from "./edges/ways.ts"
import type { BenchmarkResult } from "./run.ts"

/** The ways take turns, so that whatever else the machine does meets all of them. */
const ROUNDS = 5
/** Before the first sample calls are made for some time, so that all code is compiled. */
const WARM_UP_MS = 2000

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

if (process.argv[2] === "--way") {
  const [name, folder, path] = process.argv.slice(3) as [keyof typeof WAYS, string, string]
  await beUser(name, folder, path)
}
