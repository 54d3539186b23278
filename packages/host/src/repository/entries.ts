import { join, sep } from "node:path"
import { entriesOf, lookAt, realOf } from "../look.ts"
import type { DeniedFiles } from "../paths/denied-files.ts"
import { isInside } from "../paths/roots.ts"
import { createTurns } from "../turns.ts"
import { refused, type RepositoryLayout } from "./layout.ts"

const MOST_ENTRIES = 100_000
/** Repositories of their own, and what git here neither reads nor runs. */
const SKIPPED = new Set(["hooks", "lfs", "modules", "worktrees", "svn"])

/** What a repository is held to. */
export interface Bounds {
  /** The folders that tools may touch, without symbolic links. */
  readonly roots: readonly string[]
  /** What must not be read there, by whichever name. */
  readonly denied: DeniedFiles
}

/**
 * Looks at what a repository consists of before git opens it: a FIFO in place of a file would keep git waiting, and a
 * link in place of one would make it read and write elsewhere, and say what it read: `fatal: bad shallow line: KEY=…`.
 *
 * @param deep looks below the folders too, refs and objects first of all: for a git that nothing else contains
 * @throws ToolwrightError `REPOSITORY_REFUSED`
 */
export async function holdEntries(layout: RepositoryLayout, bounds: Bounds, deep: boolean): Promise<void> {
  const own = [layout.gitDir, layout.commonDir, ...(layout.outside === undefined ? [] : [layout.outside])]
  const pending = [...new Set([layout.gitDir, layout.commonDir])]
  const tops = new Set(pending)
  // Local clones share objects by hard links, and nothing else.
  const objects = join(layout.commonDir, "objects")
  const turn = createTurns()
  let seen = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    await turn()
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (++seen > MOST_ENTRIES)
        throw refused("it has too many files to look at all of them, and nothing contains git here")
      if (entry.isDirectory()) {
        const below = deep || (tops.has(folder) && entry.name === "info")
        if (below && !(tops.has(folder) && SKIPPED.has(entry.name)) && !tops.has(path)) pending.push(path)
      } else if (entry.isSymbolicLink()) holdLink(path, bounds.roots, own)
      else if (!entry.isFile()) throw refused(`${path} is no regular file`)
      else if (!isInside(objects, path)) await holdFile(path, bounds.denied)
    }
  }
}

/** Repositories share parts by links, always with another repository; a file of the workspace is none. */
function holdLink(path: string, roots: readonly string[], own: readonly string[]): void {
  const target = realOf(path)
  if (target !== undefined && own.some((folder) => isInside(folder, target))) return
  if (target === undefined || !roots.some((root) => isInside(root, target)))
    throw refused(`${path} is a link that leads out of the workspace`)
  if (!target.split(sep).some((name) => name.endsWith(".git")))
    throw refused(`${path} is a link that leads out of the repository`)
}

async function holdFile(path: string, denied: DeniedFiles): Promise<void> {
  const stat = lookAt(path)
  if (stat !== undefined && (await denied.holds(stat)))
    throw refused(`${path} is another name of a file that is kept from tools`)
}
