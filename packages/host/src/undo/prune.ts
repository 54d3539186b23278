import { lstatSync } from "node:fs"
import { join } from "node:path"
import { writeStateFile } from "../paths/state-files.ts"
import type { ChangeLog, ChangeEntry } from "./change-log.ts"
import type { ContentStore } from "./content-store.ts"
import type { EntryState } from "./entry-state.ts"

/** How long what was changed can be taken back. */
export interface Retention {
  readonly days: number
  /** Of all kept contents together. */
  readonly bytes: number
}

const DAY_MS = 24 * 3600 * 1000
/** Contents this young may belong to a call that another process is about to note. */
const GRACE_MS = 3600 * 1000

/** Whether it is a day since a history was last made smaller; if so, the day begins anew. */
export function isPruneDue(folder: string, now = Date.now()): boolean {
  const stamp = join(folder, "pruned")
  const stat = lstatSync(stamp, { throwIfNoEntry: false })
  if (stat !== undefined && now - stat.mtimeMs < DAY_MS) return false
  writeStateFile(stamp, `${new Date(now).toISOString()}\n`, { mode: 0o600 })
  return true
}

/**
 * Forgets entries that are too old, and the oldest ones while the contents take more room than they may; then the
 * contents that no entry speaks of.
 *
 * @param known hashes that an index of the present tree speaks of; forgotten when nothing else makes room
 */
export function prune(
  log: ChangeLog,
  store: ContentStore,
  retention: Retention,
  known: Iterable<string>,
  now = Date.now(),
): { forgotten: number } {
  const oldest = now - retention.days * DAY_MS
  let entries = log.read()
  let forgotten = 0
  const forget = (gone: readonly ChangeEntry[]): void => {
    for (const { id } of gone) log.remove(id)
    forgotten += gone.length
    entries = entries.filter((entry) => !gone.includes(entry))
  }
  forget(entries.filter(({ at }) => Date.parse(at) < oldest))
  const held = new Set(known)
  for (;;) {
    const left = store.prune(new Set([...held, ...hashesOf(entries)]), now - GRACE_MS)
    if (left <= retention.bytes || (entries.length === 0 && held.size === 0)) return { forgotten }
    if (entries.length > 0) forget(entries.slice(0, Math.ceil(entries.length / 4)))
    else held.clear()
  }
}

function hashesOf(entries: readonly ChangeEntry[]): string[] {
  const hashOf = (state: EntryState | undefined): string[] => (state?.kind === "file" ? [state.hash] : [])
  return entries.flatMap(({ changes }) => changes.flatMap(({ before, after }) => [...hashOf(before), ...hashOf(after)]))
}
