import { sql, type Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/** Who works on a task, under which fence, and when they were last heard of; how many others wait for it. */
export const taskClaims: Migration = {
  async up(database: Kysely<unknown>) {
    const tasks = () => database.schema.alterTable("tasks")
    await tasks()
      .addColumn("fence", "integer", (column) => column.notNull().defaultTo(0))
      .execute()
    await tasks().addColumn("holder", "text").execute()
    await tasks().addColumn("heartbeat", "bigint").execute()
    await tasks()
      .addColumn("dependants", "integer", (column) => column.notNull().defaultTo(0))
      .execute()
    // What is looked for is a small part of all tasks, and a task changes its state often: indexes hold that part
    // alone.
    for (const name of ["tasks_next", "tasks_of_parent", "tasks_of_plan"])
      await database.schema.dropIndex(name).execute()
    const index = (name: string) => database.schema.createIndex(name).on("tasks")
    await index("tasks_next")
      .columns(["priority desc", "created_at", "id"])
      .where(sql`state = 'queued'` as never)
      .execute()
    await index("tasks_waiting")
      .column("id")
      .where(sql`state = 'waiting'` as never)
      .execute()
    await index("tasks_running")
      .column("heartbeat")
      .where(sql`state = 'running'` as never)
      .execute()
    await index("tasks_of_parent")
      .column("parent")
      .where(sql`parent IS NOT NULL` as never)
      .execute()
    await index("tasks_of_plan")
      .column("plan")
      .where(sql`plan IS NOT NULL` as never)
      .execute()
  },
}
