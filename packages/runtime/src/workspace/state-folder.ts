import { accessSync, constants, lstatSync, mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { STATE_DATABASE } from "@toolwright/store/state"
import { isOwnFolder, makeStateFolder, writeStateFile } from "@toolwright/host/state-files"

type Environment = Readonly<Record<string, string | undefined>>

/** Where a workspace's records and its lock lie. */
export interface StateFolder {
  readonly path: string
  /** Why it is not the one in the workspace, where that is worth a line. */
  readonly reason?: string
}

const MEND = "Remove it to have them in the workspace, or name another place for them with XDG_STATE_HOME."

/**
 * The folder that holds run records and the lock: `.toolwright` in the workspace, or one outside where the workspace
 * cannot be written, or where something else stands in its place, such as a link that was committed. Nothing is
 * created: whoever only looks leaves nothing behind.
 */
export function stateFolderOf(root: string, writable: boolean, env: Environment): StateFolder {
  const path = join(root, ".toolwright")
  const wrong = isThere(path) && !isOwnFolder(path) ? `${path} is no directory of yours` : notPlainIn(path)
  if (wrong === undefined && writable && canWrite(isThere(path) ? path : root)) return { path }
  const outside = outsideFolder(root, env)
  return {
    path: outside,
    ...(wrong === undefined ? {} : { reason: `${wrong}: runs are recorded in ${outside} instead. ${MEND}` }),
  }
}

/** Creates the folder before something is written there. It ignores itself, so that version control stays clean. */
export function createStateFolder(folder: string): void {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    makeStateFolder(dirname(folder), basename(folder))
    writeStateFile(join(folder, ".gitignore"), "*\n")
  } catch {
    // What cannot be written is told by whoever writes the lock or the record, with what to do.
  }
}

/** The user's own folder for state, which no workspace can change. A relative path in the variable counts as none. */
export function userStateFolder(env: Environment): string {
  const configured = env.XDG_STATE_HOME ?? ""
  const home = env.HOME ?? ""
  const base = isAbsolute(configured) ? configured : join(isAbsolute(home) ? home : homedir(), ".local", "state")
  return join(base, "toolwright")
}

/** Where the state of a workspace goes that has no place in it: the user's state folder, by the workspace's path. */
export function outsideFolder(root: string, env: Environment): string {
  // Loaded where it is used: most workspaces keep their state themselves.
  const { createHash } = process.getBuiltinModule("node:crypto")
  return join(userStateFolder(env), createHash("sha256").update(resolve(root)).digest("hex").slice(0, 16))
}

/** What stands in the place of the database, or of a file that goes with it, and is no plain file. */
function notPlainIn(folder: string): string | undefined {
  for (const ending of ["", "-wal", "-shm", "-journal"]) {
    const file = join(folder, `${STATE_DATABASE}${ending}`)
    const stat = lstatSync(file, { throwIfNoEntry: false })
    if (stat !== undefined && (!stat.isFile() || stat.nlink > 1)) return `${file} is no file of its own`
  }
  return undefined
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
