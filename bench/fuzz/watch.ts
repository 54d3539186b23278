/**
 * Ends the program where one input goes on for ever, and says which: a loop that never returns can say nothing itself.
 */
import { Worker } from "node:worker_threads"

const LIMIT_SECONDS = 300

const WATCHER = `
  const { workerData } = require("node:worker_threads")
  const { writeSync } = require("node:fs")
  const seeds = new Int32Array(workerData.shared)
  let last = -1, since = 0
  setInterval(() => {
    if (seeds[0] !== last) { last = seeds[0]; since = 0; return }
    since += 5
    if (since < workerData.limit) return
    writeSync(2, workerData.name + ": seed " + last + " has been running for " + since + " seconds\\n")
    process.kill(process.pid, "SIGKILL")
  }, 5000)
`

export interface HangWatch {
  before(seed: number): void
  stop(): Promise<void>
}

export function watchForHang(name: string): HangWatch {
  const shared = new SharedArrayBuffer(4)
  const seeds = new Int32Array(shared)
  const worker = new Worker(WATCHER, { eval: true, workerData: { shared, name, limit: LIMIT_SECONDS } })
  return {
    before: (seed) => void (seeds[0] = seed),
    stop: async () => void (await worker.terminate()),
  }
}
