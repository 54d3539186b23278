import { messageOf, ToolwrightError } from "@toolwright/toolbox"

/** A value of a row. */
export type SqlValue = string | number | null

/** One database, whatever its kind. Statements use `?` for values. */
export interface Database extends AsyncDisposable {
  readonly dialect: "sqlite" | "postgres"
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
  /** All statements inside take effect together, or none. Transactions of one database run one after another. */
  transaction<Result>(work: (query: Database["query"]) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * Opens a database: a `postgres://` address, or a path of an SQLite file (`:memory:` for none).
 *
 * @throws ToolwrightError `DATABASE_UNAVAILABLE`; an address in its message has no password
 */
export async function openDatabase(target: string): Promise<Database> {
  try {
    return /^postgres(ql)?:\/\//.test(target) ? await openPostgres(target) : await openSqlite(target)
  } catch (cause) {
    throw new ToolwrightError(
      "DATABASE_UNAVAILABLE",
      `The database ${withoutPassword(target)} cannot be opened: ${withoutPassword(messageOf(cause))}`,
      { cause },
    )
  }
}

async function openSqlite(path: string): Promise<Database> {
  const [{ DatabaseSync }, { mkdirSync }, { dirname }] = await Promise.all([
    import("node:sqlite"),
    import("node:fs"),
    import("node:path"),
  ])
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  database.exec("PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON")
  const statements = new Map<string, ReturnType<typeof database.prepare>>()
  const query: Database["query"] = async <Row>(sql: string, values: readonly SqlValue[] = []) => {
    let statement = statements.get(sql)
    if (statement === undefined) statements.set(sql, (statement = database.prepare(sql)))
    return statement.all(...values) as Row[]
  }
  const inTurn = turns()
  const close = async (): Promise<void> => {
    if (database.isOpen) database.close()
  }
  return {
    dialect: "sqlite",
    // A statement from outside must not fall into somebody's transaction.
    query: (sql, values) => inTurn(() => query(sql, values)),
    transaction: (work) =>
      inTurn(async () => {
        database.exec("BEGIN IMMEDIATE")
        try {
          const result = await work(query)
          database.exec("COMMIT")
          return result
        } catch (thrown) {
          database.exec("ROLLBACK")
          throw thrown
        }
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function openPostgres(url: string): Promise<Database> {
  const { default: pg } = await import("pg")
  const pool = new pg.Pool({ connectionString: url, max: 5, connectionTimeoutMillis: 10_000 })
  pool.on("error", () => {})
  ;(await pool.connect()).release()
  const numbered = (sql: string): string => {
    let count = 0
    return sql.replaceAll("?", () => `$${++count}`)
  }
  const close = (): Promise<void> => (pool.ended ? Promise.resolve() : pool.end())
  return {
    dialect: "postgres",
    query: async <Row>(sql: string, values: readonly SqlValue[] = []) =>
      (await pool.query(numbered(sql), [...values])).rows as Row[],
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query("BEGIN")
        const result = await work(
          async <Row>(sql: string, values: readonly SqlValue[] = []) =>
            (await client.query(numbered(sql), [...values])).rows as Row[],
        )
        await client.query("COMMIT")
        return result
      } catch (thrown) {
        await client.query("ROLLBACK")
        throw thrown
      } finally {
        client.release()
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Runs pieces of work one after another. */
function turns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }
}

function withoutPassword(text: string): string {
  return text.replaceAll(/(\w+:\/\/[^:/@\s]*):[^@\s]*@/g, "$1:•••@")
}
