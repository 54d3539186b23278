import type { HistoryState, JsonObject } from "@toolwright/toolbox"

/**
 * What a gate puts on record, so that a run which goes on in another process is judged by how things were at its
 * beginning.
 */
export type WorkEventType = "work-begin" | "work-history"

/** Takes down what a gate saw. `keep` puts a text aside under a name; undefined where it holds a secret. */
export type NoteWork = (type: WorkEventType, body: (keep: (text: string) => string | undefined) => JsonObject) => void

/** What an earlier process saw of the work. */
export interface EarlierWork {
  watches: SavedWatch[]
  /** Where the branches stood after the last call; as at the beginning unless given. */
  last?: (SavedHistory | null)[]
  /** Something happened that nobody could check. */
  unseen?: boolean
  texts(names: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** One workspace before the first call that might have changed something. */
export interface SavedWatch {
  checks: JsonObject | null
  began: SavedHistory | null
  files: [path: string, mark: string | null][]
}

/** The branches and where they stand. */
export type SavedHistory = [name: string, commit: string][]

/** A call that was under way when the earlier process died: none, one that hands work in, or another. */
export type InterruptedWork = "none" | "hands-in" | "other"

export const savedHistory = (state: HistoryState | undefined): SavedHistory | null =>
  state === undefined ? null : [...state]

export const historyIn = (saved: SavedHistory | null | undefined): HistoryState | undefined =>
  saved == null ? undefined : new Map(saved)

export function sameHistory(one: HistoryState | undefined, other: HistoryState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.size === other.size && [...one].every(([name, value]) => other.get(name) === value)
}
