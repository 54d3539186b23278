import { ToolwrightError } from "@toolwright/toolbox/errors"
import { MIGRATION_NAMES } from "../migrations/names.ts"
import type { Database } from "./database.ts"

/** What stands in a database, and what is still to be done to it. */
export interface MigrationStatus {
  applied: string[]
  pending: string[]
  /** Migrations of a newer version than this one. */
  unknown: string[]
}

const TABLE = "toolwright_migrations"

/** Reads how far a database is, without loading the query builder. */
export async function migrationStatus(database: Database): Promise<MigrationStatus> {
  const applied = (await hasTable(database))
    ? (await database.query<{ name: string }>(`SELECT name FROM ${TABLE} ORDER BY name`)).map(({ name }) => name)
    : []
  return {
    applied,
    pending: MIGRATION_NAMES.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !MIGRATION_NAMES.includes(name)),
  }
}

/**
 * Brings a database to the tables of this version. Several processes may do it at once: one does it, the others wait.
 *
 * @returns the names of the migrations that were run
 * @throws ToolwrightError `DATABASE_NEWER` where a newer version has been here, `MIGRATION_FAILED`
 */
export async function migrate(database: Database): Promise<string[]> {
  const { pending, unknown } = await migrationStatus(database)
  if (unknown.length > 0) {
    throw new ToolwrightError(
      "DATABASE_NEWER",
      `The database ${database.name} was written by a newer version: it has ${unknown.join(", ")}.`,
      { hint: "Use that version, or name another database." },
    )
  }
  if (pending.length === 0) return []
  if (database.dialect === "sqlite" && pending.length === MIGRATION_NAMES.length) {
    const { makeNew } = await import("./new-database.ts")
    const made = await makeNew(database).catch((thrown: unknown) => Promise.reject(failed(database, thrown)))
    if (made) return [...MIGRATION_NAMES]
  }
  const [{ Migrator }, { MIGRATIONS }, typed] = await Promise.all([
    import("kysely/migration"),
    import("../migrations/index.ts"),
    database.typed(),
  ])
  const migrator = new Migrator({
    db: typed,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: TABLE,
    migrationLockTableName: `${TABLE}_lock`,
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error !== undefined) throw failed(database, error)
  return results.filter(({ status }) => status === "Success").map(({ migrationName }) => migrationName)
}

function failed(database: Database, cause: unknown): ToolwrightError {
  return new ToolwrightError("MIGRATION_FAILED", `The database ${database.name} could not be brought up to date.`, {
    cause,
    hint: "Nothing was changed. See the cause; 'toolwright db status' shows how far it is.",
  })
}

async function hasTable(database: Database): Promise<boolean> {
  const [found] = await database.query<{ found: string | null }>(
    database.dialect === "sqlite"
      ? `SELECT name AS found FROM sqlite_master WHERE type = 'table' AND name = '${TABLE}'`
      : `SELECT to_regclass('${TABLE}')::text AS found`,
  )
  return found?.found != null
}
