import type { PoolClient } from "pg"
import type { Driver, Execute } from "./driver.ts"

/** Where our tables lie, so that they meet no others of the same name. */
const SCHEMA = "toolwright"
/** PostgreSQL's number for the type `bigint`, which its driver would give as text. */
const BIGINT = 20

/** PostgreSQL, over a small pool. Our tables lie in a schema of their own. */
export async function postgresDriver(url: string): Promise<Driver> {
  const { default: pg } = await import("pg")
  const types = {
    getTypeParser: ((oid: number, format?: "text" | "binary") =>
      oid === BIGINT ? Number : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
  }
  const pool = new pg.Pool({ connectionString: url, max: 5, connectionTimeoutMillis: 10_000, types })
  pool.on("error", () => {})
  const prepared = new WeakSet<PoolClient>()
  const statement = statements()
  const client = async (): Promise<PoolClient> => {
    const taken = await pool.connect()
    if (!prepared.has(taken)) {
      await taken.query(`SET search_path TO ${SCHEMA}, public`)
      prepared.add(taken)
    }
    return taken
  }
  try {
    const first = await pool.connect()
    await first
      .query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`)
      .catch(unlessMade)
      .finally(() => first.release())
  } catch (thrown) {
    await pool.end()
    throw thrown
  }
  return {
    dialect: "postgres",
    begin: "BEGIN",
    async connect() {
      const taken = await client()
      let broken = false
      const onError = (): void => void (broken = true)
      taken.on("error", onError)
      const execute: Execute = async <Row>(sql: string, values: readonly (string | number | null)[] = []) => {
        const { rows, rowCount } = await taken.query({ ...statement(sql), values: [...values] })
        return { rows: rows as Row[], changed: rowCount ?? 0 }
      }
      return {
        execute,
        release() {
          taken.off("error", onError)
          taken.release(broken)
        },
      }
    },
    close: () => (pool.ended ? Promise.resolve() : pool.end()),
  }
}

/** What a server answers to whoever comes second, where two make the same schema at once. */
const ALREADY_MADE = new Set(["23505", "42P06"])

function unlessMade(thrown: unknown): void {
  if (!ALREADY_MADE.has(String((thrown as { code?: unknown }).code))) throw thrown
}

/** Statements that have a name are planned once a connection; those of the query builder may be too many for that. */
const MOST_NAMED = 200

/**
 * What a statement is called, and how the server takes it. Poolers that give each transaction another connection have
 * to know of named statements, as PgBouncer does since 1.21.
 */
function statements(): (sql: string) => { name?: string; text: string } {
  const known = new Map<string, { name?: string; text: string }>()
  return (sql) => {
    let statement = known.get(sql)
    if (statement === undefined) {
      const text = numbered(sql)
      if (known.size >= MOST_NAMED) return { text }
      known.set(sql, (statement = { name: `toolwright_${known.size}`, text }))
    }
    return statement
  }
}

/** Our statements hold no question mark but those for values; those of the query builder have numbers already. */
function numbered(sql: string): string {
  if (!sql.includes("?")) return sql
  let count = 0
  return sql.replaceAll("?", () => `$${++count}`)
}
