import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { resolveRepository, type RepositoryLayout } from "../repository/layout.ts"
import { repositoryState } from "../repository/state.ts"
import { viewRepository } from "../repository/view.ts"
import { findProgram, trustedPath } from "../sandbox/find-program.ts"
import { runSandboxed } from "../sandbox/sandbox.ts"
import { childEnvironment } from "../spawn/environment.ts"
import type { ProcessHost } from "./host.ts"

/** What a repository keeps of files that the path rules keep from tools. */
export interface DeniedHistory {
  /** The folder with its objects: who can read it can read every version of every file. */
  readonly objects: string
  /** Some of the files, relative to the repository's top. */
  readonly files: readonly string[]
  /** Whether it could not be looked through in time. */
  readonly unknown: boolean
}

const TIMEOUT_MS = 4000
const MOST_BYTES = 64 * 1024 * 1024
const SHOWN = 3
const MOST_REMEMBERED = 64

const remembered = new Map<string, DeniedHistory | undefined>()

/**
 * Looks for denied files in what the workspace's repository holds: the index, and everything that a ref or a log of one
 * leads to. A file that cannot be opened can be had from there by any command (`git show HEAD:.env`). Looked through
 * once for each state of the repository.
 */
export async function deniedHistory(host: ProcessHost): Promise<DeniedHistory | undefined> {
  const roots = host.workspace.roots.map((root) => root.real)
  const layout = await resolveRepository(host.root, roots).catch(() => undefined)
  if (layout === undefined) return undefined
  const state = await repositoryState(host.root, roots)
  const index = await lstat(join(layout.gitDir, "index")).catch(() => undefined)
  const key = [layout.gitDir, state?.mark, index?.mtimeMs, index?.size].join("\n")
  if (!remembered.has(key)) {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(key, await look(host, layout).catch(() => undefined))
  }
  return remembered.get(key)
}

async function look(host: ProcessHost, layout: RepositoryLayout): Promise<DeniedHistory | undefined> {
  const objects = join(layout.commonDir, "objects")
  const [index, history] = await Promise.all([
    namesFrom(host, layout, ["ls-files", "-z"]),
    namesFrom(host, layout, ["rev-list", "--objects", "--all", "--reflog"]),
  ])
  const names = [
    ...index.text.split("\0"),
    // An object's id, a blank, and the path by which it was met; commits have none.
    ...history.text.split("\n").map((line) => line.slice(line.indexOf(" ") + 1 || line.length)),
  ]
  const { readable } = host.workspace.policy
  const denied = names.filter((name) => name !== "" && !readable(join(layout.top, name)))
  const unknown = !index.complete || !history.complete
  if (denied.length === 0 && !unknown) return undefined
  return { objects, files: [...new Set(denied)].slice(0, SHOWN), unknown: denied.length === 0 }
}

async function namesFrom(host: ProcessHost, layout: RepositoryLayout, args: readonly string[]) {
  const roots = host.workspace.roots.map((root) => root.real)
  const path = await trustedPath(roots)
  const program = await findProgram("git", path)
  if (program === undefined) return { text: "", complete: true }
  await using view = await viewRepository(layout, false)
  const { outcome } = await runSandboxed({
    argv: [program, ...args],
    cwd: layout.top,
    env: childEnvironment({ PATH: path, ...view.env, GIT_NO_LAZY_FETCH: "1", GIT_OPTIONAL_LOCKS: "0" }),
    timeoutMs: TIMEOUT_MS,
    limits: { headBytes: MOST_BYTES },
    policy: host.config.sandbox ?? "auto",
    plan: {
      root: host.root,
      writable: false,
      limits: { processes: null },
      readable: [view.folder],
      folders: [
        ...roots.slice(1).map((root) => ({ path: root, writable: false })),
        ...(layout.outside === undefined ? [] : [{ path: layout.outside, writable: false }]),
      ],
    },
  })
  // A repository without a commit has no history, and says so in its own way.
  const complete = outcome.ended === "exit" && !outcome.stdout.truncated
  return { text: outcome.stdout.text, complete }
}
