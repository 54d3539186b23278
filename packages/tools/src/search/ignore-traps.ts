import { lstatSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Workspace } from "@toolwright/host/paths"
import { IGNORE_FILES } from "./ignore-rules.ts"

/** What ripgrep opens in a folder and in every one above it. */
const OPENED = [...IGNORE_FILES, join(".git", "info", "exclude")]

/*
 * Ripgrep opens ignore files whatever they are: a pipe that nobody writes to holds it for ever, and a link to a device
 * without end is read until memory is. A search by ourselves reads regular files alone.
 */

/** Whether something but a regular file stands in an ignore file's place, in a folder or above it. */
export function hasTrapAbove(folder: string): boolean {
  const isTrap = (name: string): boolean => lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === false
  if (OPENED.some(isTrapSafely(isTrap))) return true
  return dirname(folder) !== folder && hasTrapAbove(dirname(folder))
}

/** The same below it, which takes a walk. */
export async function hasTrapBelow(workspace: Workspace, path: string, signal: AbortSignal): Promise<boolean> {
  let found = false
  await workspace.walk(
    path,
    (entry) => {
      found = IGNORE_FILES.includes(entry.name) && entry.kind !== "file"
      return found ? "stop" : undefined
    },
    { signal },
  )
  return found
}

/** A part of a path may be a file, or be closed to us: then nothing is opened there either. */
function isTrapSafely(isTrap: (name: string) => boolean): (name: string) => boolean {
  return (name) => {
    try {
      return isTrap(name)
    } catch {
      return false
    }
  }
}
