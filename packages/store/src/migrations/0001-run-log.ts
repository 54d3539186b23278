import { sql, type CreateTableBuilder, type Kysely } from "kysely"
import type { Migration } from "kysely/migration"
import { APPROVAL_STATES, EFFECT_STATES, RUN_STATES, TASK_STATES } from "../tables.ts"

type Database = Kysely<unknown>

/**
 * Everything at once: tasks, runs and their events, effects, approvals, agents. Conversations move in where they are.
 */
export const runLog: Migration = {
  async up(database: Database) {
    await tasks(database)
    await runs(database)
    await events(database)
    await effects(database)
    await people(database)
    await agents(database)
    await conversations(database)
  },
}

const oneOf = (column: string, values: readonly string[]) =>
  sql`${sql.ref(column)} IN (${sql.join(values.map((value) => sql.lit(value)))})`

function table(database: Database, name: string): CreateTableBuilder<string> {
  return database.schema.createTable(name) as CreateTableBuilder<string>
}

async function tasks(database: Database): Promise<void> {
  await table(database, "tasks")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("parent", "text", (column) => column.references("tasks.id"))
    .addColumn("depth", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("max_depth", "integer", (column) => column.notNull().defaultTo(3))
    .addColumn("plan", "text")
    .addColumn("agent", "text", (column) => column.notNull())
    .addColumn("input", "text", (column) => column.notNull())
    .addColumn("priority", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("state", "text", (column) => column.notNull().defaultTo("queued"))
    .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("max_attempts", "integer", (column) => column.notNull().defaultTo(3))
    .addColumn("not_before", "bigint")
    .addColumn("idempotency_key", "text", (column) => column.unique())
    .addColumn("workspace", "text")
    .addColumn("budget", "text")
    .addColumn("result", "text")
    .addColumn("reason", "text")
    .addColumn("run", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("started_at", "bigint")
    .addColumn("ended_at", "bigint")
    .addCheckConstraint("tasks_nested_too_deeply", sql`depth >= 0 AND depth <= max_depth`)
    .addCheckConstraint("tasks_state", oneOf("state", TASK_STATES))
    .execute()
  // What a worker takes next, in this order.
  await database.schema
    .createIndex("tasks_next")
    .on("tasks")
    .columns(["state", "priority desc", "created_at", "id"])
    .execute()
  await database.schema.createIndex("tasks_by_time").on("tasks").columns(["created_at desc", "id"]).execute()
  await database.schema.createIndex("tasks_of_parent").on("tasks").column("parent").execute()
  await database.schema.createIndex("tasks_of_plan").on("tasks").column("plan").execute()
  await table(database, "task_dependencies")
    .addColumn("task", "text", (column) => column.notNull().references("tasks.id").onDelete("cascade"))
    .addColumn("depends_on", "text", (column) => column.notNull().references("tasks.id").onDelete("cascade"))
    .addPrimaryKeyConstraint("task_dependencies_pair", ["task", "depends_on"])
    .addCheckConstraint("task_dependencies_itself", sql`task <> depends_on`)
    .execute()
  await database.schema
    .createIndex("task_dependencies_dependants")
    .on("task_dependencies")
    .column("depends_on")
    .execute()
}

async function runs(database: Database): Promise<void> {
  await table(database, "runs")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("task", "text", (column) => column.references("tasks.id"))
    .addColumn("agent", "text", (column) => column.notNull())
    .addColumn("model", "text", (column) => column.notNull())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("surface", "text", (column) => column.notNull())
    .addColumn("workspace", "text")
    .addColumn("caller", "text")
    .addColumn("state", "text", (column) => column.notNull().defaultTo("running"))
    .addColumn("outcome", "text")
    .addColumn("summary", "text")
    .addColumn("fence", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("holder", "text")
    .addColumn("heartbeat", "bigint")
    .addColumn("parent_run", "text", (column) => column.references("runs.id"))
    .addColumn("parent_seq", "integer")
    .addColumn("started_at", "bigint", (column) => column.notNull())
    .addColumn("ended_at", "bigint")
    .addCheckConstraint("runs_state", oneOf("state", RUN_STATES))
    .addCheckConstraint("runs_branch", sql`(parent_run IS NULL) = (parent_seq IS NULL)`)
    .execute()
  await database.schema.createIndex("runs_by_time").on("runs").columns(["started_at desc", "id"]).execute()
  await database.schema.createIndex("runs_of_task").on("runs").column("task").execute()
  await database.schema.createIndex("runs_by_state").on("runs").columns(["state", "heartbeat"]).execute()
}

async function events(database: Database): Promise<void> {
  await table(database, "bodies")
    .addColumn("hash", "text", (column) => column.primaryKey())
    .addColumn("content", "text", (column) => column.notNull())
    .addColumn("size", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute()
  await table(database, "run_events")
    .addColumn("run", "text", (column) => column.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("seq", "integer", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("time", "bigint", (column) => column.notNull())
    .addColumn("fence", "integer", (column) => column.notNull())
    .addColumn("body", "text")
    .addColumn("body_ref", "text")
    .addColumn("salt", "text")
    .addColumn("digest", "text")
    .addColumn("hash", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("run_events_order", ["run", "seq"])
    .execute()
}

async function effects(database: Database): Promise<void> {
  await table(database, "effects")
    .addColumn("run", "text", (column) => column.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("call_index", "integer", (column) => column.notNull())
    .addColumn("call_id", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull().unique())
    .addColumn("tool", "text", (column) => column.notNull())
    .addColumn("declared", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull().defaultTo("started"))
    .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(1))
    .addColumn("fence", "integer", (column) => column.notNull())
    .addColumn("started_at", "bigint", (column) => column.notNull())
    .addColumn("ended_at", "bigint")
    .addColumn("before", "text")
    .addPrimaryKeyConstraint("effects_calls", ["run", "call_index"])
    .addCheckConstraint("effects_state", oneOf("state", EFFECT_STATES))
    .execute()
}

async function people(database: Database): Promise<void> {
  await table(database, "approvals")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("run", "text", (column) => column.references("runs.id").onDelete("cascade"))
    .addColumn("task", "text", (column) => column.references("tasks.id").onDelete("cascade"))
    .addColumn("call_index", "integer")
    .addColumn("tool", "text", (column) => column.notNull())
    .addColumn("arguments", "text", (column) => column.notNull())
    .addColumn("arguments_hash", "text", (column) => column.notNull())
    .addColumn("policy", "text", (column) => column.notNull())
    .addColumn("question", "text")
    .addColumn("state", "text", (column) => column.notNull().defaultTo("pending"))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint")
    .addColumn("answered_at", "bigint")
    .addColumn("answered_by", "text")
    .addColumn("note", "text")
    .addColumn("consumed_at", "bigint")
    .addCheckConstraint("approvals_state", oneOf("state", APPROVAL_STATES))
    .execute()
  await database.schema.createIndex("approvals_by_state").on("approvals").columns(["state", "created_at"]).execute()
  await database.schema.createIndex("approvals_of_run").on("approvals").column("run").execute()
}

async function agents(database: Database): Promise<void> {
  await table(database, "agents")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("profile", "text", (column) => column.notNull())
    .addColumn("definition", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull().defaultTo("active"))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .execute()
  // One owner a file: the second one is refused by the key.
  await table(database, "owned_files")
    .addColumn("workspace", "text", (column) => column.notNull())
    .addColumn("path", "text", (column) => column.notNull())
    .addColumn("agent", "text", (column) => column.notNull().references("agents.id").onDelete("cascade"))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("owned_files_owner", ["workspace", "path"])
    .execute()
  await database.schema.createIndex("owned_files_of_agent").on("owned_files").column("agent").execute()
  await table(database, "artifacts")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("run", "text", (column) => column.references("runs.id").onDelete("cascade"))
    .addColumn("task", "text", (column) => column.references("tasks.id").onDelete("cascade"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("media_type", "text", (column) => column.notNull())
    .addColumn("body_ref", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute()
  await database.schema.createIndex("artifacts_of_run").on("artifacts").columns(["run", "name"]).execute()
  await database.schema.createIndex("artifacts_of_task").on("artifacts").columns(["task", "name"]).execute()
}

async function conversations(database: Database): Promise<void> {
  await table(database, "conversations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("updated_at", "text", (column) => column.notNull())
    .addColumn("owner", "text", (column) => column.notNull().defaultTo(""))
    .execute()
  await table(database, "conversation_messages")
    .addColumn("conversation_id", "text", (column) =>
      column.notNull().references("conversations.id").onDelete("cascade"),
    )
    .addColumn("position", "integer", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("conversation_messages_order", ["conversation_id", "position"])
    .execute()
  await database.schema
    .createIndex("conversations_by_time")
    .on("conversations")
    .columns(["updated_at desc", "id"])
    .execute()
}
