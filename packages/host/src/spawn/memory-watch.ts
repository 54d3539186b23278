import { readFileSync } from "node:fs"

/** Most commands have ended by the first look. */
const EVERY_MS = 100
/** Of so many processes what they take is added up; a program that starts more is bounded otherwise. */
const MOST_PROCESSES = 256

/**
 * Calls back once when a process and those that it started take more memory of their own than the bound: files that are
 * mapped are not counted. Where the system does not tell, nothing is watched.
 *
 * @returns ends the watch
 */
export function watchMemory(pid: number, megabytes: number, onPassed: () => void): () => void {
  const timer = setInterval(() => {
    if (memoryOf(pid) <= megabytes * 1024) return
    clearInterval(timer)
    onPassed()
  }, EVERY_MS)
  return () => clearInterval(timer)
}

/** In kilobytes. */
function memoryOf(first: number): number {
  let sum = 0
  const pending = [first]
  for (let seen = 0; pending.length > 0 && seen < MOST_PROCESSES; seen++) {
    const pid = pending.pop()!
    sum += Number(/^RssAnon:\s+(\d+)/mu.exec(told(pid, "status"))?.[1] ?? 0)
    pending.push(...told(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number))
  }
  return sum
}

function told(pid: number, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "latin1")
  } catch {
    // It has ended, or this system tells nothing.
    return ""
  }
}
