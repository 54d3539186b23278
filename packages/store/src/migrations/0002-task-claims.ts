import type { Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/** Who works on a task, under which fence, and when they were last heard of. */
export const taskClaims: Migration = {
  async up(database: Kysely<unknown>) {
    const tasks = () => database.schema.alterTable("tasks")
    await tasks()
      .addColumn("fence", "integer", (column) => column.notNull().defaultTo(0))
      .execute()
    await tasks().addColumn("holder", "text").execute()
    await tasks().addColumn("heartbeat", "bigint").execute()
    await database.schema.createIndex("tasks_by_heartbeat").on("tasks").columns(["state", "heartbeat"]).execute()
  },
}
