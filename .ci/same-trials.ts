import { readFileSync } from "node:fs"
import { expect } from "vitest"

/**
 * Invented inputs are the same in every run of the tests: what fails on one machine fails on all of them. Other ones
 * are tried by `npm run test:whole`, or with a seed of one's own in `TOOLWRIGHT_SEED`; a failure prints its seed.
 * Only for files that invent some, as loading the library takes as long as many a test.
 */
export async function trySameInputs(): Promise<void> {
  const { testPath } = expect.getState()
  if (testPath === undefined || !readFileSync(testPath, "utf8").includes('from "fast-check"')) return
  const { configureGlobal } = await import("fast-check")
  const seed = process.env.TOOLWRIGHT_SEED ?? "20260101"
  configureGlobal(seed === "any" ? {} : { seed: Number(seed) })
}
