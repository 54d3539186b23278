import { lstatSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Workspace } from "@toolwright/host/paths"
import { IGNORE_FILES, LARGEST_IGNORE_FILE } from "./ignore-rules.ts"

/** What ripgrep opens in a folder and in every one above it. */
const OPENED = [...IGNORE_FILES, join(".git", "info", "exclude")]

/*
 * Ripgrep opens ignore files whatever they are: a pipe that nobody writes to holds it for ever, and a link to a device
 * without end is read until memory is, as is a file of gigabytes. A search by ourselves reads regular files alone, and
 * none that is longer than rules are.
 */

/** Whether something but a file of rules stands in an ignore file's place, in a folder or above it. */
export function hasTrapAbove(folder: string): boolean {
  if (OPENED.some((name) => isTrap(join(folder, name)))) return true
  return dirname(folder) !== folder && hasTrapAbove(dirname(folder))
}

/** The same below it, which takes a walk. */
export async function hasTrapBelow(workspace: Workspace, path: string, signal: AbortSignal): Promise<boolean> {
  let found = false
  await workspace.walk(
    path,
    (entry, { real }) => {
      found = IGNORE_FILES.includes(entry.name) && isTrap(join(real, entry.path))
      return found ? "stop" : undefined
    },
    { signal },
  )
  return found
}

function isTrap(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && (!stat.isFile() || stat.size > LARGEST_IGNORE_FILE)
  } catch {
    // A part of a path may be a file, or be closed to us: then nothing is opened there either.
    return false
  }
}
