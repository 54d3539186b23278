import { readdirSync, type BigIntStats, type Dirent } from "node:fs"
import { join } from "node:path"
import { isTemporaryName } from "../paths/temporary-name.ts"
import { mayBeCompiled, strangersIn } from "./compiled.ts"
import type { ContentStore } from "./content-store.ts"
import { isKept, NONE, sameState, stateOf, statMark, statOf, type EntryState } from "./entry-state.ts"
import type { Unkept } from "./change-log.ts"
import { withTarget, type NameSeal } from "./sealed-names.ts"
import { changedDeep, oddlyNamed } from "./unseen.ts"
import { createTurns } from "../turns.ts"

/** What lies below some folders, by real path. */
export interface Tree {
  readonly entries: ReadonlyMap<string, TreeEntry>
  /** What was not looked into, with why; told when something in it changes, or at once where nobody can say. */
  readonly skipped: ReadonlyMap<string, { mark: string; reason: string }>
  /** Set where the bounds were reached: what lies beyond is unknown. */
  readonly cut?: string
}

export interface TreeEntry {
  readonly state: EntryState
  readonly mark: string
}

/** How much of a tree is kept before a program runs. */
export interface TreeLimits {
  readonly entries: number
  /** Of all contents together. */
  readonly bytes: number
  /** Of one content. */
  readonly fileBytes: number
}

export const TREE_LIMITS: TreeLimits = {
  entries: 20_000,
  bytes: 256 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
}

/** Contents by path and status: what has the same status as before need not be read again. */
export type TreeIndex = Map<string, { mark: string; hash: string }>

/** Our own state is no part of the tree. */
const OUR_STATE = ".toolwright"
/** Not looked into: what other programs keep and fetch. Of git's own state no change is told. */
const SKIPPED = new Set([".git", "node_modules", ".venv", "venv"])
/** Looked into last, so that sources come before what is made of them when the bounds are reached. */
const OUTPUTS = new Set(["dist", "build", "target", ".next", ".cache", "coverage"])
/** A file that changed so shortly before it was read may change again without a new time. */
const RACY_NS = 50_000_000n

/** What looking at a tree needs. */
export interface TreeSource {
  readonly folders: readonly string[]
  /** Which names in a folder may be read: secrets are neither kept nor compared. */
  readableIn(folder: string): (name: string) => boolean
}

/** A path that two looks saw differently. */
export interface TreeChange {
  readonly path: string
  readonly before: EntryState
  readonly after: EntryState
}

/**
 * Notes everything below some folders, and keeps the contents. Works in slices, so that other work gets its turn.
 *
 * @param index what is known from earlier; brought up to date
 */
export async function lookAtTree(
  source: TreeSource,
  store: ContentStore,
  index: TreeIndex,
  limits: TreeLimits = TREE_LIMITS,
): Promise<Tree> {
  const entries = new Map<string, TreeEntry>()
  const skipped = new Map<string, { mark: string; reason: string }>()
  const keep = createKeeper(store, index, limits)
  const pending = [...source.folders].reverse()
  const last: string[] = []
  const odd = new Set<string>()
  const turn = createTurns()
  for (let folder = pending.pop() ?? last.pop(); folder !== undefined; folder = pending.pop() ?? last.pop()) {
    for (const entry of readableEntries(folder, source)) {
      await turn()
      const path = join(folder, entry.name)
      const stat = statOf(path)
      if (stat === undefined) noteOdd(entry.name, folder, odd)
      if (stat === undefined || isSkipped(entry, path, stat, skipped)) continue
      if (entries.size >= limits.entries)
        return { entries, skipped, cut: `more than ${limits.entries.toLocaleString("en")} files and folders` }
      entries.set(path, keep(path, stat))
      if (entry.isDirectory()) (OUTPUTS.has(entry.name) ? last : pending).push(path)
    }
  }
  for (const path of index.keys()) if (!entries.has(path)) index.delete(path)
  return { entries, skipped: new Map([...skipped, ...oddEntries(odd)]) }
}

/** Notes a folder with a name that is not there under what it is read as: one that is no UTF-8. */
function noteOdd(name: string, folder: string, odd: Set<string>): void {
  if (name.includes("\uFFFD")) odd.add(folder)
}

/** The entries by names that are not UTF-8, as what is not kept. */
function oddEntries(folders: ReadonlySet<string>): [string, { mark: string; reason: string }][] {
  return [...folders].flatMap(oddlyNamed).map(({ shown, mark }) => [shown, { mark, reason: ODD_NAME }])
}

/** Notes a folder that is not looked into. @returns whether it is one */
function isSkipped(
  entry: Dirent,
  path: string,
  stat: BigIntStats,
  skipped: Map<string, { mark: string; reason: string }>,
): boolean {
  if (!entry.isDirectory()) return false
  if (mayBeCompiled(entry.name)) {
    for (const name of strangersIn(path).slice(0, MOST_STRANGERS)) {
      const stranger = statOf(join(path, name))
      if (stranger !== undefined) skipped.set(join(path, name), { mark: statMark(stranger), reason: NOT_LOOKED_INTO })
    }
    return true
  }
  if (!SKIPPED.has(entry.name)) return false
  skipped.set(path, { mark: entry.name === ".git" ? "" : statMark(stat), reason: NOT_LOOKED_INTO })
  return true
}

