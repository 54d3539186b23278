/** How the work of a run is looked at from outside: its checks as they were, and the history it is recorded in. */

import type { JsonObject } from "./schema.ts"

/** Something that a person should know of a run's work. */
export interface WorkNote {
  code: string
  message: string
}

/** What became of the checks since a run began, and what the earlier ones say of the work as it is now. */
export interface EarlierChecks {
  /** Files of the checks that were changed, removed, or added where they decide how the others run. */
  changed: string[]
  removed: string[]
  added: string[]
  /** Whether the checks as they were pass now. */
  passed: boolean
  /** What they reported, or why they could not be run. */
  report: string
}

/** The checks as they were when it was made. */
export interface CheckBaseline {
  /** Whether there was anything to check with. */
  readonly any: boolean
  /** Nothing where every check is as it was. The earlier ones are run in a copy, so the work itself stays as it is. */
  compare(signal: AbortSignal): Promise<EarlierChecks | undefined>
  /**
   * Itself as JSON, for a run that goes on in another process.
   *
   * @param keep puts a text aside and says how to ask for it; undefined where it cannot be kept as it is
   */
  save?(keep: (text: string) => string | undefined): JsonObject
}

/** A {@link CheckBaseline} that was saved. */
export interface SavedBaseline {
  saved: JsonObject
  /** Texts that were put aside; those that are gone are left out. */
  texts(names: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** Where the branches of a repository stand. */
export type HistoryState = ReadonlyMap<string, string>

/** The history that work is recorded in; what stands there counts, whoever wrote it. */
export interface WorkHistory {
  /** Where everything stands now; undefined where there is no repository. */
  state(): Promise<HistoryState | undefined>
  /** Commits that a later state reaches and the earlier does not. */
  added(before: HistoryState, after: HistoryState): Promise<string[]>
  /** Files that differ between what the current branch held then and holds now; none where no commit is new. */
  recorded(before: HistoryState, after: HistoryState): Promise<string[]>
  /** Puts the branches back to where they stood and leaves every file as it is; false where that cannot be done. */
  undo(before: HistoryState, after: HistoryState): Promise<boolean>
  /**
   * Of these files those that are not recorded as they are. Where none are given: what a commit that names no files
   * would record, which leaves out what lay there untouched before the work began.
   */
  unrecorded(files?: readonly string[]): Promise<string[]>
  /** Of these files those that are there and that the history passes over by rules of its own. */
  ignored(files: readonly string[]): Promise<string[]>
}

/** Looks at one workspace. Tools of the same workspace share one. */
export interface WorkWatch {
  /** Notes the checks as they are now, or has those again that were noted by an earlier process. */
  baseline(signal: AbortSignal, earlier?: SavedBaseline): Promise<CheckBaseline>
  readonly history: WorkHistory
  /** What stands in files now, as a mark of each content; undefined where there is no such file. */
  fingerprints(files: readonly string[]): Promise<ReadonlyMap<string, string | undefined>>
}
