import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { TABLE, type AppliedMigration } from "./driver.ts"

/** The records of applied migrations in an open database. */
export function records(database: DatabaseSync): AppliedMigration[] {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(TABLE)
  if (table === undefined) return []
  const rows = database.prepare(`SELECT version, name, checksum, applied_at FROM ${TABLE} ORDER BY version`).all()
  return rows.map((row) => ({
    version: Number(row.version),
    name: String(row.name),
    checksum: String(row.checksum),
    appliedAt: String(row.applied_at),
  }))
}

/**
 * The records of a file, which is opened for reading only.
 *
 * @param isUnchanging whether no log is pending beside the file; then not even a lock file is made
 */
export function readRecords(file: string, isUnchanging: boolean): AppliedMigration[] {
  const url = pathToFileURL(file)
  if (isUnchanging) url.searchParams.set("immutable", "1")
  const database = new DatabaseSync(url, { readOnly: true })
  try {
    return records(database)
  } finally {
    database.close()
  }
}
