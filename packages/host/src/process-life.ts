import { readFileSync } from "node:fs"

/**
 * Whether a process of that number runs; one that we may not ask runs. One that has ended keeps its number until whoever
 * started it asks how: such a one does not run, where the system tells it (it does on Linux).
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^[ZX]$/.test(statusFields(pid)?.[0] ?? "")
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM"
  }
}

/**
 * When a process was started, of this start of the machine: numbers of processes are given again. Undefined where the
 * system does not tell (it does on Linux).
 */
export function processStart(pid: number): string | undefined {
  const [boot, ticks] = [systemText("/proc/sys/kernel/random/boot_id")?.trim(), startTicks(pid)]
  return boot === undefined || ticks === undefined ? undefined : `${boot}:${ticks}`
}

/** When a process started, in clock ticks since the machine did (field 22 of proc_pid_stat(5)). */
export function startTicks(pid: number): string | undefined {
  return statusFields(pid)?.[19]
}

/** What proc_pid_stat(5) tells of a process, from its third field on, its state. */
function statusFields(pid: number): string[] | undefined {
  const status = systemText(`/proc/${pid}/stat`)
  // The name in the second field may contain blanks and brackets.
  return status?.slice(status.lastIndexOf(")") + 2).split(" ")
}

function systemText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
