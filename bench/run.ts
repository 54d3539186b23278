/** Runs one benchmark: `npm run bench -- <name> [--json]`. The JSON is one line `{"bench","figures","ratios"}`. */
import { readdirSync } from "node:fs"

export interface BenchmarkResult {
  /** Measured values, units in the name (`_ms`, `_mb`). */
  figures: Record<string, number>
  /** How many times better ours is than the named peer or floor in the same run; 1 is equal. */
  ratios: Record<string, number>
  /** Text for a person, printed before the table. */
  report?: string
}

const helpers = new Set(["run.ts", "peers.ts"])
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !helpers.has(file))
  .map((file) => file.slice(0, -3))

const [name, ...flags] = process.argv.slice(2)
if (name === undefined || !names.includes(name)) {
  console.error(`Usage: npm run bench -- <name> [--json]\nBenchmarks: ${names.join(", ")}`)
  process.exit(name === undefined ? 0 : 2)
}

const { run } = (await import(`./${name}.ts`)) as { run(): Promise<BenchmarkResult> }
const { figures, ratios, report } = await run()
if (flags.includes("--json")) {
  console.log(JSON.stringify({ bench: name, figures, ratios }))
} else {
  if (report !== undefined) console.log(report)
  console.table(Object.fromEntries(Object.entries(figures).map(([key, value]) => [key, { figure: round(value) }])))
  console.table(
    Object.fromEntries(Object.entries(ratios).map(([key, value]) => [key, { "times better": round(value) }])),
  )
}

function round(value: number): number {
  return Number(value.toPrecision(4))
}
