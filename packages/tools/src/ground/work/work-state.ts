import type { BigIntStats } from "node:fs"
import { createHash, type Hash } from "node:crypto"
import { lstat, readdir, readlink, stat } from "node:fs/promises"
import { dirname, isAbsolute, join, normalize } from "node:path"
import { LEFT_OUT, LINKED } from "./earlier-checks.ts"

/** What is written twice within a moment may bear the same time. */
const MOMENT_MS = 100
const MOST_ENTRIES = 100_000
const SECOND = 1_000_000_000n

interface State {
  readonly hash: Hash
  entries: number
  newest: bigint
}

/**
 * Tells the work as it is from every other state of it, by the times at which the status of its files changed: nobody
 * sets these back. What is installed is looked at whole, since checks are shown it whole.
 *
 * @returns undefined where it cannot be told: something was written just now, there is too much, or a link leads to
 *   a folder that is not looked at
 */
export async function stateOfWork(root: string, signal: AbortSignal): Promise<string | undefined> {
  const state: State = { hash: createHash("sha256"), entries: 0, newest: 0n }
  const looked = BigInt(Date.now() - MOMENT_MS) * 1_000_000n
  const pending = [""]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    signal.throwIfAborted()
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    state.entries += entries.length
    if (state.entries > MOST_ENTRIES) return undefined
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (!isLookedAt(path)) continue
      if (LINKED.has(entry.name) && !entry.isDirectory()) return undefined
      if (entry.isSymbolicLink() && !(await noteWhereLed(state, root, path))) return undefined
      if (entry.isDirectory()) pending.push(path)
      await note(state, root, entry.isDirectory(), path)
    }
  }
  // Whole seconds are kept by file systems whose moments are longer than ours.
  const isCoarse = state.newest !== 0n && state.newest % SECOND === 0n
  return state.newest > looked || isCoarse ? undefined : state.hash.digest("hex")
}

/** Whether the copy in which the checks run holds it, or what is installed does, which they are shown as it is. */
function isLookedAt(path: string): boolean {
  for (const part of path.split("/")) {
    if (LINKED.has(part)) return true
    if (LEFT_OUT.has(part)) return false
  }
  return true
}

/** Notes the file that a link leads to, where that is not looked at by itself. @returns whether it can be told */
async function noteWhereLed(state: State, root: string, path: string): Promise<boolean> {
  const target = await readlink(join(root, path))
  const place = normalize(join(dirname(path), target))
  const isWithin = !isAbsolute(target) && place.split("/")[0] !== ".."
  if (isWithin && isLookedAt(place)) return true
  const led = await stat(join(root, path), { bigint: true }).catch(() => undefined)
  if (led !== undefined && !led.isFile()) return false
  noteFile(state, path, led)
  return true
}

/** Of a folder only that it is there, and for whom: programs that run make and take away what lies in it. */
async function note(state: State, root: string, isFolder: boolean, path: string): Promise<void> {
  const found = await lstat(join(root, path), { bigint: true })
  if (isFolder) state.hash.update(`${path}/\0${found.mode}\0`)
  else noteFile(state, path, found)
}

function noteFile(state: State, path: string, found: BigIntStats | undefined): void {
  state.hash.update(`${path}\0${found?.ino} ${found?.mode} ${found?.size} ${found?.ctimeNs}\0`)
  if (found !== undefined && found.ctimeNs > state.newest) state.newest = found.ctimeNs
}
