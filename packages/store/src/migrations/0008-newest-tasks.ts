import type { Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/**
 * Tasks are listed by time and then by id, both backwards. The index had the id the other way round: of very many that
 * were added at once, all were sorted for one page.
 */
export const newestTasks: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema.dropIndex("tasks_by_time").execute()
    await database.schema.createIndex("tasks_by_time").on("tasks").columns(["created_at", "id"]).execute()
  },
}
