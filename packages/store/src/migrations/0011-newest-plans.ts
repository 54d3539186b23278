import { sql, type Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/**
 * The newest plans, and the newest evaluations, are few among very many tasks and runs: they are read from indexes of
 * their own, in their order, and not looked for among all others. Tasks are counted by state from an index too: their
 * rows hold what they were asked, which may be long.
 */
export const newestPlans: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createIndex("tasks_of_plans_by_time")
      .on("tasks")
      .columns(["created_at", "id", "plan"])
      .where(sql`plan IS NOT NULL` as never)
      .execute()
    await database.schema.createIndex("tasks_by_state").on("tasks").columns(["state", "created_at", "id"]).execute()
    await database.schema
      .createIndex("runs_of_evaluations")
      .on("runs")
      .columns(["started_at", "id"])
      .where(sql`surface = 'eval'` as never)
      .execute()
  },
}
