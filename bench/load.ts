/**
 * A crowd in front of one server: 1, 32, 256 and 1,000 callers, beside the same crowd in front of bare `node:http`. Of
 * twenty or more, a fifth is a burden: some send their body by the byte, some take a long answer piece by piece, some ask
 * and read nothing, some open a connection and say nothing, and some keep one open after their first answer. Beside
 * `ours` somebody has git run all the time. `--seconds=150` makes each crowd stay so long, ten minutes in all;
 * `--crowds=256,1000` chooses among them.
 */
import { fork, spawn, spawnSync, type ChildProcess } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { Agent, createServer, request, type ClientRequest } from "node:http"
import { connect, type AddressInfo, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { BenchmarkResult } from "./run.ts"

const CLI = join(import.meta.dirname, "../packages/cli/bin/toolwright.js")
const CROWDS = /--crowds=([\d,]+)/.exec(process.argv.join(" "))?.[1]?.split(",").map(Number) ?? [1, 32, 256, 1000]
/** Statuses that say what is the matter, and when to come again. */
const CLEAR = new Set([200, 429, 503])

/** Bare `node:http` has the same crowd, and shows within this time what it takes. */
const FLOOR_SECONDS = 20
/** By this variable the processes are found that our server has started, and what these have. */
const MARK = `TOOLWRIGHT_LOAD=${randomUUID()}`

interface Server {
  child: ChildProcess
  port: number
  path: string
  /** A tool that starts processes, where there is one. */
  programs?: string
}

/** What came of the calls of one kind of callers. */
interface Taken {
  times: number[]
  statuses: Map<number, number>
  /** What went wrong, of answers that did not come, and how often. */
  reasons: Map<string, number>
}

interface Crowd {
  /** Those who wait for nothing but their answer. */
  plain: Taken
  /** Those who send by the byte, or take piece by piece. */
  slow: Taken
  /** Calls of the tool that starts processes. */
  programs: Taken
  /** Kept connections that the server had closed as a call came: every client calls again then, on a new one. */
  renewed: number
  /** Connections of those who say or read nothing that the server closed; they come again. */
  shown: number
  /** Resident memory of the server in megabytes, ten times a second. */
  memory: number[]
}

interface Files {
  small: string
  large: string
}

export async function run(): Promise<BenchmarkResult> {
  const seconds = Number(/--seconds=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 3)
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "load-")))
  const files = { small: join(folder, "file.txt"), large: join(folder, "large.txt") }
  writeFileSync(files.small, "a line of the file\n".repeat(500))
  writeFileSync(files.large, "a line of the file\n".repeat(30_000))
  spawnSync("git", ["init", "--quiet", folder])
  const bare = await bareServer()
  const ours = await ourServer(folder)
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  try {
    for (const callers of CROWDS) {
      const floor = await crowd(bare, { callers, seconds: Math.min(seconds, FLOOR_SECONDS), files })
      const taken = await crowd(ours, { callers, seconds, files })
      Object.assign(figures, figuresOf(taken, floor, { callers, seconds }))
      figures[`unclear_${callers}`] = unclearOf(callers, taken)
      const [theirs, own] = [quantile(floor.plain.times, 0.99), quantile(taken.plain.times, 0.99)]
      ratios[`p99_vs_node_http_${callers}`] = theirs / own
      process.stderr.write(`${JSON.stringify(figures)}\n`)
    }
  } finally {
    for (const { child } of [ours, bare]) child.kill("SIGINT")
    await Promise.all([ours, bare].map(({ child }) => child.exitCode ?? once(child, "exit")))
    rmSync(folder, { recursive: true, force: true })
  }
  figures.processes_left = startedHere(folder).length
  return { figures, ratios }
}

