import { join } from "node:path"
import { entriesOf, lookAt } from "../look.ts"
import { createTurns } from "../turns.ts"

/** Which files a folder holds, and a mark of each one's state; undefined when there are too many to look at. */
export type FolderState = ReadonlyMap<string, string> | undefined

/** What is made, fetched, cached or kept by ourselves, and nobody's source. */
const SKIPPED = new Set([
  ".git",
  ".toolwright",
  "node_modules",
  ".venv",
  "venv",
  "__pycache__",
  "target",
  "dist",
  "build",
  ".next",
  ".cache",
  ".pytest_cache",
  "coverage",
])
const MOST_ENTRIES = 20_000

/**
 * Notes the state of every file below a folder, without dependencies and build outputs. Reads no contents and follows
 * no links.
 */
export async function folderState(root: string): Promise<FolderState> {
  const state = new Map<string, string>()
  const pending = [""]
  const turn = createTurns()
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of entriesOf(join(root, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) pending.push(path)
        continue
      }
      if (state.size >= MOST_ENTRIES) return undefined
      const stat = lookAt(join(root, path))
      if (stat !== undefined) state.set(path, `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`)
      const others = turn()
      if (others !== undefined) await others
    }
  }
  return state
}

/** The files that were created, changed or removed between two states, sorted; empty when either is unknown. */
export function changedFiles(before: FolderState, after: FolderState): string[] {
  if (before === undefined || after === undefined) return []
  const changed = [...after].filter(([path, mark]) => before.get(path) !== mark).map(([path]) => path)
  const removed = [...before.keys()].filter((path) => !after.has(path))
  return [...changed, ...removed].sort()
}
