/**
 * Measures one contestant at one number of steps: `measure.ts <name> <steps> <folder of the peers>`; prints one JSON
 * line. With `--memory`, what a run holds too.
 */
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Load } from "./contestant.ts"
import { CONTESTANTS } from "./index.ts"

const [name = "", count = "0", folder = "", memory] = process.argv.slice(2)
const steps = Number(count)

// A module in the peers' folder imports from there as a program of that project would.
const loader = join(folder, "load.mjs")
if (!existsSync(loader)) writeFileSync(loader, "export const load = (specifier) => import(specifier)\n")
const { load } = (await import(pathToFileURL(loader).href)) as { load: Load }

const contestant = await CONTESTANTS[name]!()
const run = await contestant.prepare(load)

async function once(): Promise<{ milliseconds: number; held: unknown }> {
  const before = process.cpuUsage()
  const { calls, held } = await run(steps)
  const { user, system } = process.cpuUsage(before)
  if (calls !== steps) throw new Error(`${name} made ${calls} calls, not ${steps}`)
  return { milliseconds: (user + system) / 1000, held }
}

/** Short runs are measured several at a time, so that each sample is about as many steps. */
const batch = Math.max(1, Math.round(500 / steps))

async function sample(): Promise<number> {
  let spent = 0
  for (let index = 0; index < batch; index++) spent += (await once()).milliseconds
  return spent
}

// Warm for two seconds of processor time, whoever needs how many samples for it: what is compiled late counts for
// nobody. Then measure for as long, three samples at least.
let spent = 0
while (spent < 2000) spent += await sample()
const samples: number[] = []
spent = 0
while (samples.length < 3 || (samples.length < 40 && spent < 2000)) {
  const milliseconds = await sample()
  samples.push(milliseconds / (steps * batch))
  spent += milliseconds
}
/** The heap with so many results held, after garbage was collected. */
async function heapKbWith(results: unknown[], count: number): Promise<number> {
  while (results.length < count) results.push((await once()).held)
  for (let time = 0; time < 3; time++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return process.memoryUsage().heapUsed / 1024
}

/**
 * What one result holds: several at once, and as many beforehand, so that what comes and goes between runs counts for
 * little.
 */
async function retainedKb(): Promise<number> {
  const results: unknown[] = []
  const before = await heapKbWith(results, 8)
  return ((await heapKbWith(results, 24)) - before) / 16
}

const cpuMsPerStep = samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]
console.log(JSON.stringify({ cpuMsPerStep, ...(memory === "--memory" ? { retainedKb: await retainedKb() } : {}) }))
