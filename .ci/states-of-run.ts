import { execFileSync } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Names the folder below which each test file has its own, see own-state.ts. */
export const STATES = "STATES_OF_TESTS"

/** A pipe in that folder, which is open as long as the run goes on. What serves all files ends when it closes. */
export const ALIVE = "alive"

/**
 * One folder for a whole run, for all projects: files none of whose tests ran do not come to take away their own.
 *
 * @returns what takes it away once everything has run
 */
export default function makeStates(): (() => void) | undefined {
  if (existsSync(process.env[STATES] ?? "")) return undefined
  const folder = mkdtempSync(join(tmpdir(), "toolwright-states-"))
  process.env[STATES] = folder
  const alive = process.platform === "win32" ? undefined : heldOpen(join(folder, ALIVE))
  return () => {
    if (alive !== undefined) closeSync(alive)
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Whoever reads it comes to its end when this process closes it, or is no more. */
function heldOpen(pipe: string): number {
  execFileSync("mkfifo", [pipe])
  return openSync(pipe, "r+")
}
