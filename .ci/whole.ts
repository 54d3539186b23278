/**
 * All tests, with every trial at its full size: what `npm test` tries a sample of. Takes hours. What is given on the
 * command line goes to the runner: `npm run test:whole -- packages/store`.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const WHOLE: Readonly<Record<string, string>> = {
  TOOLWRIGHT_WHOLE: "1",
  TOOLWRIGHT_FULL: "1",
  TOOLWRIGHT_FULL_LAW: "1",
  TOOLWRIGHT_EVERY_CRASH: "1",
  TOOLWRIGHT_CHAOS_SEEDS: "20",
  TOOLWRIGHT_CONSTRAINED_RUNS: "500",
  TOOLWRIGHT_FUZZ: "100000",
  TOOLWRIGHT_FUZZ_RUNS: "2000",
  TOOLWRIGHT_KILLS: "500",
  TOOLWRIGHT_SEED: "any",
}

const { status } = spawnSync(
  process.execPath,
  [join(import.meta.dirname, "../node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)],
  // A size that is set stands: part of a trial can be run again.
  { stdio: "inherit", env: { ...WHOLE, ...process.env } },
)
process.exitCode = status ?? 1
