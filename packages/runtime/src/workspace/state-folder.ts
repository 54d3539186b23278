import { mkdirSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { createHash } from "node:crypto"
import { join, resolve } from "node:path"

/**
 * The folder in a workspace that holds run records and the lock. It ignores itself, so that version control stays clean.
 *
 * @returns its path, or nothing when the workspace cannot be written
 */
export function workspaceFolder(root: string): string | undefined {
  const folder = join(root, ".toolwright")
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, ".gitignore"), "*\n")
    return folder
  } catch {
    return undefined
  }
}

/** Where the state of a workspace goes that cannot be written itself: the user's state folder, by the workspace's path. */
export function outsideFolder(root: string, env: Readonly<Record<string, string | undefined>>): string {
  const state = env.XDG_STATE_HOME ?? join(homedir(), ".local", "state")
  const key = createHash("sha256").update(resolve(root)).digest("hex").slice(0, 16)
  return join(state, "toolwright", key)
}
