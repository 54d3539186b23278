import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { JsonObject, ToolResult } from "@toolwright/toolbox"
import pg from "pg"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { createWorkspace, type Workspace } from "@toolwright/host/paths"
import { callTool } from "@toolwright/host/testing/call-tool"
import { postgresBinaries, sharedPostgres, type PostgresServer } from "./testing/postgres-server.ts"
import type { DatabaseToolsConfig } from "./config.ts"
import { createDbMigrateTool } from "./db-migrate.ts"
import { createDbStatusTool } from "./db-status.ts"

let root: string
let workspace: Workspace
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "migrate-"))
  mkdirSync(join(root, "migrations"))
  workspace = createWorkspace({
    roots: [{ path: root, access: "read-write" }],
    stateDirectory: join(tmpdir(), `migrate-state-${process.pid}`),
  })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const put = (name: string, sql: string) => writeFileSync(join(root, "migrations", name), sql)

function usual(): void {
  put(
    "0001_create_users.up.sql",
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nINSERT INTO users (id, name) VALUES (1, " +
      "'Ada; and others');",
  )
  put("0001_create_users.down.sql", "DROP TABLE users;")
  put("0002_add_mail.up.sql", "ALTER TABLE users ADD COLUMN mail TEXT;")
  put("0002_add_mail.down.sql", "ALTER TABLE users DROP COLUMN mail;")
  put("0003_create_posts.up.sql", "CREATE TABLE posts (id INTEGER PRIMARY KEY);")
  put("0003_create_posts.down.sql", "DROP TABLE posts;")
}

/** What the suite needs of a dialect: an empty database, and a look inside it that does not go through the tools. */
interface Dialect {
  dsn(): string
  query(dsn: string, sql: string): Promise<Record<string, unknown>[]>
}

const sqlite: Dialect = {
  dsn: () => `sqlite:${join(root, "app.db")}`,
  async query(dsn, sql) {
    const database = new DatabaseSync(dsn.slice("sqlite:".length))
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  },
}

let server: Omit<PostgresServer, "crash"> | undefined
const binaries = postgresBinaries()
beforeAll(async () => {
  if (binaries !== undefined) server = await sharedPostgres(binaries)
})
afterAll(() => server?.[Symbol.asyncDispose]())

const postgresql: Dialect = {
  dsn: () => server!.createDatabase(),
  async query(dsn, sql) {
    const client = new pg.Client({ connectionString: dsn })
    await client.connect()
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  },
}

const dialects: [string, Dialect, boolean][] = [
  ["SQLite", sqlite, true],
  ["PostgreSQL", postgresql, binaries !== undefined],
]

describe.each(dialects)("db_migrate and db_status on %s", (name, dialect, isThere) => {
  const title = isThere ? "" : " (skipped: the server's programs are not installed, apt-get install postgresql)"
  let dsn: string
  const config = (more: Partial<DatabaseToolsConfig> = {}): DatabaseToolsConfig => ({
    databases: { app: { dsn, migrations: "migrations" } },
    lockWaitMs: 5000,
    ...more,
  })
  const migrate = (args: JsonObject, more?: Partial<DatabaseToolsConfig>): Promise<ToolResult> =>
    callTool(createDbMigrateTool(workspace, config(more)), args)
  const status = async () =>
    (await callTool(createDbStatusTool(workspace, config()), {})).data as {
      version: number
      pending: number
      clean: boolean
      migrations: { version: number; state: string }[]
    }
  const states = async () => (await status()).migrations.map(({ version, state }) => `${version} ${state}`)
  const tables = async () => {
    const sql =
      name === "SQLite"
        ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
        : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
    return (await dialect.query(dsn, sql)).map((row) => String(row.name)).sort()
  }
  beforeEach(() => {
    if (isThere) dsn = dialect.dsn()
  })

  it.skipIf(!isThere)(`goes up, down and to a version, and tells where it stands${title}`, async () => {
    usual()
    expect(await states()).toEqual(["1 pending", "2 pending", "3 pending"])
    expect((await migrate({ action: "up", steps: 1 })).data).toMatchObject({
      version: 1,
      dry_run: false,
      steps: [{ version: 1, name: "create_users", direction: "up", status: "done", duration_ms: expect.any(Number) }],
    })
    expect(await dialect.query(dsn, "SELECT name FROM users")).toEqual([{ name: "Ada; and others" }])
    expect((await migrate({ action: "up" })).data).toMatchObject({ version: 3 })
    expect(await status()).toMatchObject({ version: 3, pending: 0, clean: true })
    expect((await migrate({ action: "up" })).output).toContain("Nothing to do")
    expect((await migrate({ action: "down" })).data).toMatchObject({
      version: 2,
      steps: [{ version: 3, direction: "down" }],
    })
    expect((await migrate({ action: "to", version: 0 })).data).toMatchObject({
      version: 0,
      steps: [{ version: 2 }, { version: 1 }],
    })
    expect(await tables()).toEqual(["toolwright_migrations"])
    expect((await migrate({ action: "to", version: 2 })).data).toMatchObject({
      version: 2,
      steps: [{ version: 1 }, { version: 2 }],
    })
    expect(await states()).toEqual(["1 applied", "2 applied", "3 pending"])
  })

  it.skipIf(!isThere)("changes nothing on a dry run, nor when asked for the status", async () => {
    usual()
    expect((await migrate({ action: "up", dry_run: true })).data).toMatchObject({
      version: 0,
      dry_run: true,
      steps: [{ status: "planned" }, { status: "planned" }, { status: "planned" }],
    })
    expect((await status()).version).toBe(0)
    if (name === "SQLite") expect(readdirSync(root)).toEqual(["migrations"])
    else expect(await tables()).toEqual([])
    await migrate({ action: "up" })
    const bytes = () =>
      name === "SQLite" ? [readdirSync(root).join(), readFileSync(join(root, "app.db")).toString("base64")] : []
    const before = bytes()
    await status()
    await migrate({ action: "down", steps: 3, dry_run: true })
    expect(bytes()).toEqual(before)
    expect(await states()).toEqual(["1 applied", "2 applied", "3 applied"])
  })

  it.skipIf(!isThere)(
    "rolls a failing migration back whole, keeps the ones before it, and goes on after the correction",
    async () => {
      usual()
      put(
        "0002_add_mail.up.sql",
        "CREATE TABLE half (id INTEGER);\nINSERT INTO users (id, name) VALUES (7, 'half');\nALTER TABLE nowhere " +
          "ADD COLUMN x TEXT;",
      )
      const failed = await migrate({ action: "up" })
      expect(failed.error).toMatchObject({
        code: "MIGRATION_FAILED",
        message: expect.stringMatching(/^2_add_mail\.up\.sql: .*nowhere.*rolled back.*done and stay: 1/),
        details: { done: [{ version: 1 }] },
      })
      expect(await tables()).toEqual(["toolwright_migrations", "users"])
      expect(await dialect.query(dsn, "SELECT id FROM users")).toEqual([{ id: 1 }])
      put("0002_add_mail.up.sql", "ALTER TABLE users ADD COLUMN mail TEXT;")
      expect((await migrate({ action: "up" })).data).toMatchObject({ version: 3 })
    },
  )

  it.skipIf(!isThere)(
    "refuses to go on when an applied file changed or is gone, or a lower number comes late",
    async () => {
      usual()
      await migrate({ action: "up", steps: 2 })
      put("0001_create_users.up.sql", "CREATE TABLE users (id INTEGER, changed TEXT);")
      expect((await migrate({ action: "up" })).error).toMatchObject({
        code: "CHECKSUM_DRIFT",
        message: expect.stringContaining("1_create_users"),
        hint: expect.stringContaining("new migration"),
      })
      expect(await states()).toEqual(["1 drifted", "2 applied", "3 pending"])
      rmSync(join(root, "migrations", "0001_create_users.up.sql"))
      rmSync(join(root, "migrations", "0001_create_users.down.sql"))
      expect((await migrate({ action: "up" })).error?.code).toBe("MIGRATION_MISSING")
      expect(await states()).toEqual(["1 missing", "2 applied", "3 pending"])
      usual()
      await migrate({ action: "up" })
      put(
        "0002_add_mail.up.sql",
        readFileSync(join(root, "migrations", "0002_add_mail.up.sql"), "utf8").replaceAll("\n", "\r\n"),
      )
      expect((await status()).clean).toBe(true)
      await migrate({ action: "to", version: 0 })
      await migrate({ action: "up", steps: 2 })
      put("0000_late.up.sql", "SELECT 1;")
      expect((await migrate({ action: "up" })).error).toMatchObject({
        code: "OUT_OF_ORDER",
        hint: expect.stringContaining("above 2"),
      })
    },
  )

  it.skipIf(!isThere)("takes back nothing that cannot be taken back, and knows no other versions", async () => {
    usual()
    rmSync(join(root, "migrations", "0003_create_posts.down.sql"))
    await migrate({ action: "up" })
    expect((await migrate({ action: "to", version: 1 })).error).toMatchObject({
      code: "IRREVERSIBLE",
      message: expect.stringContaining("3_create_posts.down.sql"),
    })
    expect((await status()).version).toBe(3)
    expect((await migrate({ action: "to", version: 9 })).error).toMatchObject({
      code: "UNKNOWN_VERSION",
      hint: expect.stringContaining("1, 2, 3"),
    })
  })

  it.skipIf(!isThere)("applies each migration once when several migrators start at the same time", async () => {
    usual()
    put(
      "0001_create_users.up.sql",
      "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nCREATE TABLE ran (id INTEGER);\nINSERT " +
        "INTO ran VALUES (1);",
    )
    const results = await Promise.all(
      Array.from({ length: 6 }, () => migrate({ action: "up" }, { lockWaitMs: 200_000 })),
    )
    expect(results.map(({ error }) => error)).toEqual(Array(6).fill(undefined))
    const done = results
      .flatMap(({ data }) => (data as { steps: { version: number; status: string }[] }).steps)
      .filter((step) => step.status === "done")
    expect(done.map(({ version }) => version).sort()).toEqual([1, 2, 3])
    expect(await dialect.query(dsn, "SELECT id FROM ran")).toHaveLength(1)
  })

  it.skipIf(!isThere)("waits for a lock no longer than it may", async () => {
    usual()
    await migrate({ action: "up", steps: 1 })
    const release = await hold(dsn)
    const failed = await migrate({ action: "up" }, { lockWaitMs: 200 })
    await release()
    expect(failed.error).toMatchObject({ code: "MIGRATION_LOCKED", retryable: true })
    expect((await migrate({ action: "up" })).data).toMatchObject({ version: 3 })
  })

  it.skipIf(!isThere)("stops a migration that does not end, by time and by cancelling, and rolls it back", async () => {
    put(
      "0001_endless.up.sql",
      name === "SQLite"
        ? "CREATE TABLE t (x);\nWITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n;"
        : "CREATE TABLE t (x INT);\nSELECT pg_sleep(600);",
    )
    expect((await migrate({ action: "up" }, { migrationMs: 1000, lockWaitMs: 100 })).error).toMatchObject({
      code: "TIMEOUT",
    })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 300)
    const cancelled = await callTool(
      createDbMigrateTool(workspace, config()),
      { action: "up" },
      { signal: controller.signal },
    )
    expect(cancelled.error?.code).toMatch(/ABORT|CANCEL/)
    await expect.poll(status, { timeout: 120_000 }).toMatchObject({ version: 0 })
    put("0001_endless.up.sql", "CREATE TABLE t (x INT);")
    expect((await migrate({ action: "up" }, { lockWaitMs: 100_000 })).data).toMatchObject({ version: 1 })
  })

  it.skipIf(!isThere)("runs a migration outside a transaction when its file says so", async () => {
    put(
      "0001_plain.up.sql",
      name === "SQLite"
        ? "-- toolwright: no-transaction\nCREATE TABLE t (x); VACUUM;"
        : "-- toolwright: no-transaction\nCREATE TABLE t (x INT);\nCREATE INDEX CONCURRENTLY i ON t (x);\nVACUUM t;",
    )
    expect((await migrate({ action: "up" })).data).toMatchObject({ version: 1 })
  })

  it.skipIf(!isThere)("runs its own examples", async () => {
    usual()
    const tool = createDbMigrateTool(workspace, config())
    for (const { input } of tool.examples ?? [])
      expect([input, (await callTool(tool, input)).error]).toEqual([input, undefined])
    const other = createDbStatusTool(workspace, config())
    for (const { input } of other.examples ?? []) expect((await callTool(other, input)).success).toBe(true)
  })

  async function hold(address: string): Promise<() => Promise<void>> {
    if (name === "SQLite") {
      const database = new DatabaseSync(join(root, "app.db"))
      database.exec("BEGIN IMMEDIATE")
      return async () => database.close()
    }
    const client = new pg.Client({ connectionString: address })
    await client.connect()
    await client.query("BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
    return () => client.end()
  }
})

describe("migrations as files of others", () => {
  const config: DatabaseToolsConfig = { databases: { app: { dsn: "sqlite:app.db" } }, lockWaitMs: 100 }
  const migrate = () => callTool(createDbMigrateTool(workspace, config), { action: "up" })

  it.each([
    ["0001_out.up.sql", "ATTACH DATABASE '/tmp/toolwright-escape.db' AS x; CREATE TABLE x.t (y);", "INVALID_MIGRATION"],
    ["0001_out.up.sql", "VACUUM INTO '/tmp/toolwright-escape.db';", "INVALID_MIGRATION"],
    ["0001_out.up.sql", "SELECT load_extension('/tmp/evil');", "MIGRATION_FAILED"],
    ["0001_end.up.sql", "CREATE TABLE a (b); COMMIT; CREATE TABLE c (d);", "INVALID_MIGRATION"],
    ["0001_bad name.up.sql", "SELECT 1;", "INVALID_MIGRATION"],
    ["1.up.sql", "SELECT 1;", "INVALID_MIGRATION"],
    ["0001_only.down.sql", "SELECT 1;", "INVALID_MIGRATION"],
    ["0001_bad.up.sql", "CREAT TABLE x;", "MIGRATION_FAILED"],
  ])("%s with %s is answered by %s and leaves nothing behind", async (name, sql, code) => {
    put(name, sql)
    const result = await migrate()
    expect(result.error?.code).toBe(code)
    const status = await callTool(createDbStatusTool(workspace, config), {})
    expect(status.success ? status.data : { version: 0 }).toMatchObject({ version: 0 })
    expect(() => readFileSync("/tmp/toolwright-escape.db")).toThrow("ENOENT")
  })

  it("refuses two files of one version, links, and folders outside the workspace", async () => {
    usual()
    put("1_other.up.sql", "SELECT 1;")
    expect((await migrate()).error).toMatchObject({
      code: "INVALID_MIGRATION",
      message: expect.stringContaining("occurs twice"),
    })
    rmSync(join(root, "migrations", "1_other.up.sql"))
    symlinkSync("/etc/hostname", join(root, "migrations", "0004_link.up.sql"))
    expect((await migrate()).error).toMatchObject({
      code: "INVALID_MIGRATION",
      message: expect.stringContaining("no regular file"),
    })
    const outside = createDbMigrateTool(workspace, { databases: { app: { dsn: "sqlite:app.db", migrations: "../" } } })
    expect((await callTool(outside, { action: "up" })).error?.code).toBe("ACCESS_DENIED")
    const none = createDbMigrateTool(workspace, { databases: { app: { dsn: "sqlite:app.db", migrations: "nowhere" } } })
    expect((await callTool(none, { action: "up" })).error).toMatchObject({
      code: "NO_MIGRATIONS",
      hint: expect.stringContaining("0001_create_users.up.sql"),
    })
  })

  it("keeps foreign keys whole while tables are rebuilt", async () => {
    put(
      "0001_a.up.sql",
      "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a(id)); INSERT INTO a " +
        "VALUES (1); INSERT INTO b VALUES (1);",
    )
    put(
      "0002_rebuild.up.sql",
      "CREATE TABLE a2 (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO a2 SELECT id, '' FROM a; DROP TABLE a; " +
        "ALTER TABLE a2 RENAME TO a;",
    )
    expect((await migrate()).data).toMatchObject({ version: 2 })
    put("0003_orphan.up.sql", "DELETE FROM a;")
    expect((await migrate()).error).toMatchObject({
      code: "MIGRATION_FAILED",
      message: expect.stringContaining("foreign keys"),
    })
    expect(await sqlite.query(`sqlite:${join(root, "app.db")}`, "SELECT id FROM a")).toEqual([{ id: 1 }])
  })

  it("does not open a database through a link, nor make folders", async () => {
    usual()
    symlinkSync("/tmp/toolwright-elsewhere.db", join(root, "app.db"))
    expect((await migrate()).error).toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining("symbolic link"),
    })
    const deep = createDbMigrateTool(workspace, { databases: { app: { dsn: "sqlite:data/app.db" } } })
    expect((await callTool(deep, { action: "up" })).error).toMatchObject({
      code: "CONNECTION_FAILED",
      hint: expect.stringContaining("folder"),
    })
  })

  it("answers a corrupt file and a wrong name of a database", async () => {
    usual()
    writeFileSync(join(root, "app.db"), "this is no database, but long enough to be looked at as one".repeat(20))
    expect((await migrate()).error?.code).toBe("MIGRATION_FAILED")
    const two = createDbMigrateTool(workspace, {
      databases: { one: { dsn: "sqlite:a.db" }, two: { dsn: "sqlite:b.db" } },
    })
    expect((await callTool(two, { action: "up", database: "three" })).error?.code).toBe("INVALID_ARGUMENTS")
    expect((await callTool(two, { action: "up" })).error?.code).toBe("INVALID_ARGUMENTS")
    expect((await callTool(two, { action: "up", database: "two" })).data).toMatchObject({ database: "two", version: 3 })
  })

  it("needs DATABASE_URL unless databases are configured", async () => {
    usual()
    const tool = createDbStatusTool(workspace, { env: {} })
    expect(tool.capabilities).toEqual(["env:DATABASE_URL"])
    expect((await callTool(tool, {})).error).toMatchObject({
      code: "NOT_CONFIGURED",
      hint: expect.stringContaining("DATABASE_URL"),
    })
    expect(
      (await callTool(createDbStatusTool(workspace, { env: { DATABASE_URL: "sqlite:app.db" } }), {})).data,
    ).toMatchObject({
      database: "default",
      version: 0,
    })
  })
})

