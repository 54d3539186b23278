import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { Client } from "pg"
import {
  CREATE_TABLE,
  TABLE,
  type AppliedMigration,
  type DriverLimits,
  type MigrationDriver,
  type MigrationStep,
} from "./driver.ts"
import { scanSql } from "./sql-scan.ts"

/**
 * One number for all migrators of a database; advisory locks know nothing but numbers, so it is an arbitrary large one.
 */
const LOCK_KEY = "5838213404177512210"

/**
 * A PostgreSQL database. Each step is a transaction that first takes an advisory lock, so that migrators wait for each
 * other, also through a connection pooler; a step that cannot be in a transaction holds the lock by session.
 */
export async function openPostgres(dsn: string, limits: DriverLimits): Promise<MigrationDriver> {
  const { default: pg } = await import("pg")
  const client = new pg.Client({
    connectionString: dsn,
    connectionTimeoutMillis: 10_000,
    application_name: "toolwright",
    statement_timeout: limits.migrationMs,
  })
  // A broken connection is reported by the query that waits for it.
  client.on("error", () => {})
  try {
    await client.connect()
  } catch (thrown) {
    throw connectionError(thrown)
  }
  const cancel = () => void cancelQuery(dsn, client)
  limits.signal.addEventListener("abort", cancel, { once: true })

  return {
    applied: () => readOnly(client),
    async run(step) {
      limits.signal.throwIfAborted()
      try {
        return step.isTransactional
          ? await runInTransaction(client, step, limits)
          : await runOutside(client, step, limits)
      } catch (thrown) {
        throw stepError(thrown, step, limits)
      }
    },
    async [Symbol.asyncDispose]() {
      limits.signal.removeEventListener("abort", cancel)
      await client.end().catch(() => {})
    },
  }
}

async function readOnly(client: Client): Promise<AppliedMigration[]> {
  try {
    await client.query("BEGIN TRANSACTION READ ONLY")
    try {
      return await records(client)
    } finally {
      await client.query("ROLLBACK")
    }
  } catch (thrown) {
    throw new ToolwrightError("MIGRATION_FAILED", messageOf(thrown), { cause: thrown })
  }
}

async function records(client: Client): Promise<AppliedMigration[]> {
  // Reading pg_class makes the server take note of what others have committed meanwhile; to_regclass alone answers from
  // its cache.
  const { rowCount } = await client.query("SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass($1)", [TABLE])
  if (rowCount === 0) return []
  const { rows } = await client.query<Record<string, string>>(
    `SELECT version, name, checksum, applied_at FROM ${TABLE} ORDER BY version`,
  )
  return rows.map((row) => ({
    version: Number(row.version),
    name: row.name ?? "",
    checksum: row.checksum ?? "",
    appliedAt: row.applied_at ?? "",
  }))
}

async function runInTransaction(
  client: Client,
  step: MigrationStep,
  limits: DriverLimits,
): Promise<"done" | "skipped"> {
  await client.query("BEGIN")
  try {
    await client.query(`SET LOCAL lock_timeout = ${Math.ceil(limits.lockWaitMs)}`)
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK_KEY])
    if (await isDone(client, step)) {
      await client.query("ROLLBACK")
      return "skipped"
    }
    const transaction = "SELECT txid_current() AS id"
    const before = await client.query<{ id: string }>(transaction)
    await client.query(step.sql)
    const after = await client.query<{ id: string }>(transaction)
    if (before.rows[0]?.id !== after.rows[0]?.id)
      throw new ToolwrightError(
        "MIGRATION_FAILED",
        "the migration ended its transaction; what it did before that stays",
      )
    await record(client, step)
    await client.query("COMMIT")
    return "done"
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => {})
    throw thrown
  }
}

