/** A path that is about to change. */
export interface PlannedChange {
  /** Real path. */
  readonly path: string
  /** The content that a file will have there; what lies there afterwards is looked at otherwise. */
  readonly content?: Uint8Array
}

/** Keeps what lies at paths before it is changed, so that it can be taken back. */
export interface ChangeRecorder {
  /**
   * Runs a change of some paths: what lies there is kept and noted first, what lies there afterwards is noted then. The
   * change runs even where nothing can be kept; the call's record says so.
   */
  changing<Value>(changes: readonly PlannedChange[], task: () => Promise<Value>): Promise<Value>
  /** Everything below a real path, itself included; for changes of whole directories. */
  below(path: string): readonly string[]
}

/** For workspaces without a history. */
export const NOTHING_KEPT: ChangeRecorder = {
  changing: (_, task) => task(),
  below: () => [],
}
