import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import { isHarmlessVariable } from "./environment.ts"

let done: boolean | undefined

/**
 * Takes the values of keys and tokens out of what the system shows of this process. A child of the same user can read
 * `/proc/<pid>/environ` of its parent, whatever its own environment is; that file is the memory in which the process
 * got its variables when it was started. They are copied first, so that `process.env` stays as it is, and then wiped
 * there.
 *
 * For the moment before the first process is started that no sandbox contains. Other processes of this user, the shell
 * that this one was started from among them, show theirs still.
 *
 * @returns whether it could be done: on Linux, in the main thread
 */
export function wipeOwnEnvironment(): boolean {
  done ??= wipe()
  return done
}

function wipe(): boolean {
  if (process.platform !== "linux" || !isMainThread) return false
  try {
    const [start, end] = environmentRange()
    const memory = openSync("/proc/self/mem", "r+")
    try {
      const bytes = Buffer.alloc(end - start)
      readSync(memory, bytes, 0, bytes.length, start)
      // Where the two differ, this is not the memory that it is taken for.
      if (!bytes.equals(readFileSync("/proc/self/environ"))) return false
      for (const { name, from, to } of variables(bytes)) {
        const value = process.env[name]
        if (isHarmlessVariable(name)) continue
        // Setting it puts it into memory of its own, and what was there before is used by nobody.
        if (value !== undefined) process.env[name] = value
        writeSync(memory, Buffer.alloc(to - from), 0, to - from, start + from)
      }
      return true
    } finally {
      closeSync(memory)
    }
  } catch {
    return false
  }
}

/** Where the environment lies in memory: fields 50 and 51 of proc_pid_stat(5). */
function environmentRange(): [number, number] {
  const stat = readFileSync("/proc/self/stat", "latin1")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return [Number(fields[50 - 3]), Number(fields[51 - 3])]
}

/** Each variable with the place of its value. */
function* variables(bytes: Buffer): Generator<{ name: string; from: number; to: number }> {
  for (let at = 0; at < bytes.length;) {
    const zero = bytes.indexOf(0, at)
    const to = zero === -1 ? bytes.length : zero
    const equals = bytes.indexOf("=", at)
    if (equals !== -1 && equals < to) yield { name: bytes.toString("utf8", at, equals), from: equals + 1, to }
    at = to + 1
  }
}
