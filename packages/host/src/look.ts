import { lstatSync, readdirSync, realpathSync, type Dirent, type Stats } from "node:fs"

/**
 * Looks at the disk that take a few microseconds each and are done by the dozen before a program is started. They do
 * not wait for a thread: on a busy machine each wait takes longer than all looks together. What goes through many
 * entries lets others have their turn (see `createTurns`).
 */

/** What lies at a path, links not followed; undefined where nothing does, and where it cannot be looked at. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether anything lies at a path, a link that leads nowhere too. */
export function isThere(path: string): boolean {
  return lookAt(path) !== undefined
}

/** Whether a folder lies at a path, and no link to one. */
export function isFolder(path: string): boolean {
  return lookAt(path)?.isDirectory() === true
}

/** What a folder holds; nothing where it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** A path without links; undefined where it leads nowhere. */
export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
