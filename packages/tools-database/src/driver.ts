/** A migration as the database remembers it. */
export interface AppliedMigration {
  version: number
  name: string
  checksum: string
  appliedAt: string
}

/** One step to take: run the SQL, and write or remove the record of it, in one transaction where that is possible. */
export interface MigrationStep {
  direction: "up" | "down"
  version: number
  name: string
  checksum: string
  sql: string
  isTransactional: boolean
}

/** `skipped`: another migrator had done it meanwhile. */
export type StepOutcome = "done" | "skipped"

/**
 * A connection to one database. Methods reject with `ToolwrightError` (`CONNECTION_FAILED`, `UNAUTHORIZED`,
 * `MIGRATION_LOCKED`, `MIGRATION_FAILED`, `TIMEOUT`, `CHECKSUM_DRIFT`); a step that fails has changed nothing, unless
 * it is not transactional.
 */
export interface MigrationDriver extends AsyncDisposable {
  /** What is applied, in order; nothing when the table of records does not exist. Never writes. */
  applied(): Promise<AppliedMigration[]>
  /** Takes one step, alone: steps of other migrators wait, or are waited for. */
  run(step: MigrationStep): Promise<StepOutcome>
}

export interface DriverLimits {
  lockWaitMs: number
  migrationMs: number
  signal: AbortSignal
}

/** The table of records, in the database that is migrated. */
export const TABLE = "toolwright_migrations"

export const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  version BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL
)`
