import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { createHash } from "node:crypto"
import { join, resolve } from "node:path"

/**
 * The folder in a workspace that holds run records and the lock. Nothing is created: whoever only looks leaves nothing
 * behind.
 *
 * @returns its path, or nothing when the workspace cannot be written
 */
export function workspaceFolder(root: string): string | undefined {
  const folder = join(root, ".toolwright")
  try {
    accessSync(existsSync(folder) ? folder : root, constants.W_OK)
    return folder
  } catch {
    return undefined
  }
}

/** Creates the folder before something is written there. It ignores itself, so that version control stays clean. */
export function createStateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, ".gitignore"), "*\n")
  } catch {
    // What cannot be written is told by whoever writes the lock or the record, with what to do.
  }
}

/**
 * Where the state of a workspace goes that cannot be written itself: the user's state folder, by the workspace's path.
 */
export function outsideFolder(root: string, env: Readonly<Record<string, string | undefined>>): string {
  const state = env.XDG_STATE_HOME ?? join(homedir(), ".local", "state")
  const key = createHash("sha256").update(resolve(root)).digest("hex").slice(0, 16)
  return join(state, "toolwright", key)
}
