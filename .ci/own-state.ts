import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { STATES } from "./states-of-run.ts"

/**
 * What tests and the programs that they start keep for their user (keys, trust, records of folders that cannot be
 * written) goes into a folder of the test file, and not among what the user who runs the tests has.
 */
export function giveOwnState(): void {
  const folder = mkdtempSync(join(process.env[STATES] ?? tmpdir(), "toolwright-state-"))
  process.env["XDG_STATE_HOME"] = folder
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
}
