import type { ChildProcess } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"

/** The variable by which processes that left their group are found again. */
export const MARK = "TOOLWRIGHT_PROCESS"

/** Signals the process group of a child that was spawned detached; a group that is gone is no error. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === "win32") child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // Nothing of the group is left.
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
