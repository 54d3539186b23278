/**
 * A crowd in front of one server: 1, 32, 256 and 1,000 callers, a tenth of whom read slowly and a twentieth not at all,
 * beside the same crowd in front of bare `node:http`. `--seconds=600` makes each crowd stay ten minutes,
 * `--crowds=256,1000` chooses among them.
 */
import { fork, spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { Agent, createServer, request } from "node:http"
import { connect, type AddressInfo, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { BenchmarkResult } from "./run.ts"

const CLI = join(import.meta.dirname, "../packages/cli/bin/toolwright.js")
const CROWDS = /--crowds=([\d,]+)/.exec(process.argv.join(" "))?.[1]?.split(",").map(Number) ?? [1, 32, 256, 1000]
/** Statuses that say what is the matter, and when to come again. */
const CLEAR = new Set([200, 429, 503])

interface Server {
  child: ChildProcess
  port: number
  path: string
}

interface Taken {
  times: number[]
  statuses: Map<number, number>
  errors: number
  /** What went wrong, of answers that did not come, and how often. */
  reasons: Map<string, number>
  /** Kept connections that the server had closed as a call came: every client calls again then, on a new one. */
  renewed: number
  /** Resident memory of the server in megabytes, over the time. */
  memory: number[]
}

export async function run(): Promise<BenchmarkResult> {
  const seconds = Number(/--seconds=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 3)
  const folder = mkdtempSync(join(tmpdir(), "load-"))
  const file = join(folder, "file.txt")
  writeFileSync(file, "a line of the file\n".repeat(500))
  const bare = await bareServer(file)
  const ours = await ourServer(folder)
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  try {
    for (const callers of CROWDS) {
      const [floor, taken] = [await crowd(bare, callers, seconds, file), await crowd(ours, callers, seconds, file)]
      const { statuses, errors, memory } = taken
      const refused = [...statuses].filter(([status]) => status !== 200).reduce((sum, [, count]) => sum + count, 0)
      const unclear = [...statuses]
        .filter(([status]) => !CLEAR.has(status))
        .reduce((sum, [, count]) => sum + count, errors)
      const reasons = JSON.stringify([...taken.reasons, ...statuses])
      if (unclear > 0)
        throw new Error(
          `${callers} callers: ${unclear} answers without a clear status (${reasons}); so far ` +
            `${JSON.stringify(figures)}`,
        )
      Object.assign(figures, {
        [`calls_per_s_${callers}`]: (statuses.get(200) ?? 0) / seconds,
        [`refused_share_${callers}`]: refused / Math.max(1, refused + (statuses.get(200) ?? 0)),
        [`p99_ms_${callers}`]: quantile(taken.times, 0.99),
        [`p99_node_http_ms_${callers}`]: quantile(floor.times, 0.99),
        [`memory_mb_${callers}`]: Math.max(...memory),
        [`memory_growth_mb_${callers}`]: growth(memory),
        [`connections_renewed_${callers}`]: taken.renewed,
      })
      ratios[`p99_vs_node_http_${callers}`] = quantile(floor.times, 0.99) / quantile(taken.times, 0.99)
    }
  } finally {
    for (const { child } of [ours, bare]) child.kill("SIGINT")
    await Promise.all([ours, bare].map(({ child }) => child.exitCode ?? once(child, "exit")))
    rmSync(folder, { recursive: true, force: true })
  }
  figures.processes_left = [ours, bare].filter(({ child }) => isAlive(child.pid!)).length
  return { figures, ratios }
}

/** All callers of a crowd at once, for so long; each waits for its answer before it calls again. */
async function crowd(server: Server, callers: number, seconds: number, file: string): Promise<Taken> {
  const taken: Taken = { times: [], statuses: new Map(), errors: 0, reasons: new Map(), renewed: 0, memory: [] }
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const until = performance.now() + seconds * 1000
  const silent = callers < 20 ? 0 : Math.ceil(callers / 20)
  const slow = callers < 20 ? 0 : Math.ceil(callers / 10)
  const body = JSON.stringify({ path: file })
  const watch = setInterval(() => taken.memory.push(memoryOf(server.child.pid!)), 100)
  const sockets = Array.from({ length: silent }, () => silentCaller(server, body))
  const readers = Array.from({ length: callers - silent }, async (_, index) => {
    while (performance.now() < until) {
      const started = performance.now()
      const { status, retryAfter } = await call(server, { body, agent, delayMs: index < slow ? 50 : 0, taken }).catch(
        (thrown: Error) => {
          const reason = `${thrown.message} after ${Math.round(performance.now() - started)} ms`.replace(
            /\d{2} ms$/,
            "00 ms",
          )
          taken.reasons.set(reason, (taken.reasons.get(reason) ?? 0) + 1)
          return { status: 0, retryAfter: 0 }
        },
      )
      if (status === 0) taken.errors++
      else taken.statuses.set(status, (taken.statuses.get(status) ?? 0) + 1)
      if (status === 200 && index >= slow) taken.times.push(performance.now() - started)
      if (retryAfter > 0) await pause(Math.min(retryAfter * 1000, Math.max(0, until - performance.now())))
    }
  })
  await Promise.all(readers)
  clearInterval(watch)
  for (const socket of sockets) socket.destroy()
  agent.destroy()
  return taken
}

interface Asked {
  body: string
  agent: Agent
  delayMs: number
  taken: Taken
}

interface Answered {
  status: number
  retryAfter: number
}

function call({ port, path }: Server, asked: Asked): Promise<Answered> {
  const { body, agent, delayMs, taken } = asked
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const outgoing = request({ port, path, method: "POST", agent, headers }, (response) => {
      const finish = (): void => {
        response.resume()
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, retryAfter: Number(response.headers["retry-after"] ?? 0) }),
        )
      }
      if (delayMs === 0) finish()
      else setTimeout(finish, delayMs)
      response.once("error", reject)
    })
    outgoing.once("error", (thrown: NodeJS.ErrnoException) => {
      if (!outgoing.reusedSocket || thrown.code !== "ECONNRESET") return reject(thrown)
      taken.renewed++
      call({ port, path } as Server, asked).then(resolve, reject)
    })
    outgoing.end(body)
  })
}

