/** The migrations that make the tables as they are now, oldest first. */
export const MIGRATION_NAMES: readonly string[] = [
  "0001-run-log",
  "0002-task-claims",
  "0003-owner",
  "0004-agent-names",
  "0005-owned-names",
  "0006-about",
  "0007-asked-runs",
  "0008-newest-tasks",
  "0009-open-runs",
  "0010-listed",
  "0011-newest-plans",
]
