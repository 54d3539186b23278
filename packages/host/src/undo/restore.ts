import { chmodSync } from "node:fs"
import { chmod, lstat, mkdir, open, rename, rmdir, symlink, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { pinParent, type Pinned } from "../paths/pin.ts"
import type { PathPolicy } from "../paths/policy.ts"
import { isInside } from "../paths/roots.ts"
import { compiledBelow } from "./compiled.ts"
import { hashOfBytes, type ContentStore } from "./content-store.ts"
import { HASH_ONLY, readPlainFile, sameState, stateOf, type EntryState } from "./entry-state.ts"
import type { Restoration } from "./plan-undo.ts"

/** What restoring needs. */
export interface RestoreParts {
  /** Admits every path below the folders that may be written. */
  readonly policy: PathPolicy
  readonly store: ContentStore
  /** Names a file that nobody else uses. */
  temporaryName(): string
}

/**
 * Brings paths back to what they were: first what stands in the way of something else, then all that must come, folders
 * first, then what must go, the deepest first. Nothing is written through a link; a path that is no longer what the
 * plan saw is left alone.
 *
 * @returns the paths that could not be brought back, with why
 */
export async function restore(
  restorations: readonly Restoration[],
  parts: RestoreParts,
): Promise<{ path: string; reason: string }[]> {
  const failed = new Map<string, string>()
  const attempt = async (path: string, task: (at: string, parent: Pinned) => Promise<void>): Promise<void> => {
    if (failed.has(path)) return
    try {
      await inParent(path, parts.policy, task)
    } catch (thrown) {
      failed.set(path, thrown instanceof Error ? thrown.message : String(thrown))
    }
  }
  const remove = ({ path, now }: Restoration) =>
    attempt(path, async (at) => {
      assertAsSeen(path, now)
      if (now.kind !== "directory") return unlink(at)
      await removeCompiled(path, parts.policy)
      await rmdir(at)
    })
  const shallowFirst = [...restorations].sort((one, other) => (one.path < other.path ? -1 : 1))
  const deepFirst = [...shallowFirst].reverse()
  const contents = contentsOf(restorations, parts.store)

  for (const { path, now } of shallowFirst) {
    const isClosed = now.kind === "directory" && (now.mode & 0o700) !== 0o700
    if (isClosed) await attempt(path, (at) => chmod(at, now.mode | 0o700))
  }
  const inTheWay = restorations.filter(changesKind).map(({ path }) => path)
  const goesFirst = ({ path, now }: Restoration): boolean =>
    now.kind !== "none" && inTheWay.some((folder) => isInside(folder, path))
  for (const each of deepFirst) if (goesFirst(each)) await remove(each)
  for (const each of shallowFirst) {
    const { path, now, to } = each
    if (to.kind === "none") continue
    await attempt(path, async (at, parent) => {
      if (!goesFirst(each)) assertAsSeen(path, now)
      await bring(at, to, parent.at(parts.temporaryName()), contents)
    })
  }
  for (const each of deepFirst) if (each.to.kind === "none" && !goesFirst(each)) await remove(each)
  // A folder that may not be written is closed again when everything in it is there.
  for (const { path, to } of deepFirst) if (to.kind === "directory") await attempt(path, (at) => chmod(at, to.mode))
  return [...failed].map(([path, reason]) => ({ path, reason }))
}

/** Whether what lies there has to go before what is to come: all but a file over a file, a folder over a folder. */
function changesKind({ now, to }: Restoration): boolean {
  if (now.kind === "none" || to.kind === "none") return false
  return now.kind !== to.kind || now.kind === "link"
}

/** What was compiled goes with the folder that its sources were in. */
async function removeCompiled(folder: string, policy: PathPolicy): Promise<void> {
  const compiled = compiledBelow(folder)
  if (compiled === undefined) return
  for (const name of compiled.names) await inParent(join(compiled.path, name), policy, unlink)
  await inParent(compiled.path, policy, (at) => rmdir(at))
}

async function inParent(
  path: string,
  policy: PathPolicy,
  task: (at: string, parent: Pinned) => Promise<void>,
): Promise<void> {
  const { parent, name } = await pinParent(policy, policy.locate(path, "write"))
  await using held = parent
  if (held.real !== dirname(path)) throw new Error("the folder above it is a link by now")
  await task(held.at(name), held)
}

function assertAsSeen(path: string, now: EntryState): void {
  if (now.kind === "directory" || sameState(stateOf(path, HASH_ONLY), now)) return
  throw new ToolwrightError("STALE", "it changed while it was being brought back")
}

/** Contents by hash: from the store, or from the other name that a moved file has now. */
function contentsOf(restorations: readonly Restoration[], store: ContentStore): (hash: string) => Buffer {
  const elsewhere = new Map(restorations.flatMap(({ path, now }) => (now.kind === "file" ? [[now.hash, path]] : [])))
  return (hash) => {
    const other = elsewhere.get(hash)
    const bytes = store.get(hash) ?? (other === undefined ? undefined : readPlainFile(other))
    if (bytes === undefined || hashOfBytes(bytes) !== hash) throw new Error("what was there before is no longer kept")
    return bytes
  }
}

async function bring(
  at: string,
  to: EntryState,
  temporary: string,
  contentOf: (hash: string) => Buffer,
): Promise<void> {
  if (to.kind === "directory") {
    const there = await lstat(at).catch(() => undefined)
    if (there === undefined) await mkdir(at)
    chmodSync(at, to.mode | 0o700)
  } else if (to.kind === "link") {
    await symlink(to.target, at)
  } else if (to.kind === "file") {
    const bytes = contentOf(to.hash)
    const handle = await open(temporary, "wx", 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.chmod(to.mode)
    } finally {
      await handle.close()
    }
    await rename(temporary, at)
  }
}
