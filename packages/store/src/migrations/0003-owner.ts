import type { Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/** Whose database it is, so that one which came with a folder is told from the user's own. */
export const owner: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("database_owner")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("mark", "text", (column) => column.notNull())
      .execute()
  },
}
