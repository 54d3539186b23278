import { access, constants, stat } from "node:fs/promises"
import { isAbsolute, join, relative, resolve } from "node:path"
import { childEnvironment, changedFiles, folderState, runInWorkspace, outcomeText } from "@toolwright/host/process"
import { findProgram, trustedPath } from "@toolwright/host/sandbox"
import { stateTextOf } from "@toolwright/host/state-files"
import type { CheckReport, CheckRequest } from "./check.ts"

const TIMEOUT_MS = 300_000

/**
 * Runs what the repository would run before a commit: its own hook file, or pre-commit where that is configured. It
 * runs in the sandbox with the workspace writable (formatters correct files) but `.git` read-only; the git tools never
 * run hooks, so that this is the one place where they do.
 */
export async function checkPreCommit({
  host,
  files,
  signal,
}: CheckRequest): Promise<Omit<CheckReport, "name" | "duration_ms">> {
  const path = trustedPath(host.workspace.roots.map(({ real }) => real))
  const command = await findHook(host.root, files, path)
  if (command === undefined) return { status: "skipped", summary: "not configured: no pre-commit hook", errors: [] }
  if ("missing" in command)
    return { status: "failed", summary: command.missing, errors: [{ message: command.missing }] }
  const before = await folderState(host.root)
  const { outcome, sandbox } = await runInWorkspace(host, {
    argv: command.argv,
    cwd: host.root,
    env: childEnvironment(
      { GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", GIT_EDITOR: "true" },
      host.config.passEnvironment,
    ),
    timeoutMs: TIMEOUT_MS,
    signal,
    repositories: "writable",
  })
  const text = outcomeText(outcome, sandbox, TIMEOUT_MS)
  const changed = changedFiles(before, await folderState(host.root))
  const note = changed.length === 0 ? "" : ` It changed ${changed.join(", ")}.`
  if (outcome.ended === "exit" && outcome.exitCode === 0)
    return { status: "passed", summary: `${command.name} passed.${note}`, errors: [], changed }
  return {
    status: "failed",
    summary: `${command.name} failed.${note}`,
    errors: [{ message: text.slice(-4000) }],
    changed,
  }
}

async function findHook(
  root: string,
  files: readonly string[],
  path: string,
): Promise<{ name: string; argv: string[] } | { missing: string } | undefined> {
  const hook = join(await hooksFolder(root), "pre-commit")
  const runs = await access(hook, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (runs) return { name: "the pre-commit hook", argv: [hook] }
  const configured = await stat(join(root, ".pre-commit-config.yaml")).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!configured) return undefined
  const program = findProgram("pre-commit", path)
  if (program === undefined) return { missing: MISSING }
  return {
    name: "pre-commit",
    argv: [
      program,
      "run",
      "--color=never",
      ...(files.length === 0 ? ["--all-files"] : ["--files", ...files.map((file) => `./${file}`)]),
    ],
  }
}

/** A program that the folder brings along is whatever its author wants it to be. */
const MISSING =
  ".pre-commit-config.yaml is there, but pre-commit is not installed outside of the workspace: one that lies in it " +
  "is not started by its name. Install it for the user (pipx install pre-commit), or as a hook (pre-commit install)."

/** Where hooks lie: `core.hooksPath` when the repository sets one inside the workspace, `.git/hooks` otherwise. */
async function hooksFolder(root: string): Promise<string> {
  const config = stateTextOf(join(root, ".git/config")) ?? ""
  const configured = /^\s*hooksPath\s*=\s*(.+?)\s*$/imu.exec(config)?.[1]
  const folder = resolve(root, configured ?? ".git/hooks")
  const below = relative(root, folder)
  return below.startsWith("..") || isAbsolute(below) ? join(root, ".git/hooks") : folder
}
