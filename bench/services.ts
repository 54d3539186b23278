/**
 * Two services that work together, started by the command itself: a tools service, and a reasoning service that calls
 * its tools over REST while it carries out a task. Latencies of a read at several numbers of callers, directly and
 * through the reasoning service; of a task of four rounds with three calls from the request to its answer; of one hop
 * between the two, which is a bare exchange over the same loopback (no containers, so no bridge of theirs); the cache's
 * hits and the memory of both. The model is a screenplay on a server of its own: its time is not in question.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { readFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import type { BenchmarkResult } from "./run.ts"

const COMMAND = fileURLToPath(new URL("../packages/cli/src/main.ts", import.meta.url))
const TOKEN = "a-token-for-the-bench"
const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
const CALLERS = [1, 8, 32]
const READS = Number(process.env["BENCH_READS"] ?? 640)
const TASKS = Number(process.env["BENCH_TASKS"] ?? 40)
const WARM_UP = 100

interface Service {
  readonly url: string
  readonly child: ChildProcess
}

export async function run(): Promise<BenchmarkResult> {
  const folder = mkdtempSync(join(tmpdir(), "bench-services-"))
  const path = join(folder, "repo", "file.txt")
  for (const name of ["repo", "own"]) mkdirSync(join(folder, name))
  writeFileSync(path, "0123456789abcde\n".repeat(256))
  const call = (head: number) => ({ reply: { calls: [{ name: "read_text_file", arguments: { path, head } }] } })
  const rounds = [call(3), call(9), call(27), { reply: "It says digits." }]
  const steps = Array.from({ length: TASKS + WARM_UP / 10 + 16 }, () => rounds).flat()
  const model = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const started: Service[] = []
  const bare = createServer((request, response) => void request.resume().on("end", () => response.end("{}")))
  await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve))
  try {
    const tools = await start(join(folder, "repo"), ["--root", join(folder, "repo")], {})
    started.push(tools)
    const given = ["--no-builtins", "--model", "m", "--base-url", model.baseUrl]
    const reasoning = await start(join(folder, "own"), given, {
      TOOLS_API_URL: `tools-api=${tools.url}`,
      TOOLS_API_TOKEN: TOKEN,
    })
    started.push(reasoning)
    return await measured({ tools, reasoning, path, hop: `http://127.0.0.1:${(bare.address() as AddressInfo).port}/` })
  } finally {
    for (const { child } of started) child.kill("SIGTERM")
    await Promise.all(started.map(({ child }) => child.exitCode ?? new Promise((resolve) => child.on("exit", resolve))))
    bare.close()
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Parts {
  readonly tools: Service
  readonly reasoning: Service
  readonly path: string
  /** Something that answers at once. */
  readonly hop: string
}

async function measured({ tools, reasoning, path, hop }: Parts): Promise<BenchmarkResult> {
  let head = 0
  // Another number of lines each time, so that nothing is answered from a cache.
  const fresh = () => ({ path, head: (head++ % 250) + 1, tail: undefined })
  const read = (service: Service, args: () => object) => () =>
    answered(`${service.url}/tools/read_text_file`, args()).then((text) => must(text.includes('"success":true'), text))
  const same = { path, head: 5 }
  const ask = () =>
    answered(`${reasoning.url}/v1/chat/completions`, {
      model: "toolwright/assistant",
      messages: [{ role: "user", content: "What does the file say?" }],
    }).then((text) => must(text.includes("It says digits."), text))
  const figures: Record<string, number> = {}
  const note = (name: string, times: readonly number[]): void => {
    for (const [word, share] of [
      ["p50", 0.5],
      ["p95", 0.95],
      ["p99", 0.99],
    ] as const)
      figures[`${name}_${word}_ms`] = at(times, share)
  }
  for (const way of [read(tools, fresh), read(reasoning, fresh)]) await timed(way, WARM_UP, 8)
  for (const callers of CALLERS) {
    note(`hop_at_${callers}`, await timed(() => answered(hop, same), READS, callers))
    note(`tool_at_${callers}`, await timed(read(tools, fresh), READS, callers))
    note(
      `tool_through_reasoning_at_${callers}`,
      await timed(
        read(reasoning, () => same),
        READS,
        callers,
      ),
    )
  }
  await timed(ask, WARM_UP / 10, 1)
  note("task_at_1", await timed(ask, TASKS / 2, 1))
  note("task_at_4", await timed(ask, TASKS / 2, 4))
  const metrics = await (await fetch(`${reasoning.url}/metrics`, { headers: HEADERS })).text()
  const counted = (name: string): number =>
    Number(new RegExp(`^toolwright_cache_${name}_total (\\d+)`, "m").exec(metrics)?.[1])
  figures["cache_hits"] = counted("hits")
  figures["tools_memory_mb"] = memoryOf(tools)
  figures["reasoning_memory_mb"] = memoryOf(reasoning)
  const ratio = (one: string, other: string): number => figures[`${one}_p50_ms`]! / figures[`${other}_p50_ms`]!
  return {
    figures,
    ratios: {
      tool_vs_hop: ratio("hop_at_1", "tool_at_1"),
      tool_at_32_vs_hop_at_32: ratio("hop_at_32", "tool_at_32"),
      cached_through_reasoning_vs_tool: ratio("tool_at_1", "tool_through_reasoning_at_1"),
    },
  }
}

/** A service of this clone, once it answers. */
function start(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Service> {
  const { PATH, HOME } = process.env
  const child = spawn(
    process.execPath,
    ["--conditions=toolwright-source", COMMAND, "serve", "--port", "0", "--quiet", ...args],
    { cwd, env: { PATH, HOME, TOOLWRIGHT_TOKEN: TOKEN, ...env }, stdio: ["ignore", "pipe", "ignore"] },
  )
  return new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`a service ended with ${code}`)))
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /at (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1]
      if (url !== undefined) resolve({ url, child })
    })
  })
}

async function answered(url: string, body: object): Promise<string> {
  const response = await fetch(url, { method: "POST", headers: HEADERS, body: JSON.stringify(body) })
  return response.text()
}

function must(holds: boolean, text: string): void {
  if (!holds) throw new Error(`a service answered: ${text.slice(0, 300)}`)
}

/** How long each of some requests takes, in milliseconds, with so many under way. */
async function timed(request: () => Promise<unknown>, count: number, callers: number): Promise<number[]> {
  const times: number[] = []
  let left = count
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const started = performance.now()
      await request()
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return times
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!
}

/** What a process holds, in megabytes; where the system does not tell, nothing. */
function memoryOf({ child }: Service): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
