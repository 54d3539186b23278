import type { DatabaseSync, StatementSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import { assertChanged, WritesBehind } from "./behind.ts"
import type { Answer, Connection, Driver, Execute, SqlValue, Statement } from "./driver.ts"

/** How long a statement waits for another process that writes, in milliseconds. */
const BUSY_MS = 10_000
/** Statements that are kept prepared. */
const MOST_STATEMENTS = 200

/**
 * SQLite as Node brings it. With a write-ahead log, readers and one writer work beside each other, also from several
 * processes. `synchronous = NORMAL`: what was committed outlives the process, however it dies; only a machine that
 * loses its power may lose the last moments, and never the order. The log is copied into the file every 32 MB and on
 * closing: a run writes several times a step, and copying as often as SQLite does by itself is a third of what that
 * costs.
 */
export async function sqliteDriver(path: string): Promise<Driver> {
  const database = await openDatabase(path)
  const statements = new Statements(database)
  const execute: Execute = async <Row>(sql: string, values: readonly SqlValue[] = []) => {
    try {
      return statements.run<Row>(sql, values)
    } catch (thrown) {
      if (!isBusy(thrown)) throw thrown
      return onceFree(() => statements.run<Row>(sql, values))
    }
  }
  const lend = oneAtATime(execute)
  const behind = new WritesBehind({
    now: (all) => writeTogether(database, statements, all),
    isBusy,
    async inTurn() {
      const { release } = await lend()
      try {
        await onceFree(() => behind.write())
      } finally {
        release()
      }
    },
  })
  return {
    dialect: "sqlite",
    begin: BEGIN,
    async connect() {
      const connection = await lend()
      try {
        behind.write()
      } catch (thrown) {
        // Somebody else writes: reading need not wait for that.
        if (!isBusy(thrown)) throw thrown
      }
      return connection
    },
    behind: (all, lost) => behind.add(all, lost),
    async close() {
      await onceFree(() => behind.write()).catch(() => behind.giveUp())
      statements.clear()
      if (database.isOpen) database.close()
    },
  }
}

async function openDatabase(path: string): Promise<DatabaseSync> {
  const [{ DatabaseSync: Database }, { mkdirSync }, { dirname }] = await Promise.all([
    import("node:sqlite"),
    import("node:fs"),
    import("node:path"),
  ])
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path, { timeout: 0 })
  try {
    // A file from elsewhere may bring views and triggers along: they may call nothing that could do harm.
    database.exec("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON")
    await onceFree(() =>
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8000"),
    )
  } catch (thrown) {
    database.close()
    throw thrown
  }
  return database
}

const BEGIN = "BEGIN IMMEDIATE"

/** One transaction from its beginning to its end, with nothing between. */
function writeTogether(database: DatabaseSync, statements: Statements, all: readonly Statement[]): void {
  // At the end of the process one may be open that nobody goes on with.
  if (database.isTransaction) statements.run("ROLLBACK", [])
  statements.run(BEGIN, [])
  try {
    for (const each of all) assertChanged(each, statements.run(each.sql, each.values).changed)
    statements.run("COMMIT", [])
  } catch (thrown) {
    if (database.isTransaction) statements.run("ROLLBACK", [])
    throw thrown
  }
}

/** Runs statements, and keeps them prepared up to a limit. */
class Statements {
  readonly #database: DatabaseSync
  readonly #known = new Map<string, { statement: StatementSync; reads: boolean }>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  run<Row>(sql: string, values: readonly SqlValue[]): Answer<Row> {
    const { statement, reads } = this.#prepared(sql)
    if (reads) {
      const rows = statement.all(...values) as Row[]
      return { rows, changed: rows.length }
    }
    return { rows: [], changed: Number(statement.run(...values).changes) }
  }

  clear(): void {
    this.#known.clear()
  }

  #prepared(sql: string): { statement: StatementSync; reads: boolean } {
    let known = this.#known.get(sql)
    if (known === undefined) {
      const statement = this.#database.prepare(sql)
      known = { statement, reads: statement.columns().length > 0 }
      if (this.#known.size >= MOST_STATEMENTS) this.#known.clear()
      this.#known.set(sql, known)
    }
    return known
  }
}

/**
 * Lends the one connection to one after another: a statement from outside must not fall into somebody's transaction.
 */
function oneAtATime(execute: Execute): () => Promise<Connection> {
  let last: Promise<void> | undefined
  return async () => {
    const before = last
    let release!: () => void
    const own = new Promise<void>((resolve) => (release = resolve))
    last = own
    await before
    return {
      execute,
      release: () => {
        if (last === own) last = undefined
        release()
      },
    }
  }
}

/**
 * Tries again while another connection writes, up to a limit. SQLite's own waiting would hold this thread, and with it
 * whoever is to end that other transaction, where both are of this process.
 */
async function onceFree<Result>(work: () => Result): Promise<Result> {
  const until = performance.now() + BUSY_MS
  for (let waited = 1; ; waited = Math.min(waited * 2, 25)) {
    try {
      return work()
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > until) throw thrown
      await pause(waited * (0.5 + Math.random()))
    }
  }
}

/** The lower byte of SQLite's number for an error is its kind: 5 is busy. */
function isBusy(thrown: unknown): boolean {
  const { errcode } = thrown as { errcode?: unknown }
  return typeof errcode === "number" && (errcode & 0xff) === 5
}
