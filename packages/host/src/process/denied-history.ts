import { join, relative } from "node:path"
import { lookAt } from "../look.ts"
import { heldUpBy } from "../repository/held.ts"
import { repositoryOrNothing, type RepositoryLayout } from "../repository/layout.ts"
import { repositoryState } from "../repository/state.ts"
import { askGit } from "./git-answers.ts"
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

const SHOWN = 3
const MOST_REMEMBERED = 64

/** The files of the index, and of everything else. */
const ASKED = [
  ["ls-files", "-z"],
  ["rev-list", "--objects", "--all", "--reflog"],
] as const

const remembered = new Map<string, DeniedHistory | undefined>()

/**
 * Looks for denied files in what the workspace's repository holds: the index, and everything that a ref or a log of one
 * leads to. A file that cannot be opened can be had from there by any command (`git show HEAD:.env`). Looked through
 * once for each state of the repository.
 */
export async function deniedHistory(host: ProcessHost): Promise<DeniedHistory | undefined> {
  const roots = host.workspace.roots.map((root) => root.real)
  const layout = repositoryOrNothing(host.root, roots)
  if (layout === undefined) return undefined
  const state = repositoryState(host.root, roots)
  const index = lookAt(join(layout.gitDir, "index"))
  const key = [layout.gitDir, state?.mark, index?.mtimeMs, index?.size].join("\n")
  if (!remembered.has(key)) {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(key, await look(host, layout).catch(() => undefined))
  }
  return remembered.get(key)
}

async function look(host: ProcessHost, layout: RepositoryLayout): Promise<DeniedHistory | undefined> {
  const objects = join(layout.commonDir, "objects")
  const { text, complete } = await askGit(host, layout, ...ASKED)
  // Every name of the index ends with a NUL, and no path that was met from a commit holds one.
  const end = text.lastIndexOf("\0")
  const names = [
    ...text.slice(0, Math.max(0, end)).split("\0"),
    // An object's id, a blank, and the path by which it was met; commits have none.
    ...text
      .slice(end + 1)
      .split("\n")
      .map((line) => line.slice(line.indexOf(" ") + 1 || line.length)),
  ]
  const { readable } = host.workspace.policy
  const denied = names.filter((name) => name !== "" && !readable(join(layout.top, name)))
  const unknown = !complete
  // Not long, but kept from being read, as a command could do for one after it.
  const trap = unknown && denied.length === 0 ? await heldUpBy(layout) : undefined
  if (trap !== undefined) return { objects, files: [relative(layout.top, trap)], unknown: false }
  if (denied.length === 0 && !unknown) return undefined
  return { objects, files: [...new Set(denied)].slice(0, SHOWN), unknown: denied.length === 0 }
}