function figuresOf(taken: Crowd, floor: Crowd, { callers, seconds }: { callers: number; seconds: number }) {
  const { plain, slow, programs, memory } = taken
  const kinds = { plain, slow, programs }
  const counts = Object.entries(kinds).flatMap(([kind, { statuses }]) =>
    [...statuses].map(([status, count]) => [`status_${status}_${kind}_${callers}`, count] as const),
  )
  const answered = plain.statuses.get(200) ?? 0
  const calls = [...plain.statuses.values()].reduce((sum, count) => sum + count, 0)
  return {
    ...Object.fromEntries(counts),
    [`calls_per_s_${callers}`]: answered / seconds,
    [`refused_share_${callers}`]: (calls - answered) / Math.max(1, calls),
    [`p99_ms_${callers}`]: quantile(plain.times, 0.99),
    [`p99_node_http_ms_${callers}`]: quantile(floor.plain.times, 0.99),
    [`p99_slow_ms_${callers}`]: quantile(slow.times, 0.99),
    [`memory_mb_${callers}`]: Math.max(...memory),
    [`memory_growth_mb_${callers}`]: growth(memory),
    [`memory_slope_mb_per_min_${callers}`]: slope(memory),
    [`connections_renewed_${callers}`]: taken.renewed,
    [`connections_ended_${callers}`]: taken.shown,
  }
}

/** How many answers did not come, or had a status that does not say what is the matter; each kind is told at once. */
function unclearOf(callers: number, { plain, slow, programs }: Crowd): number {
  let unclear = 0
  for (const [kind, { statuses, reasons }] of Object.entries({ plain, slow, programs })) {
    const found = [...[...statuses].filter(([status]) => !CLEAR.has(status)), ...reasons]
    if (found.length === 0) continue
    unclear += found.reduce((sum, [, count]) => sum + count, 0)
    process.stderr.write(`${callers} callers, ${kind}: not clear ${JSON.stringify(found.slice(0, 20))}\n`)
    process.exitCode = 1
  }
  return unclear
}

const nothingTaken = (): Taken => ({ times: [], statuses: new Map(), reasons: new Map() })

/** All callers of a crowd at once, for so long; each waits for its answer before it calls again. */
async function crowd(
  server: Server,
  { callers, seconds, files }: { callers: number; seconds: number; files: Files },
): Promise<Crowd> {
  const taken: Crowd = {
    plain: nothingTaken(),
    slow: nothingTaken(),
    programs: nothingTaken(),
    renewed: 0,
    shown: 0,
    memory: [],
  }
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const until = performance.now() + seconds * 1000
  const each = callers < 20 ? 0 : Math.ceil(callers / 25)
  const small = JSON.stringify({ path: files.small })
  const large = JSON.stringify({ path: files.large })
  const watch = setInterval(() => taken.memory.push(memoryOf(server.child.pid!)), 100)
  const silent = Array.from({ length: 3 * each }, (_, index) =>
    silentCaller(server, ["", headOf(server, small), headOf(server, small).repeat(10)][index % 3]!, {
      reads: index % 3 === 1,
      until,
      onEnd: () => taken.shown++,
    }),
  )
  const asked = (into: Taken, more: Partial<Asked> = {}): Asked => ({ body: small, agent, taken, into, ...more })
  const callersOf = (count: number, how: () => Asked) =>
    Array.from({ length: count }, () => caller(server, until, how()))
  const everybody = [
    ...callersOf(Math.max(1, callers - 5 * each), () => asked(taken.plain)),
    ...callersOf(each, () => asked(taken.slow, { byteMs: 20 })),
    ...callersOf(each, () => asked(taken.slow, { body: large, pieceMs: 100 })),
    ...(server.programs === undefined || each === 0
      ? []
      : callersOf(1, () => asked(taken.programs, { body: "{}", path: server.programs! }))),
  ]
  await Promise.all(everybody)
  clearInterval(watch)
  for (const end of silent) end()
  agent.destroy()
  return taken
}

/** Calls again and again until the time is over. */
async function caller(server: Server, until: number, asked: Asked): Promise<void> {
  const { into } = asked
  while (performance.now() < until) {
    const started = performance.now()
    const answered = await call(server, asked).catch((thrown: Error) => {
      const reason = `${thrown.message} after ${Math.round((performance.now() - started) / 100) * 100} ms`
      into.reasons.set(reason, (into.reasons.get(reason) ?? 0) + 1)
    })
    if (answered === undefined) continue
    const { status, retryAfter } = answered
    into.statuses.set(status, (into.statuses.get(status) ?? 0) + 1)
    if (status === 200) into.times.push(performance.now() - started)
    if (retryAfter > 0) await pause(Math.min(retryAfter * 1000, Math.max(0, until - performance.now())))
  }
}

interface Asked {
  body: string
  agent: Agent
  taken: Crowd
  into: Taken
  path?: string
  /** Between two bytes of the body. */
  byteMs?: number
  /** Between two pieces of the answer. */
  pieceMs?: number
}

