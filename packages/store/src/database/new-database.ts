import { MIGRATION_NAMES } from "../migrations/names.ts"
import { NEW_SQLITE } from "../migrations/new-sqlite.ts"
import type { Database } from "./database.ts"

/**
 * Makes the tables of this version in an SQLite database in which nothing is yet: in one transaction, and without the
 * query builder, since to load that and to take all steps takes ten times as long, at the first start in each folder.
 *
 * @returns whether it did; not where anything is there already, also what another process made meanwhile
 */
export function makeNew(database: Database): Promise<boolean> {
  return database.transaction(async (execute) => {
    const { rows } = await execute("SELECT 1 FROM sqlite_master LIMIT 1")
    if (rows.length > 0) return false
    // SQLite keeps their words as they are: in one line, as the migrations leave them.
    for (const statement of NEW_SQLITE) await execute(statement.replaceAll(/\s+/gu, " "))
    await execute("INSERT INTO toolwright_migrations_lock (id, is_locked) VALUES ('migration_lock', 0)")
    const now = new Date().toISOString()
    for (const name of MIGRATION_NAMES)
      await execute("INSERT INTO toolwright_migrations (name, timestamp) VALUES (?, ?)", [name, now])
    return true
  })
}
