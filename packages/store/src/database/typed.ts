import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect as KyselyDialect,
} from "kysely"
import type { Tables } from "../tables.ts"
import type { Connection, Driver, SqlValue } from "./driver.ts"

/** The query builder over one of our drivers, so that it shares connections and turns with everything else. */
export function typedOver(driver: Driver): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: dialectOver(driver) })
}

/** SQLite takes a change of its tables back with the transaction, like everything else. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class Held implements DatabaseConnection {
  readonly connection: Connection
  constructor(connection: Connection) {
    this.connection = connection
  }
  async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
    const { rows, changed } = await this.connection.execute<Row>(sql, parameters as readonly SqlValue[])
    return { rows, numAffectedRows: BigInt(changed) }
  }
  // oxlint-disable-next-line require-yield -- the interface asks for it, and nothing here streams
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error("Read in pages instead.")
  }
}

function dialectOver(driver: Driver): KyselyDialect {
  const postgres = driver.dialect === "postgres"
  return {
    createAdapter: () => (postgres ? new PostgresAdapter() : new TransactionalSqliteAdapter()),
    createQueryCompiler: () => (postgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler()),
    createIntrospector: (database) =>
      postgres ? new PostgresIntrospector(database) : new SqliteIntrospector(database),
    createDriver: () => {
      const run = (sql: string) => async (connection: DatabaseConnection) => {
        await (connection as Held).connection.execute(sql)
      }
      return {
        init: async () => {},
        acquireConnection: async () => new Held(await driver.connect()),
        releaseConnection: async (connection) => (connection as Held).connection.release(),
        beginTransaction: run(driver.begin),
        commitTransaction: run("COMMIT"),
        rollbackTransaction: run("ROLLBACK"),
        destroy: async () => {},
      }
    },
  }
}
