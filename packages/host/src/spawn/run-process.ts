import { spawn, type ChildProcess } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { join } from "node:path"
import { Capture, DEFAULT_LIMITS, type Captured, type CaptureLimits } from "./capture.ts"
import { watchDisk, type DiskBound } from "./disk-watch.ts"
import { endsWithThisProcess, killGroup, killMarked, MARK } from "./kill.ts"
import { watchMemory } from "./memory-watch.ts"

/**
 * A process to run. There is never a shell in between: `argv[0]` is the program, the rest its arguments as they are.
 */
export interface ProcessRequest {
  readonly argv: readonly string[]
  readonly cwd: string
  /** The whole environment; see `childEnvironment`. */
  readonly env: Readonly<Record<string, string>>
  readonly input?: string
  /** Wall time after which the process is ended, in milliseconds. */
  readonly timeoutMs: number
  /** Time between SIGTERM and SIGKILL, in milliseconds. */
  readonly graceMs?: number
  readonly signal?: AbortSignal
  readonly limits?: Partial<CaptureLimits>
  /** Folder for the whole of a stream that is longer than what is kept; without it the rest is dropped. */
  readonly logDirectory?: string
  /** Output in all, in bytes, beyond which the process is ended. */
  readonly maxOutputBytes?: number
  /** What it may take of a file system before it is ended. */
  readonly disk?: DiskBound | undefined
  /** Megabytes of memory that it and what it starts may take before it is ended, where nothing else bounds it. */
  readonly memoryMb?: number | undefined
  /** Finds and ends processes that left the process group; needless where a process namespace does it. */
  readonly sweep?: boolean
  /** Called about once a second while the process runs. */
  readonly onProgress?: (progress: { elapsedMs: number; outputBytes: number; lastLine: string }) => void
}

/** Why a process ended: on its own, or because it was ended. */
export type Ending = "exit" | "timeout" | "cancelled" | "output-limit" | "disk-limit" | "memory-limit"

export interface ProcessOutcome {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly ended: Ending
  readonly stdout: Captured
  readonly stderr: Captured
  readonly durationMs: number
}

const DRAIN_MS = 250
/** More than the pipes of a process hold: what comes beyond that was written after its end. */
const DRAIN_BYTES = 4 * 1024 * 1024
const MAX_OUTPUT = 256 * 1024 * 1024

/**
 * Runs a process to its end and leaves nothing behind: neither a process of its group nor an open pipe.
 *
 * The outcome is known when the process exits, not when its pipes close, for a background child may hold these for
 * ever; what is still in the pipes is read for 250 ms, and what was there by then to its end. Whatever remains of the
 * process group is killed then.
 *
 * @returns how it ended; a non-zero exit code is an outcome, not an error
 * @throws the system's error (`ENOENT`, `EACCES`, …) when the program cannot be started
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  const { graceMs = 500, maxOutputBytes = MAX_OUTPUT } = request
  const limits = { ...DEFAULT_LIMITS, ...request.limits }
  const started = performance.now()
  const mark = randomUUID()
  const stdout = new Capture(limits, logNamer(request.logDirectory, "stdout"))
  const stderr = new Capture(limits, logNamer(request.logDirectory, "stderr"))
  if (request.signal?.aborted === true) return notStarted(stdout, stderr)
  const child = start(request, mark)
  const over = endsWithThisProcess(child, request.sweep === true ? mark : undefined)
  const ending = ends(child, graceMs)
  const { end } = ending
  const onAbort = () => end("cancelled")
  const unwatch = watched(request, child, end)
  const timer = setTimeout(() => end("timeout"), request.timeoutMs)
  request.signal?.addEventListener("abort", onAbort, { once: true })
  let lastChunk: Buffer | undefined
  const collect = (capture: Capture) => (chunk: Buffer) => {
    capture.add(chunk)
    lastChunk = chunk
    if (stdout.bytes + stderr.bytes > maxOutputBytes) end("output-limit")
  }
  child.stdout!.on("data", collect(stdout))
  child.stderr!.on("data", collect(stderr))
  child.stdin?.on("error", () => {})
  if (request.input !== undefined) child.stdin!.end(request.input)
  const ticker = ticking(request.onProgress, () => ({
    elapsedMs: performance.now() - started,
    outputBytes: stdout.bytes + stderr.bytes,
    lastLine: lastLineOf(lastChunk),
  }))
  try {
    const { exitCode, signal } = await exitOf(child)
    ending.settled()
    await drained(child, () => stdout.bytes + stderr.bytes)
    return {
      exitCode,
      signal,
      ended: ending.ended(),
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: performance.now() - started,
    }
  } finally {
    unwatch()
    clearTimeout(timer)
    ending.settled()
    clearInterval(ticker)
    request.signal?.removeEventListener("abort", onAbort)
    killGroup(child, "SIGKILL")
    if (request.sweep === true) await killMarked(mark)
    over()
    child.stdout?.destroy()
    child.stderr?.destroy()
    stdout.finish()
    stderr.finish()
  }
}

/** Watches what a process takes of the machine. @returns ends the watch */
function watched({ disk, memoryMb }: ProcessRequest, { pid }: ChildProcess, end: (why: Ending) => void): () => void {
  const ofDisk = disk === undefined ? undefined : watchDisk(disk, () => end("disk-limit"))
  const ofMemory =
    memoryMb === undefined || pid === undefined ? undefined : watchMemory(pid, memoryMb, () => end("memory-limit"))
  return () => {
    ofDisk?.()
    ofMemory?.()
  }
}

