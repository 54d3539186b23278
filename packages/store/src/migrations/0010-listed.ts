import type { Kysely } from "kysely"
import type { Migration } from "kysely/migration"

/**
 * What is listed is read from an index in the order in which it is shown, newest first, so that a page of very many
 * costs what a page of few does: runs by time and id, both backwards (as tasks since `newestTasks`), approvals whatever
 * became of them, and conversations of one owner without passing those of all others.
 */
export const listed: Migration = {
  async up(database: Kysely<unknown>) {
    for (const name of ["runs_by_time", "approvals_by_state", "conversations_by_time"])
      await database.schema.dropIndex(name).execute()
    const index = (name: string, table: string, columns: string[]) =>
      database.schema
        .createIndex(name)
        .on(table)
        .columns(columns as never)
        .execute()
    await index("runs_by_time", "runs", ["started_at", "id"])
    await index("approvals_by_state", "approvals", ["state", "created_at", "id"])
    await index("approvals_by_time", "approvals", ["created_at", "id"])
    await index("conversations_by_time", "conversations", ["owner", "updated_at desc", "id"])
  },
}