async function runOutside(client: Client, step: MigrationStep, limits: DriverLimits): Promise<"done" | "skipped"> {
  await client.query(`SET lock_timeout = ${Math.ceil(limits.lockWaitMs)}`)
  await client.query("SELECT pg_advisory_lock($1)", [LOCK_KEY])
  try {
    if (await isDone(client, step)) return "skipped"
    for (const { text } of scanSql(step.sql)) await client.query(text)
    await record(client, step)
    return "done"
  } finally {
    await client.query("SELECT pg_advisory_unlock($1)", [LOCK_KEY]).catch(() => {})
    await client.query("RESET lock_timeout").catch(() => {})
  }
}

async function isDone(client: Client, step: MigrationStep): Promise<boolean> {
  const found = (await records(client)).find(({ version }) => version === step.version)
  if (step.direction === "down") return found === undefined
  if (found !== undefined && found.checksum !== step.checksum) {
    throw new ToolwrightError("CHECKSUM_DRIFT", "another migrator has just applied this version with different content")
  }
  return found !== undefined
}

async function record(client: Client, step: MigrationStep): Promise<void> {
  await client.query(CREATE_TABLE)
  if (step.direction === "down") await client.query(`DELETE FROM ${TABLE} WHERE version = $1`, [step.version])
  else {
    await client.query(`INSERT INTO ${TABLE} (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`, [
      step.version,
      step.name,
      step.checksum,
      new Date().toISOString(),
    ])
  }
}

/** Asks the server to stop what the connection is doing; its transaction then rolls back. */
async function cancelQuery(dsn: string, client: Client): Promise<void> {
  const { default: pg } = await import("pg")
  const processId = (client as unknown as { processID?: number | null }).processID
  const other = new pg.Client({ connectionString: dsn, connectionTimeoutMillis: 3000 })
  other.on("error", () => {})
  try {
    await other.connect()
    await other.query("SELECT pg_cancel_backend($1)", [processId])
  } catch {
    await client.end().catch(() => {})
  } finally {
    await other.end().catch(() => {})
  }
}

interface PostgresError {
  code?: string
  message: string
  detail?: string
  position?: string
  severity?: string
}

function connectionError(thrown: unknown): ToolwrightError {
  const { code } = thrown as PostgresError
  const message =
    messageOf(thrown) || (thrown as { errors?: unknown[] }).errors?.map(messageOf).join("; ") || "no connection"
  if (code === "28P01" || code === "28000" || /password|SASL/i.test(message)) {
    return new ToolwrightError("UNAUTHORIZED", `The database server refuses the login (${message}).`, {
      cause: thrown,
      hint: "Whoever runs this must check user and password in the DSN.",
    })
  }
  return new ToolwrightError("CONNECTION_FAILED", `No connection to the database (${message}).`, {
    cause: thrown,
    hint:
      code === "3D000"
        ? "Create the database first."
        : "Check that the server runs and that host and port of the DSN are right.",
  })
}

function stepError(thrown: unknown, step: MigrationStep, limits: DriverLimits): ToolwrightError {
  if (ToolwrightError.isInstance(thrown)) return thrown
  if (limits.signal.aborted)
    return new ToolwrightError("ABORTED", "The migration was cancelled; it is rolled back.", { cause: thrown })
  const { code, message, detail, position } = thrown as PostgresError
  if (code === "55P03") {
    return new ToolwrightError(
      "MIGRATION_LOCKED",
      `a lock was not free within ${limits.lockWaitMs} ms: another migrator, or a transaction on the same tables`,
      { cause: thrown },
    )
  }
  if (code === "57014")
    return new ToolwrightError("TIMEOUT", `The migration took longer than ${limits.migrationMs} ms.`, { cause: thrown })
  const line = position === undefined ? "" : `line ${step.sql.slice(0, Number(position) - 1).split("\n").length}: `
  return new ToolwrightError("MIGRATION_FAILED", `${line}${message}${detail === undefined ? "" : ` (${detail})`}`, {
    cause: thrown,
  })
}
