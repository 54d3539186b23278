import { createHash, type Hash } from "node:crypto"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { LEFT_OUT, LINKED } from "./earlier-checks.ts"

/** What is written twice within a moment may bear the same time. */
const MOMENT_MS = 100
const MOST_ENTRIES = 100_000
const SECOND = 1_000_000_000n

/**
 * Tells the work as it is from every other state of it, by the times at which the status of its files changed: nobody
 * sets these back.
 *
 * @returns undefined where it cannot be told: something was written just now, there is too much, or what is installed
 *   lies elsewhere
 */
export async function stateOfWork(root: string, signal: AbortSignal): Promise<string | undefined> {
  const state = { hash: createHash("sha256"), entries: 0, newest: 0n }
  const looked = BigInt(Date.now() - MOMENT_MS) * 1_000_000n
  const pending = [""]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    signal.throwIfAborted()
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    state.entries += entries.length
    if (state.entries > MOST_ENTRIES) return undefined
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (LEFT_OUT.has(entry.name)) continue
      if (LINKED.has(entry.name) && !entry.isDirectory()) return undefined
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) pending.push(path)
      else await noteFile(state, root, path)
    }
  }
  // Whole seconds are kept by file systems whose moments are longer than ours.
  const isCoarse = state.newest !== 0n && state.newest % SECOND === 0n
  return state.newest > looked || isCoarse ? undefined : state.hash.digest("hex")
}

async function noteFile(state: { hash: Hash; newest: bigint }, root: string, path: string): Promise<void> {
  const { ino, mode, size, ctimeNs } = await lstat(join(root, path), { bigint: true })
  state.hash.update(`${path}\0${ino} ${mode} ${size} ${ctimeNs}\0`)
  if (ctimeNs > state.newest) state.newest = ctimeNs
}