/** The end of a process: why it was ended, once, and how it is made to. */
function ends(child: ChildProcess, graceMs: number) {
  let ended: Ending = "exit"
  let hardKill: NodeJS.Timeout | undefined
  const end = (why: Ending): void => {
    if (ended !== "exit") return
    ended = why
    // What fills a disk, or memory, fills it further while it is asked to stop.
    if (why === "disk-limit" || why === "memory-limit") return killGroup(child, "SIGKILL")
    killGroup(child, "SIGTERM")
    hardKill = setTimeout(() => killGroup(child, "SIGKILL"), graceMs)
  }
  return { end, ended: () => ended, settled: () => clearTimeout(hardKill) }
}

function start(request: ProcessRequest, mark: string): ChildProcess {
  const [program, ...args] = request.argv
  return spawn(program!, args, {
    cwd: request.cwd,
    env: request.sweep === true ? { ...request.env, [MARK]: mark } : request.env,
    stdio: [request.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  })
}

function notStarted(stdout: Capture, stderr: Capture): ProcessOutcome {
  return {
    exitCode: null,
    signal: null,
    ended: "cancelled",
    stdout: stdout.finish(),
    stderr: stderr.finish(),
    durationMs: 0,
  }
}

/** Tells once a second how far a process is. */
function ticking(
  onProgress: ProcessRequest["onProgress"],
  state: () => Parameters<NonNullable<ProcessRequest["onProgress"]>>[0],
): NodeJS.Timeout | undefined {
  return onProgress === undefined ? undefined : setInterval(() => onProgress(state()), 1000)
}

function logNamer(directory: string | undefined, stream: string): (() => string) | undefined {
  return directory === undefined ? undefined : () => join(directory, `${stream}-${randomBytes(6).toString("hex")}.log`)
}

function exitOf(child: ChildProcess): Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }))
  })
}

async function drained(child: ChildProcess, bytes: () => number): Promise<void> {
  const open = [child.stdout, child.stderr].filter((stream) => stream !== null && !stream.closed)
  if (open.length === 0) return
  const isClosed = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS, false)
    child.once("close", () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  if (isClosed) return
  // A process that was held up comes to its timers first, and to what waits in the pipes after them.
  const most = bytes() + DRAIN_BYTES
  for (let before = -1; before < bytes() && bytes() < most;) {
    before = bytes()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function lastLineOf(chunk: Buffer | undefined): string {
  if (chunk === undefined) return ""
  return chunk.subarray(-400).toString("utf8").trimEnd().split("\n").at(-1)?.slice(-200) ?? ""
}
