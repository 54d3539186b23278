import type { ChildProcess } from "node:child_process"
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs"
import { setImmediate as letOthersRun } from "node:timers/promises"

/** The variable by which processes that left their group are found again. */
export const MARK = "TOOLWRIGHT_PROCESS"

/**
 * Signals the process group of a child that was spawned detached; a group that is gone is no error. The first process
 * of a sandbox leads a session of its own, and does not always end with the one that started it: it is noted before
 * that is signalled, and killed with it.
 */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child
  if (pid === undefined) return
  if (process.platform === "linux" && !below.has(child)) below.set(child, childrenOf(pid))
  try {
    if (process.platform === "win32") child.kill(signal)
    else process.kill(-pid, signal)
  } catch {
    // Nothing of the group is left.
  }
  if (signal !== "SIGKILL") return
  for (const [each, began] of below.get(child) ?? [])
    try {
      if (beginningOf(each) === began) process.kill(each, "SIGKILL")
    } catch {
      // It ended with its group.
    }
}

/** The processes that children had started when they were first signalled, each with when it began. */
const below = new WeakMap<ChildProcess, ReadonlyMap<number, string>>()

function childrenOf(pid: number): ReadonlyMap<number, string> {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)
    return new Map(pids.map((each) => [each, beginningOf(each)]))
  } catch {
    // It has ended already.
    return new Map()
  }
}

/** When a process began, in ticks since the machine did: a number that is used again belongs to a later one. */
function beginningOf(pid: number): string {
  return statOf(pid)[BEGINNING]!
}

/** Places in what {@link statOf} gives. */
const [STATE, FLAGS, BEGINNING] = [0, 6, 19]

/** What the kernel tells of a process, from its state on: the name before that may be anything. */
function statOf(pid: number): string[] {
  const stat = saidIn(`/proc/${pid}/stat`).toString("latin1")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

/** Children that are under way, each with its mark where it may have left its group. */
const running = new Map<ChildProcess, string | undefined>()

/**
 * Sees to it that a child and what it started end with this process, also where that is ended in the middle (by a
 * second Ctrl-C) and nothing asynchronous runs any more.
 *
 * @param mark by which what left its group is found; needless where a process namespace holds it
 * @returns to be called when it has ended
 */
export function endsWithThisProcess(child: ChildProcess, mark: string | undefined): () => void {
  if (running.size === 0) process.on("exit", endRunning)
  running.set(child, mark)
  return () => {
    running.delete(child)
    if (running.size === 0) process.off("exit", endRunning)
  }
}

function endRunning(): void {
  for (const child of running.keys()) killGroup(child, "SIGKILL")
  const marks = [...running.values()].filter((mark) => mark !== undefined)
  if (marks.length === 0 || process.platform !== "linux") return
  const clock = new Int32Array(new SharedArrayBuffer(4))
  for (let look = 0; look < LOOKS; look++) {
    const seen = processesIn(readdirSync("/proc")).map((pid) => looked(pid, environmentOf(pid), marks))
    if (!seen.includes("marked") && !seen.includes("beginning")) break
    // Nothing but this runs any more.
    Atomics.wait(clock, 0, 0, LOOK_AGAIN_MS)
  }
}

function environmentOf(pid: number): Buffer | undefined {
  try {
    return saidIn(`/proc/${pid}/environ`)
  } catch {
    // It ended by itself, or is another user's.
    return undefined
  }
}

/** Read into again and again: each command that ends looks at every process of the machine. */
let room: Buffer | undefined
const ROOM_BYTES = 256 * 1024

/**
 * What a file of the kernel's says, whose size is not known before.
 *
 * @returns what holds until the next one is asked for
 */
function saidIn(path: string): Buffer {
  room ??= Buffer.allocUnsafe(ROOM_BYTES)
  const file = openSync(path, "r")
  try {
    let length = 0
    while (length < ROOM_BYTES) {
      const read = readSync(file, room, length, ROOM_BYTES - length, null)
      if (read === 0) return room.subarray(0, length)
      length += read
    }
  } finally {
    closeSync(file)
  }
  return readFileSync(path)
}

/** How often what is just beginning is looked at again, and how many milliseconds later. */
const LOOKS = 20
const LOOK_AGAIN_MS = 5
/** Processes that are looked at before others of our own have their turn. */
const AT_ONCE = 100

/**
 * Ends every process whose environment carries this mark: those that called `setsid` and so escaped the process group.
 * Works where `/proc` is (Linux); elsewhere it does nothing, and only a process that clears its environment slips
 * through.
 */
export async function killMarked(mark: string): Promise<number> {
  let killed = 0
  for (let look = 0; look < LOOKS; look++) {
    const seen = await lookedAtAll(mark)
    const found = seen.filter((each) => each === "marked").length
    killed += found
    // What was found may have forked while the list was read.
    if (found > 0) continue
    if (!seen.includes("beginning")) break
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
  return killed
}

/**
 * A look at one process takes some microseconds. Read in other threads, each would take ten times as long in this one
 * to be asked for and heard of.
 */
async function lookedAtAll(mark: string): Promise<Look[]> {
  const pids = processesIn(procEntries())
  const seen: Look[] = []
  for (const [at, pid] of pids.entries()) {
    if (at > 0 && at % AT_ONCE === 0) await letOthersRun()
    seen.push(looked(pid, environmentOf(pid), [mark]))
  }
  return seen
}

function procEntries(): string[] {
  try {
    return readdirSync("/proc")
  } catch {
    return []
  }
}

function processesIn(entries: readonly string[]): number[] {
  return entries.map(Number).filter((pid) => Number.isInteger(pid) && pid > 1 && pid !== process.pid)
}

/** What a process was, where that concerns a look at all of them. */
type Look = "marked" | "beginning" | undefined

/** Ends a process whose environment carries one of the marks. */
function looked(pid: number, environment: Buffer | undefined, marks: readonly string[]): Look {
  if (environment === undefined) return undefined
  if (environment.length === 0) return isBeginning(pid) ? "beginning" : undefined
  if (!marks.some((mark) => environment.includes(`${MARK}=${mark}`))) return undefined
  try {
    process.kill(pid, "SIGKILL")
    return "marked"
  } catch {
    // It ended by itself.
    return undefined
  }
}

/** What the kernel runs for itself, as a flag in `/proc/<pid>/stat`. */
const KERNEL_THREAD = 0x200000

/**
 * Whether a process that shows no environment may be between two programs: for a moment each shows none then. One that
 * has ended shows none either, nor do the kernel's own, and what is older than this process was not started by it.
 */
function isBeginning(pid: number): boolean {
  try {
    const fields = statOf(pid)
    if (/[ZX]/.test(fields[STATE]!) || (Number(fields[FLAGS]) & KERNEL_THREAD) !== 0) return false
    return Number(fields[BEGINNING]) >= Number(beginningOf(process.pid))
  } catch {
    // It has ended.
    return false
  }
}