/** Enough to tell that a folder of compiled modules was used for something else. */
const MOST_STRANGERS = 20
const ODD_NAME = "its name is not UTF-8, and so it is not kept"
const NOT_LOOKED_INTO = "what lies in it is not kept"

function readableEntries(folder: string, source: TreeSource): Dirent[] {
  const isReadable = source.readableIn(folder)
  return entriesOf(folder).filter(({ name }) => name !== OUR_STATE && !isTemporaryName(name) && isReadable(name))
}

/** Keeps contents up to the limits; what has the status of before is known already. */
function createKeeper(store: ContentStore, index: TreeIndex, limits: TreeLimits) {
  let bytes = 0
  return (path: string, stat: BigIntStats): TreeEntry => {
    const mark = statMark(stat)
    if (!stat.isFile()) return { mark, state: stateOf(path, { store }, stat) }
    const size = Number(stat.size)
    const mode = Number(stat.mode) & 0o7777
    bytes += size
    if (size > limits.fileBytes || bytes > limits.bytes) return { mark, state: { kind: "file", hash: "", size, mode } }
    const known = index.get(path)
    if (known?.mark === mark && store.has(known.hash))
      return { mark, state: { kind: "file", hash: known.hash, size, mode } }
    const state = stateOf(path, { store, limit: limits.fileBytes }, stat)
    const settled = BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > RACY_NS
    if (state.kind === "file" && state.hash !== "" && settled) index.set(path, { mark, hash: state.hash })
    return { mark, state }
  }
}

/** The paths whose state differs between two looks, and what changed that cannot be brought back. */
export function treeDifference(before: Tree, after: Tree): { changes: TreeChange[]; unkept: Unkept[] } {
  const cut = before.cut ?? after.cut
  const all = new Set([...before.entries.keys(), ...after.entries.keys()])
  const changed = [...all].flatMap((path) => changeOf(path, before, after))
  const tooLarge = changed.filter((change) => !isKept(change.before))
  return {
    changes: changed.filter((change) => isKept(change.before)),
    unkept: [
      ...tooLarge.map(({ path }) => ({ path, reason: "it was too large to be kept" })),
      ...skippedChanges(before, after),
      ...(cut === undefined
        ? []
        : [{ path: ".", reason: `the workspace holds ${cut}; those beyond were not looked at` }]),
    ],
  }
}

function changeOf(path: string, before: Tree, after: Tree): TreeChange[] {
  const old = before.entries.get(path)
  const now = after.entries.get(path)
  if (old?.mark === now?.mark) return []
  // Where one look ended early, what only the other saw may have been there all the time.
  const isCut = (before.cut ?? after.cut) !== undefined
  if (isCut && (old === undefined || now === undefined) && statOf(path) !== undefined) return []
  const change = { path, before: old?.state ?? NONE, after: now?.state ?? NONE }
  return sameState(change.before, change.after) ? [] : [change]
}

function skippedChanges(before: Tree, after: Tree): Unkept[] {
  const paths = new Set([...before.skipped.keys(), ...after.skipped.keys()])
  return [...paths].flatMap((path) => {
    const old = before.skipped.get(path)
    const now = after.skipped.get(path)
    return old?.mark === now?.mark ? [] : [{ path, reason: (old ?? now)!.reason }]
  })
}

/**
 * What changed since a moment deep in folders that both looks passed over: told, since it cannot be brought back. Of
 * git's own state nothing is told, and of a folder that itself differs the comparison tells.
 */
export async function changedUnseen(before: Tree, after: Tree, since: number): Promise<Unkept[]> {
  const folders = new Map<string, Buffer>()
  for (const [path, { mark, reason }] of after.skipped) {
    const same = before.skipped.get(path)?.mark === mark
    if (same && mark !== "" && reason === NOT_LOOKED_INTO) folders.set(path, Buffer.from(path))
  }
  return changedDeep(folders, since)
}

/** A tree as a content, and back: for a call whose end nobody sees. */
export function packTree(tree: Tree, { mayHold, seal }: NameSeal): Buffer {
  const { entries, skipped, cut } = tree
  const text = JSON.stringify({ entries: [...entries], skipped: [...skipped], cut })
  if (!mayHold(text)) return Buffer.from(text)
  const sealed = [...entries].map(([path, entry]) => [seal(path), { ...entry, state: withTarget(entry.state, seal) }])
  const passed = [...skipped].map(([path, each]) => [seal(path), { ...each, reason: seal(each.reason) }])
  return Buffer.from(JSON.stringify({ entries: sealed, skipped: passed, cut }))
}

export function unpackTree(bytes: Uint8Array, { open }: NameSeal): Tree {
  const { entries, skipped, cut } = JSON.parse(Buffer.from(bytes).toString("utf8")) as {
    entries: [string, TreeEntry][]
    skipped: [string, { mark: string; reason: string }][]
    cut?: string
  }
  return {
    entries: new Map(entries.map(([path, entry]) => [open(path), { ...entry, state: withTarget(entry.state, open) }])),
    skipped: new Map(skipped.map(([path, each]) => [open(path), { ...each, reason: open(each.reason) }])),
    ...(cut === undefined ? {} : { cut }),
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