describe("secrets in addresses", () => {
  const secrets = ["p@ss/w:rd%canary", "p%40ss%2Fw%3Ard%25canary", "canary"]

  it("are in no output and no error, whatever goes wrong", async () => {
    usual()
    const base = "postgres://tester:p%40ss%2Fw%3Ard%25canary@"
    const addresses = [
      `${base}127.0.0.1:1/x`,
      `${base}no-such-host.invalid/x`,
      `${base}127.0.0.1:99999/x`,
      `${base}%zz/x`,
      "mysql://u:canary@h/x",
      "postgres://127.0.0.1:1/x?password=canary",
    ]
    if (server !== undefined) {
      const real = server.createDatabase()
      addresses.push(real, real.replace("canary", "wrongcanary"), real.replace(/[^/]+$/, "absent_database"))
    }
    for (const dsn of addresses) {
      for (const tool of [
        createDbMigrateTool(workspace, { databases: { app: { dsn } } }),
        createDbStatusTool(workspace, { databases: { app: { dsn } } }),
      ]) {
        const result = await callTool(tool, tool.name === "db_migrate" ? { action: "up" } : {})
        const text = JSON.stringify([result, tool.parameters, tool.description])
        for (const secret of secrets) expect(text.replace("wrongcanary", "")).not.toContain(secret)
      }
    }
  })
})

describe("the test's own server", () => {
  it.skipIf(binaries === undefined)("is a real PostgreSQL", () => {
    expect(execFileSync(join(binaries ?? "", "postgres"), ["--version"], { encoding: "utf8" })).toContain("PostgreSQL")
  })
})
