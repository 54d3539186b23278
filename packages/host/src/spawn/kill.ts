import type { ChildProcess } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"

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
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")")).split(" ")[20]!
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
  const marks = [...running.values()].flatMap((mark) => (mark === undefined ? [] : [`${MARK}=${mark}`]))
  if (marks.length === 0 || process.platform !== "linux") return
  for (const pid of readdirSync("/proc").map(Number)) {
    if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) continue
    try {
      const environment = readFileSync(`/proc/${pid}/environ`)
      if (marks.some((mark) => environment.includes(mark))) process.kill(pid, "SIGKILL")
    } catch {
      // It ended by itself, or is another user's.
    }
  }
}

/**
 * Ends every process whose environment carries this mark: those that called `setsid` and so escaped the process group.
 * Works where `/proc` is (Linux); elsewhere it does nothing, and only a process that clears its environment slips
 * through.
 */
export async function killMarked(mark: string): Promise<number> {
  const needle = Buffer.from(`${MARK}=${mark}`)
  let killed = 0
  // Twice, for a process may have forked while the list was read.
  for (let pass = 0; pass < 5; pass++) {
    const found = await marked(needle)
    if (found.length === 0) break
    for (const pid of found) {
      try {
        process.kill(pid, "SIGKILL")
        killed++
      } catch {
        // It ended by itself.
      }
    }
  }
  return killed
}

async function marked(needle: Buffer): Promise<number[]> {
  const entries = await readdir("/proc").catch(() => [])
  const pids = entries.map(Number).filter((pid) => Number.isInteger(pid) && pid > 1 && pid !== process.pid)
  const hits = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined)
      return environment?.includes(needle) === true ? pid : undefined
    }),
  )
  return hits.filter((pid) => pid !== undefined)
}
