import { readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { isInside } from "../paths/roots.ts"
import { refused, type RepositoryLayout } from "./layout.ts"

const MOST_ENTRIES = 100_000
/** Repositories of their own, and what git here neither reads nor runs. */
const SKIPPED = new Set(["hooks", "lfs", "modules", "worktrees", "svn"])

/**
 * Looks at what a repository consists of before git opens it: a FIFO in place of a file would keep git waiting, and a
 * link in place of one would make it read and write elsewhere.
 *
 * @param deep looks below the folders too, refs and objects first of all: for a git that nothing else contains
 * @throws ToolwrightError `REPOSITORY_REFUSED`
 */
export async function holdEntries(layout: RepositoryLayout, roots: readonly string[], deep: boolean): Promise<void> {
  const allowed = [...roots, ...(layout.outside === undefined ? [] : [layout.outside])]
  const pending = [...new Set([layout.gitDir, layout.commonDir])]
  const tops = new Set(pending)
  let seen = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name)
      if (++seen > MOST_ENTRIES)
        throw refused("it has too many files to look at all of them, and nothing contains git here")
      if (entry.isDirectory()) {
        const below = deep || (tops.has(folder) && entry.name === "info")
        if (below && !(tops.has(folder) && SKIPPED.has(entry.name)) && !tops.has(path)) pending.push(path)
      } else if (entry.isSymbolicLink()) await holdLink(path, allowed)
      else if (!entry.isFile()) throw refused(`${path} is no regular file`)
    }
  }
}

async function holdLink(path: string, allowed: readonly string[]): Promise<void> {
  const target = await realpath(path).catch(() => undefined)
  if (target === undefined || !allowed.some((root) => isInside(root, target)))
    throw refused(`${path} is a link that leads out of the workspace`)
}
