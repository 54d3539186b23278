/** What processes have used, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs"

/** Another process's CPU is counted in hundredths of a second, in a stat file of its own. */
const TICK_US = 10_000

/** CPU microseconds of this process and the others. */
export function cpuOf(servers: readonly number[]): number {
  const { user, system } = process.cpuUsage()
  const others = servers.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")
    return (Number(fields[11]) + Number(fields[12])) * TICK_US
  })
  return others.reduce((sum, micros) => sum + micros, user + system)
}

export function memoryOf(servers: readonly number[]): number {
  const others = servers.map(
    (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024,
  )
  return others.reduce((sum, megabytes) => sum + megabytes, process.memoryUsage().rss / 1024 / 1024)
}

/** Processes that this one has started and that live. */
export function childPids(): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  return pids.filter((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")[1]) === process.pid
    } catch {
      // It ended in the meantime.
      return false
    }
  })
}
