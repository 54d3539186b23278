import { sql, type Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/**
 * Which run an agent was called in, and how deep: one call has one run, also where it is made again. What phases hand
 * over stands in the events of their run, so the table of artifacts, which nothing wrote, goes.
 */
export const askedRuns: Migration = {
  async up(database: Kysely<unknown>) {
    const runs = () => database.schema.alterTable("runs")
    await runs()
      .addColumn("asked_by", "text", (column) => column.references("runs.id"))
      .execute()
    await runs().addColumn("asked_call", "text").execute()
    await runs().addColumn("asked_key", "text").execute()
    await runs()
      .addColumn("depth", "integer", (column) => column.notNull().defaultTo(0))
      .execute()
    await runs()
      .addColumn("max_depth", "integer", (column) =>
        column
          .notNull()
          .defaultTo(3)
          .check(sql`depth >= 0 AND depth <= max_depth`),
      )
      .execute()
    await database.schema
      .createIndex("runs_asked")
      .on("runs")
      .columns(["asked_by", "asked_key"])
      .unique()
      .where(sql`asked_by IS NOT NULL` as never)
      .execute()
    await database.schema.dropTable("artifacts").execute()
  },
}
