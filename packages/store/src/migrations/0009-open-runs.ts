import { sql, type Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/** Most runs are ended calls that belong to no task: indexes hold the others alone, so that such a call writes none. */
export const openRuns: Migration = {
  async up(database: Kysely<unknown>) {
    for (const name of ["runs_of_task", "runs_by_state"]) await database.schema.dropIndex(name).execute()
    const index = (name: string) => database.schema.createIndex(name).on("runs")
    await index("runs_of_task")
      .column("task")
      .where(sql`task IS NOT NULL` as never)
      .execute()
    await index("runs_open")
      .columns(["started_at", "id"])
      .where(sql`state <> 'ended'` as never)
      .execute()
  },
}
