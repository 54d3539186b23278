import { constants, DatabaseSync } from "node:sqlite"
import { setTimeout as wait } from "node:timers/promises"
import { CREATE_TABLE, TABLE, type MigrationStep, type StepOutcome } from "./driver.ts"
import { records } from "./sqlite-records.ts"

/** What the parent asks; the file's path is absolute. */
export interface SqliteRequest {
  file: string
  step: MigrationStep
  lockWaitMs: number
}

export type SqliteReply = { ok: true; value: StepOutcome } | { ok: false; code: string; message: string }

class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

process.on("message", (request: SqliteRequest) => {
  void answer(request).then((reply) => process.send?.(reply))
})
process.on("disconnect", () => process.exit(0))

async function answer(request: SqliteRequest): Promise<SqliteReply> {
  try {
    return { ok: true, value: await run(request) }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return { ok: false, code: thrown instanceof Refused ? thrown.code : "MIGRATION_FAILED", message }
  }
}

async function run({ file, step, lockWaitMs }: SqliteRequest): Promise<StepOutcome> {
  const database = new DatabaseSync(file)
  try {
    // Kept off while tables are rebuilt (sqlite.org/lang_altertable.html §7); violations are counted before the commit.
    database.exec("PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = 0")
    denyOtherFiles(database)
    await lock(database, lockWaitMs)
    if (isDone(database, step)) {
      database.exec("ROLLBACK")
      return "skipped"
    }
    if (!step.isTransactional) {
      database.exec("COMMIT")
      database.exec(step.sql)
      await lock(database, lockWaitMs)
    } else {
      const before = violations(database)
      database.exec(step.sql)
      if (database.isTransaction === false) throw new Refused("MIGRATION_FAILED", "the migration ended its transaction")
      if (violations(database) > before)
        throw new Refused("MIGRATION_FAILED", "it leaves rows whose foreign keys point to nothing")
    }
    record(database, step)
    database.exec("COMMIT")
    return "done"
  } catch (thrown) {
    if (database.isTransaction !== false) {
      try {
        database.exec("ROLLBACK")
      } catch {
        // Some errors have rolled back already.
      }
    }
    throw thrown
  } finally {
    database.close()
  }
}

/** Opens the write transaction that is also the lock, trying again while another connection has it. */
async function lock(database: DatabaseSync, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    try {
      database.exec("BEGIN IMMEDIATE")
      return
    } catch (thrown) {
      const isBusy = (thrown as { errcode?: number }).errcode === 5 || /locked|busy/i.test(String(thrown))
      if (!isBusy) throw thrown
      if (performance.now() >= deadline)
        throw new Refused("MIGRATION_LOCKED", `another connection has held the database for ${waitMs} ms`)
      await wait(25)
    }
  }
}

function isDone(database: DatabaseSync, step: MigrationStep): boolean {
  const found = records(database).find(({ version }) => version === step.version)
  if (step.direction === "down") return found === undefined
  if (found !== undefined && found.checksum !== step.checksum) {
    throw new Refused("CHECKSUM_DRIFT", "another migrator has just applied this version with different content")
  }
  return found !== undefined
}

function record(database: DatabaseSync, step: MigrationStep): void {
  database.exec(CREATE_TABLE)
  if (step.direction === "down") {
    database.prepare(`DELETE FROM ${TABLE} WHERE version = ?`).run(step.version)
    return
  }
  const insert = database.prepare(`INSERT INTO ${TABLE} (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)`)
  insert.run(step.version, step.name, step.checksum, new Date().toISOString())
}

function violations(database: DatabaseSync): number {
  return database.prepare("PRAGMA foreign_key_check").all().length
}

/**
 * Where this Node can, SQLite itself refuses to open other files, whatever the SQL says. (VACUUM attaches one without a
 * name.)
 */
function denyOtherFiles(database: DatabaseSync): void {
  const authorizing = database as { setAuthorizer?(callback: (action: number, file: string | null) => number): void }
  const { SQLITE_ATTACH, SQLITE_DENY, SQLITE_OK } = constants as unknown as Record<string, number>
  if (SQLITE_DENY === undefined || SQLITE_OK === undefined) return
  authorizing.setAuthorizer?.((action, file) =>
    action === SQLITE_ATTACH && (file ?? "") !== "" ? SQLITE_DENY : SQLITE_OK,
  )
}
