/**
 * Feeds the public functions of the pure rooms what nobody should give them: schemas, chat templates, raw replies, GBNF
 * and configuration. Only documented errors may come, and no input may take long.
 *
 * Environment: `TOOLWRIGHT_FUZZ` how many inputs each (3,000), `TOOLWRIGHT_FUZZ_SEED` the first seed (1),
 * `TOOLWRIGHT_FUZZ_ONLY` the names of some targets, separated by commas.
 */
import { TARGETS } from "./fuzz/index.ts"
import { createRandom } from "./fuzz/random.ts"
import { fuzz, type Outcome, type Target } from "./fuzz/target.ts"
import { watchForHang } from "./fuzz/watch.ts"
import type { BenchmarkResult } from "./run.ts"

export async function run(): Promise<BenchmarkResult> {
  const inputs = Number(process.env["TOOLWRIGHT_FUZZ"] ?? 3000)
  const firstSeed = Number(process.env["TOOLWRIGHT_FUZZ_SEED"] ?? 1)
  const only = process.env["TOOLWRIGHT_FUZZ_ONLY"]?.split(",")
  const figures: Record<string, number> = {}
  const report: string[] = []
  for (const target of TARGETS.filter(({ name }) => only?.includes(name) !== false)) {
    const watch = watchForHang(target.name)
    const outcome = await fuzz(target, inputs, firstSeed, (seed) => {
      watch.before(seed)
      if (seed % 10_000 === 0) console.error(`${target.name}: ${seed}`)
    })
    await watch.stop()
    figures[`${target.name}_inputs`] = outcome.inputs
    figures[`${target.name}_findings`] = outcome.findings.length
    figures[`${target.name}_mean_ms`] = outcome.ms / outcome.inputs
    figures[`${target.name}_slowest_ms`] = outcome.slowest.ms
    report.push(sentence(target, outcome), ...details(target, outcome))
    if (outcome.findings.length > 0) process.exitCode = 1
  }
  return { figures, ratios: {}, report: report.join("\n") }
}

function sentence({ name }: Target, { inputs, findings, refusals, slowest }: Outcome): string {
  const codes = [...refusals].map(([code, count]) => `${code} ${count}`).join(", ")
  return (
    `${name}: ${inputs} inputs, ${findings.length} findings; slowest ${Math.round(slowest.ms)} ms (seed ` +
    `${slowest.seed}); documented errors: ${codes || "none"}`
  )
}

/** Each finding with its input; those that look alike once. */
function details(target: Target, { findings }: Outcome): string[] {
  const byPlace = new Map(findings.map((finding) => [finding.problem.split("\n").slice(0, 2).join(), finding]))
  return [...byPlace.values()].map(
    ({ seed, problem }) => `  seed ${seed}: ${problem}\n  ${target.show(createRandom(seed))}`,
  )
}
