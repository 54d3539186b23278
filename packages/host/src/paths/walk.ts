import { closeSync, constants, openSync, readdirSync, readlinkSync, type Dirent } from "node:fs"
import { descriptorPath, HAS_DESCRIPTOR_PATHS, O_PATH } from "./descriptors.ts"
import { kindOf, type EntryKind } from "./entry-kind.ts"
import type { PathPolicy } from "./policy.ts"
import type { Pinned } from "./pin.ts"
import { isTemporaryName } from "./temporary-name.ts"
import { createTurns } from "../turns.ts"

export interface WalkEntry {
  readonly name: string
  /** Path below the start, with `/`. */
  readonly path: string
  /** Path of the directory that it lies in, below the start; empty for the start. */
  readonly parent: string
  readonly kind: EntryKind
  /** 1 for what lies directly in the start. */
  readonly depth: number
}

export interface WalkOptions {
  signal?: AbortSignal
  /** Levels below the start; 128 unless given. */
  maxDepth?: number
  /** Entries looked at before the walk stops; 1,000,000 unless given. */
  maxEntries?: number
  /**
   * Called before the entries of a directory are visited, with its path below the start and its entries; may take its
   * time.
   */
  enter?(path: string, entries: readonly Dirent[]): Promise<void> | undefined
  /** Names in the order of their characters instead of the file system's. */
  sorted?: boolean
}

export interface WalkSummary {
  /** Why entries are missing: a limit, or the visitor's wish. */
  stopped?: "entries" | "depth" | "visitor"
  /** Directories that could not be read. */
  unreadable: number
  /** Entries that the path rules keep from everybody, and which were not visited. */
  denied: number
}

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * Visits everything below a pinned directory, parents first. Symbolic links are entries, never followed, so there are
 * no cycles and no way out; what the path rules deny is not visited; on Linux each directory is opened without
 * following links and its real path compared before it is read. Works in slices of a few milliseconds, so that other
 * work and cancellation get their turn.
 *
 * @param visit called for each entry; `"skip"` leaves out what lies below it, `"stop"` ends the walk
 * @throws the signal's reason when aborted
 */
export async function walk(
  policy: PathPolicy,
  start: Pinned,
  visit: (entry: WalkEntry) => "skip" | "stop" | undefined | void,
  options: WalkOptions = {},
): Promise<WalkSummary> {
  const { signal, maxDepth = 128, maxEntries = 1_000_000, sorted = false } = options
  const walking: Walking = { policy, visit, maxDepth, maxEntries, seen: 0, summary: { unreadable: 0, denied: 0 } }
  const pending: Place[] = [{ path: "", depth: 0 }]
  const turn = createTurns()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const waiting = turn()
    if (waiting !== undefined) await waiting
    signal?.throwIfAborted()
    const directory = next.path === "" ? start.real : joinPath(start.real, next.path)
    const entries = readDirectory(directory)
    if (entries === undefined) {
      walking.summary.unreadable += 1
      continue
    }
    if (options.enter !== undefined) await options.enter(next.path, entries)
    if (sorted) entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    const below = visitEntries(walking, directory, next, entries)
    if (below === undefined) break
    for (let index = below.length - 1; index >= 0; index -= 1) pending.push(below[index]!)
  }
  return walking.summary
}

/** A directory below the start. */
interface Place {
  readonly path: string
  readonly depth: number
}

/** A walk on its way. */
interface Walking {
  readonly policy: PathPolicy
  readonly visit: (entry: WalkEntry) => "skip" | "stop" | undefined | void
  readonly maxDepth: number
  readonly maxEntries: number
  seen: number
  readonly summary: WalkSummary
}

/** Visits the entries of one directory. @returns the directories to be walked next; undefined where the walk ends */
function visitEntries(
  walking: Walking,
  directory: string,
  { path: above, depth }: Place,
  entries: readonly Dirent[],
): Place[] | undefined {
  const { summary, visit, maxDepth, maxEntries } = walking
  const isReadable = above === "" ? walking.policy.readableIn(directory) : walking.policy.readableBelow(directory)
  const prefix = above === "" ? "" : `${above}/`
  const below: Place[] = []
  for (const entry of entries) {
    if (isTemporaryName(entry.name)) continue
    if (!isReadable(entry.name)) {
      summary.denied += 1
      continue
    }
    if (++walking.seen > maxEntries) return end(summary, "entries")
    const path = prefix + entry.name
    const kind = kindOf(entry)
    const wish = visit({ name: entry.name, path, parent: above, kind, depth: depth + 1 })
    if (wish === "stop") return end(summary, "visitor")
    if (kind !== "directory" || wish === "skip") continue
    if (depth + 1 >= maxDepth) summary.stopped = "depth"
    else below.push({ path, depth: depth + 1 })
  }
  return below
}

function end(summary: WalkSummary, stopped: "entries" | "visitor"): undefined {
  summary.stopped = stopped
}

function joinPath(base: string, below: string): string {
  return base.endsWith("/") ? base + below : `${base}/${below}`
}

function readDirectory(real: string): Dirent[] | undefined {
  let descriptor: number | undefined
  try {
    if (!HAS_DESCRIPTOR_PATHS) return readdirSync(real, { withFileTypes: true })
    descriptor = openSync(real, DIRECTORY)
    const self = descriptorPath(descriptor)
    if (readlinkSync(self) !== real) return undefined
    return readdirSync(self, { withFileTypes: true })
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
