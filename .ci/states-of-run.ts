import { execFileSync } from "node:child_process"
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
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
  process.env["GIT_TEMPLATE_DIR"] = repositoryTemplate(join(folder, "template"))
  const alive = process.platform === "win32" ? undefined : heldOpen(join(folder, ALIVE))
  return () => {
    if (alive !== undefined) closeSync(alive)
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/**
 * What git copies into each new repository: of the samples of hooks one instead of thirteen, which are half of all its
 * files. Tests make thousands of repositories and take them away, and ext4 without a journal passes over each file that
 * was removed within the last minutes whenever it makes another.
 */
function repositoryTemplate(folder: string): string {
  for (const name of ["hooks", "info"]) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, "hooks/pre-commit.sample"), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
  writeFileSync(join(folder, "description"), "A repository of the tests\n")
  writeFileSync(join(folder, "info/exclude"), "# Patterns of files that are not recorded\n")
  return folder
}

/** Whoever reads it comes to its end when this process closes it, or is no more. */
function heldOpen(pipe: string): number {
  execFileSync("mkfifo", [pipe])
  return openSync(pipe, "r+")
}
