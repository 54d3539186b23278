import { hostname } from "node:os"
import { stateTextOf } from "@toolwright/host/state-files"

/**
 * When a process was started, of this start of the machine: numbers of processes are given again. Undefined where the
 * system does not tell (it does on Linux).
 */
export function processStart(pid: number): string | undefined {
  const [boot, status] = [stateTextOf("/proc/sys/kernel/random/boot_id"), stateTextOf(`/proc/${pid}/stat`)]
  // The name in the second field may contain blanks and brackets.
  const ticks = status?.slice(status.lastIndexOf(")") + 2).split(" ")[19]
  return boot === undefined || ticks === undefined ? undefined : `${boot.trim()}:${ticks}`
}

/** How this process signs what it holds in a log: machine, process and its start. */
export function holderHere(): string {
  return [hostname(), process.pid, processStart(process.pid) ?? ""].join("/")
}

/**
 * How long whoever holds a run on another machine may be silent, in milliseconds; they are heard of every ten seconds.
 */
export const SILENCE_MS = 60_000

/**
 * Whether whoever holds a run still does: of this machine their process tells, of others when they were last heard of.
 */
export function isHeld(
  { holder, heartbeat }: { holder: string | null; heartbeat: number | null },
  now: number,
): boolean {
  if (holder === null || heartbeat === null) return false
  const [machine, number, start] = holder.split("/")
  const pid = Number(number)
  if (machine !== hostname() || !Number.isSafeInteger(pid) || pid <= 0) return now - heartbeat < SILENCE_MS
  return isAlive(pid) && (processStart(pid) ?? "") === start
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === "EPERM"
  }
}
