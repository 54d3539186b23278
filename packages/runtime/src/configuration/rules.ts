/** Rules of one agent, beside those for all. */
export interface AgentPermissions {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly ask?: readonly string[]
}

/** How often the tools of one pattern may be called. */
export interface CallLimit {
  /** Calls of each tool in any minute, of all runs and callers together. */
  readonly perMinute?: number
  /** Calls of each tool in one run. */
  readonly perRun?: number
  /** A tool that failed so often in a row is not carried out again in that run. */
  readonly failures?: number
}
