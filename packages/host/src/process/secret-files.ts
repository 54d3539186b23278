import { readdir } from "node:fs/promises"
import { join } from "node:path"

/** Dependencies: many files, and nobody's secrets; git keeps its own state. */
const SKIPPED = new Set([".git", "node_modules", ".venv", "venv"])
const MOST_ENTRIES = 200_000

/**
 * The files below some folders that the path rules keep from tools, by absolute path. Only names are looked at; links
 * are not followed.
 *
 * @param isReadable whether tools may read an absolute path
 * @returns the files, and whether there were too many entries to see all of them
 */
export async function secretFiles(
  folders: readonly string[],
  isReadable: (path: string) => boolean,
): Promise<{ files: string[]; incomplete: boolean }> {
  const found = new Set<string>()
  const pending = [...folders]
  let seen = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    seen += entries.length
    if (seen > MOST_ENTRIES) return { files: [...found], incomplete: true }
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) pending.push(path)
      } else if (entry.isFile() && !isReadable(path)) found.add(path)
    }
  }
  return { files: [...found], incomplete: false }
}
