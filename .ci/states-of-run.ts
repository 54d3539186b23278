import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Names the folder below which each test file has its own, see own-state.ts. */
export const STATES = "STATES_OF_TESTS"

/**
 * One folder for a whole run, for all projects: files none of whose tests ran do not come to take away their own.
 *
 * @returns what takes it away once everything has run
 */
export default function makeStates(): (() => void) | undefined {
  if (existsSync(process.env[STATES] ?? "")) return undefined
  const folder = mkdtempSync(join(tmpdir(), "toolwright-states-"))
  process.env[STATES] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
