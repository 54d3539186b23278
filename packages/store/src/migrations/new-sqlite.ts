/** The tables that all migrations come to in SQLite: `npm run generate` writes them. */
export const NEW_SQLITE: readonly string[] = [
  `CREATE TABLE "toolwright_migrations" ("name" varchar(255) not
    null primary key, "timestamp" varchar(255) not null)`,
  `CREATE TABLE "toolwright_migrations_lock" ("id" varchar(255)
    not null primary key, "is_locked" integer default 0 not null)`,
  `CREATE TABLE "tasks" ("id" text primary key, "parent" text references
    "tasks" ("id"), "depth" integer default 0 not null, "max_depth"
    integer default 3 not null, "plan" text, "agent" text not null,
    "input" text not null, "priority" integer default 0 not null,
    "state" text default 'queued' not null, "attempts" integer default
    0 not null, "max_attempts" integer default 3 not null, "not_before"
    bigint, "idempotency_key" text unique, "workspace" text, "budget"
    text, "result" text, "reason" text, "run" text, "created_at"
    bigint not null, "updated_at" bigint not null, "started_at" bigint,
    "ended_at" bigint, "fence" integer default 0 not null, "holder"
    text, "heartbeat" bigint, "dependants" integer default 0 not
    null, constraint "tasks_nested_too_deeply" check (depth >= 0
    AND depth <= max_depth), constraint "tasks_state" check ("state"
    IN ('queued', 'waiting', 'running', 'needs-approval', 'done',
    'failed', 'blocked', 'cancelled', 'abandoned')))`,
  `CREATE TABLE "task_dependencies" ("task" text not null references
    "tasks" ("id") on delete cascade, "depends_on" text not null
    references "tasks" ("id") on delete cascade, constraint "task_dependencies_pair"
    primary key ("task", "depends_on"), constraint "task_dependencies_itself"
    check (task <> depends_on))`,
  `CREATE INDEX "task_dependencies_dependants" on "task_dependencies"
    ("depends_on")`,
  `CREATE TABLE "runs" ("id" text primary key, "task" text references
    "tasks" ("id"), "agent" text not null, "model" text not null,
    "title" text not null, "surface" text not null, "workspace" text,
    "caller" text, "state" text default 'running' not null, "outcome"
    text, "summary" text, "fence" integer default 0 not null, "holder"
    text, "heartbeat" bigint, "parent_run" text references "runs"
    ("id"), "parent_seq" integer, "started_at" bigint not null, "ended_at"
    bigint, "about" text, "asked_by" text references "runs" ("id"),
    "asked_call" text, "asked_key" text, "depth" integer default
    0 not null, "max_depth" integer default 3 not null check (depth
    >= 0 AND depth <= max_depth), constraint "runs_state" check ("state"
    IN ('running', 'waiting', 'ended')), constraint "runs_branch"
    check ((parent_run IS NULL) = (parent_seq IS NULL)))`,
  `CREATE TABLE "bodies" ("hash" text primary key, "content" text
    not null, "size" integer not null, "created_at" bigint not null)`,
  `CREATE TABLE "run_events" ("run" text not null references "runs"
    ("id") on delete cascade, "seq" integer not null, "type" text
    not null, "time" bigint not null, "fence" integer not null, "body"
    text, "body_ref" text, "salt" text, "digest" text, "hash" text
    not null, constraint "run_events_order" primary key ("run", "seq"))`,
  `CREATE TABLE "effects" ("run" text not null references "runs"
    ("id") on delete cascade, "call_index" integer not null, "call_id"
    text not null, "key" text not null unique, "tool" text not null,
    "declared" text not null, "state" text default 'started' not
    null, "attempts" integer default 1 not null, "fence" integer
    not null, "started_at" bigint not null, "ended_at" bigint, "before"
    text, constraint "effects_calls" primary key ("run", "call_index"),
    constraint "effects_state" check ("state" IN ('started', 'done',
    'unknown')))`,
  `CREATE TABLE "approvals" ("id" text primary key, "run" text references
    "runs" ("id") on delete cascade, "task" text references "tasks"
    ("id") on delete cascade, "call_index" integer, "tool" text not
    null, "arguments" text not null, "arguments_hash" text not null,
    "policy" text not null, "question" text, "state" text default
    'pending' not null, "created_at" bigint not null, "expires_at"
    bigint, "answered_at" bigint, "answered_by" text, "note" text,
    "consumed_at" bigint, constraint "approvals_state" check ("state"
    IN ('pending', 'allowed', 'denied', 'expired', 'cancelled', 'consumed')))`,
  `CREATE INDEX "approvals_of_run" on "approvals" ("run")`,
  `CREATE TABLE "agents" ("id" text primary key, "profile" text
    not null, "definition" text not null, "state" text default 'active'
    not null, "created_at" bigint not null, "updated_at" bigint not
    null, "workspace" text default '' not null, "name" text default
    '' not null)`,
  `CREATE TABLE "owned_files" ("workspace" text not null, "path"
    text not null, "agent" text not null references "agents" ("id")
    on delete cascade, "created_at" bigint not null, "sign" text,
    constraint "owned_files_owner" primary key ("workspace", "path"))`,
  `CREATE INDEX "owned_files_of_agent" on "owned_files" ("agent")`,
  `CREATE TABLE "conversations" ("id" text primary key, "title"
    text not null, "created_at" text not null, "updated_at" text
    not null, "owner" text default '' not null)`,
  `CREATE TABLE "conversation_messages" ("conversation_id" text
    not null references "conversations" ("id") on delete cascade,
    "position" integer not null, "message" text not null, constraint
    "conversation_messages_order" primary key ("conversation_id",
    "position"))`,
  `CREATE INDEX "tasks_next" on "tasks" ("priority" desc, "created_at",
    "id") where state = 'queued'`,
  `CREATE INDEX "tasks_waiting" on "tasks" ("id") where state =
    'waiting'`,
  `CREATE INDEX "tasks_running" on "tasks" ("heartbeat") where state
    = 'running'`,
  `CREATE INDEX "tasks_of_parent" on "tasks" ("parent") where parent
    IS NOT NULL`,
  `CREATE INDEX "tasks_of_plan" on "tasks" ("plan") where plan IS
    NOT NULL`,
  `CREATE TABLE "database_owner" ("id" text primary key, "mark"
    text not null)`,
  `CREATE UNIQUE INDEX "agents_by_name" on "agents" ("workspace",
    "name")`,
  `CREATE UNIQUE INDEX "owned_files_by_sign" on "owned_files" ("workspace",
    "sign")`,
  `CREATE INDEX "runs_about" on "runs" ("about") where about IS
    NOT NULL`,
  `CREATE UNIQUE INDEX "runs_asked" on "runs" ("asked_by", "asked_key")
    where asked_by IS NOT NULL`,
  `CREATE INDEX "tasks_by_time" on "tasks" ("created_at", "id")`,
  `CREATE INDEX "runs_of_task" on "runs" ("task") where task IS
    NOT NULL`,
  `CREATE INDEX "runs_open" on "runs" ("started_at", "id") where
    state <> 'ended'`,
  `CREATE INDEX "runs_by_time" on "runs" ("started_at", "id")`,
  `CREATE INDEX "approvals_by_state" on "approvals" ("state", "created_at",
    "id")`,
  `CREATE INDEX "approvals_by_time" on "approvals" ("created_at",
    "id")`,
  `CREATE INDEX "conversations_by_time" on "conversations" ("owner",
    "updated_at" desc, "id")`,
  `CREATE INDEX "tasks_of_plans_by_time" on "tasks" ("created_at",
    "id", "plan") where plan IS NOT NULL`,
  `CREATE INDEX "tasks_by_state" on "tasks" ("state", "created_at",
    "id")`,
  `CREATE INDEX "runs_of_evaluations" on "runs" ("started_at", "id")
    where surface = 'eval'`,
]
