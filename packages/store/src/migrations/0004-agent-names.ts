import type { Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/** Agents have a name in their workspace: one database may hold those of several folders. */
export const agentNames: Migration = {
  async up(database: Kysely<unknown>) {
    const agents = () => database.schema.alterTable("agents")
    await agents()
      .addColumn("workspace", "text", (column) => column.notNull().defaultTo(""))
      .execute()
    await agents()
      .addColumn("name", "text", (column) => column.notNull().defaultTo(""))
      .execute()
    await database.schema.createIndex("agents_by_name").on("agents").columns(["workspace", "name"]).unique().execute()
  },
}
