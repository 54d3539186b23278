import { join } from "node:path"
import { entriesOf, lookAt } from "../look.ts"
import { filesBelow, findDenied, mayBeLinked, type ReadRules } from "../paths/denied-files.ts"
import { createTurns } from "../turns.ts"

/** What a sandboxed process must not see, by absolute path. */
export interface SecretEntries {
  readonly files: string[]
  readonly folders: string[]
  /** Whether there were too many entries to see all of them. */
  readonly incomplete: boolean
}

const MOST_ENTRIES = 200_000

/**
 * The files and folders that the path rules keep from tools, and the other names (hard links) of such files. Links are
 * not followed.
 */
export async function secretFiles(folders: readonly string[], rules: ReadRules): Promise<SecretEntries> {
  const found = await findDenied(folders, rules)
  const linked = new Set(found.files.flatMap((file) => inodeIfShared(file)))
  for (const folder of found.folders.filter(mayBeLinked))
    for (const file of await filesBelow([folder])) inodeIfShared(file).forEach((inode) => linked.add(inode))
  if (linked.size === 0) return found
  const others = await filesWith(linked, folders, new Set([...found.files, ...found.folders]))
  return { ...found, files: [...found.files, ...others] }
}

function inodeIfShared(path: string): string[] {
  const stat = lookAt(path)
  return stat === undefined || stat.nlink < 2 ? [] : [`${stat.dev}:${stat.ino}`]
}

async function filesWith(inodes: ReadonlySet<string>, folders: readonly string[], known: ReadonlySet<string>) {
  const found: string[] = []
  const pending = [...folders]
  const turn = createTurns()
  let seen = 0
  for (let folder = pending.pop(); folder !== undefined && seen < MOST_ENTRIES; folder = pending.pop()) {
    const others = turn()
    if (others !== undefined) await others
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (known.has(path)) continue
      seen += 1
      if (entry.isDirectory()) pending.push(path)
      else if (entry.isFile() && inodeIfShared(path).some((inode) => inodes.has(inode))) found.push(path)
    }
  }
  return found
}
