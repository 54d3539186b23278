/** How a run ended. */
export type RunOutcome =
  | "completed"
  /**
   * The agent finished, and calls that failed were never put right, what was changed does not pass earlier checks, the
   * model declined a part of the task, or its answer claims what no recorded result shows.
   */
  | "completed-with-failures"
  /**
   * The agent gave up and nothing of what it promises was done, or the model declined the task or asked what is meant.
   */
  | "nothing-done"
  | "max-rounds"
  | "no-tool-use"
  | "stuck"
  | "failed"
  | "cancelled"
  /** For a person's answer, without a process: it goes on from its record. */
  | "waiting"