/** Asks for as much as fits, and reads nothing of it. */
function silentCaller({ port, path }: Server, body: string): Socket {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => {})
  socket.pause()
  const head =
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ` +
    `${body.length}\r\n\r\n`
  socket.write((head + body).repeat(10))
  return socket
}

async function ourServer(folder: string): Promise<Server> {
  const args = [CLI, "serve", "--port", "0", "--quiet", "--read-only", folder]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
  let text = ""
  for await (const piece of child.stdout) {
    text += String(piece)
    const port = /at http:\/\/127\.0\.0\.1:(\d+)\n/.exec(text)?.[1]
    if (port !== undefined) return { child, port: Number(port), path: "/tools/read_text_file" }
  }
  throw new Error("the server did not start")
}

async function bareServer(file: string): Promise<Server> {
  const child = fork(import.meta.filename, ["--bare", file], { execArgv: ["--conditions=toolwright-source"] })
  const [port] = (await once(child, "message")) as [number]
  return { child, port, path: "/" }
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024
}

/** How much more the last quarter of the time took than the second one: the first is for warming up. */
function growth(memory: readonly number[]): number {
  const quarter = Math.max(1, Math.floor(memory.length / 4))
  const mean = (part: readonly number[]): number =>
    part.reduce((sum, value) => sum + value, 0) / Math.max(1, part.length)
  return mean(memory.slice(-quarter)) - mean(memory.slice(quarter, 2 * quarter))
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

if (process.argv[2] === "--bare") {
  const file = process.argv[3]!
  const server = createServer((incoming, response) => {
    incoming.resume()
    incoming.on("end", async () => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ success: true, result: { content: await readFile(file, "utf8") } }))
    })
  })
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
}