interface Answered {
  status: number
  retryAfter: number
}

function call(server: Server, asked: Asked): Promise<Answered> {
  const { body, agent, taken, path = server.path, byteMs, pieceMs } = asked
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const outgoing = request({ port: server.port, path, method: "POST", agent, headers }, (response) => {
      const answered = {
        status: response.statusCode ?? 0,
        retryAfter: Number(response.headers["retry-after"] ?? 0),
      }
      response.once("error", reject)
      response.once("end", () => resolve(answered))
      if (pieceMs === undefined) return response.resume()
      response.on("data", () => {
        response.pause()
        setTimeout(() => response.resume(), pieceMs)
      })
      return undefined
    })
    outgoing.once("error", (thrown: NodeJS.ErrnoException) => {
      if (!outgoing.reusedSocket || thrown.code !== "ECONNRESET") return reject(thrown)
      taken.renewed++
      call(server, asked).then(resolve, reject)
    })
    if (byteMs === undefined) outgoing.end(body)
    else void byTheByte(outgoing, body, byteMs)
  })
}

async function byTheByte(outgoing: ClientRequest, body: string, byteMs: number): Promise<void> {
  outgoing.flushHeaders()
  for (const byte of Buffer.from(body)) {
    if (outgoing.destroyed) return
    outgoing.write(Buffer.of(byte))
    await pause(byteMs)
  }
  outgoing.end()
}

function headOf({ path }: Server, body: string): string {
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`
  return `${head}content-length: ${body.length}\r\n\r\n${body}`
}

interface Silence {
  reads: boolean
  until: number
  onEnd(): void
}

/**
 * Says so much and nothing more, and comes again where the server ends the connection.
 * @returns to be called at the end
 */
function silentCaller({ port }: Server, words: string, { reads, until, onEnd }: Silence): () => void {
  let socket: Socket | undefined
  let over = false
  const open = (): void => {
    socket = connect(port, "127.0.0.1")
    socket.on("error", () => {})
    if (reads || words === "") socket.resume()
    else socket.pause()
    socket.write(words)
    socket.once("close", () => {
      if (over || performance.now() > until) return
      onEnd()
      setTimeout(open, 100)
    })
  }
  open()
  return () => {
    over = true
    socket?.destroy()
  }
}

async function ourServer(folder: string): Promise<Server> {
  const args = [CLI, "serve", "--port", "0", "--quiet", "--read-only", folder]
  const [name, value] = MARK.split("=") as [string, string]
  const env = { ...process.env, [name]: value }
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] })
  let text = ""
  for await (const piece of child.stdout) {
    text += String(piece)
    const port = /at http:\/\/127\.0\.0\.1:(\d+)\n/.exec(text)?.[1]
    if (port !== undefined) {
      const programs = "/tools/get_local_git_changes_info"
      return { child, port: Number(port), path: "/tools/read_text_file", programs }
    }
  }
  throw new Error("the server did not start")
}

async function bareServer(): Promise<Server> {
  const child = fork(import.meta.filename, ["--bare"], { execArgv: ["--conditions=toolwright-source"] })
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

/** Megabytes a minute, by the line that comes nearest to all that was seen after the first quarter. */
function slope(memory: readonly number[]): number {
  const seen = memory.slice(Math.floor(memory.length / 4))
  const middle = (seen.length - 1) / 2
  const mean = seen.reduce((sum, value) => sum + value, 0) / Math.max(1, seen.length)
  let [up, across] = [0, 0]
  for (const [at, value] of seen.entries()) {
    up += (at - middle) * (value - mean)
    across += (at - middle) ** 2
  }
  return across === 0 ? 0 : (up / across) * 600
}

/** Processes that carry the mark in their environment, or work in the folder: those of tools get none of ours. */
function startedHere(folder: string): number[] {
  const pids = readdirSync("/proc").map(Number)
  const isOne = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`).includes(MARK) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
    } catch {
      return false
    }
  }
  return pids.filter((pid) => Number.isInteger(pid) && pid !== process.pid && isOne(pid))
}

if (process.argv[2] === "--bare") {
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const { path } = JSON.parse(Buffer.concat(pieces).toString("utf8")) as { path: string }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ success: true, result: { content: await readFile(path, "utf8") } }))
  })
  server.on("clientError", (_, socket) => socket.destroy())
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
}
