import { lstatSync } from "node:fs"
import { dirname, join } from "node:path"

/**
 * Where the repository begins in which a folder lies without being its top. It is not the workspace's, so nothing can
 * be committed from there.
 */
export function repositoryAbove(folder: string): string | undefined {
  if (isTop(folder)) return undefined
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (isTop(at)) return at
    if (at === dirname(at)) return undefined
  }
}

const isTop = (folder: string): boolean => {
  try {
    return lstatSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
