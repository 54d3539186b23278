import { sql, type Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/**
 * The run that another one is about, as the taking back of what it changed: it has ended, and nothing is added to it.
 */
export const about: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema.alterTable("runs").addColumn("about", "text").execute()
    await database.schema
      .createIndex("runs_about")
      .on("runs")
      .column("about")
      .where(sql`about IS NOT NULL` as never)
      .execute()
  },
}
