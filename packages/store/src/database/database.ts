import type { Kysely } from "kysely"
import { messageOf, ToolwrightError } from "@toolwright/toolbox/errors"
import type { Tables } from "../tables.ts"
import { assertChanged } from "./behind.ts"
import { sharingCommits } from "./together.ts"
import type { SqlDialect, Driver, Execute, SqlValue, Statement } from "./driver.ts"

/** One database, whatever its kind. */
export interface Database extends AsyncDisposable {
  readonly dialect: SqlDialect
  /** What was opened, without a password. */
  readonly name: string
  /** For the few statements that are run so often that building them would cost more than running them. */
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
  execute: Execute
  /** All statements inside take effect together, or none. On SQLite, transactions run one after another. */
  transaction<Result>(work: (execute: Execute) => Promise<Result>): Promise<Result>
  /**
   * As `transaction`, at the end of this turn of the event loop and, on SQLite, in one with others that are handed over
   * in it. What fails, fails alone. Nothing but statements may be done in it: it may be done twice.
   */
  shared<Result>(work: (execute: Execute) => Promise<Result>): Promise<Result>
  /**
   * Statements that take effect together or not at all, which nobody waits for: on SQLite they are written a moment
   * later, many in one commit, before anything else is done with this database and before the process ends. Only a
   * process that is killed takes the last moment with it. Where connections write side by side they are written at
   * once.
   *
   * @param lost is told why they could not be written, where that is not thrown
   * @returns when there is room for more
   */
  behind(statements: readonly Statement[], lost: (thrown: unknown) => void): Promise<void>
  /** The query builder over our {@link Tables}; loaded at the first use, which takes some 90 ms. */
  typed(): Promise<Kysely<Tables>>
  close(): Promise<void>
}

/** Makes a database of what a driver brings along. */
export function databaseOver(driver: Driver, name: string): Database {
  const held = async <Result>(work: (execute: Execute) => Promise<Result>): Promise<Result> => {
    const connection = await driver.connect()
    try {
      return await work(connection.execute)
    } finally {
      connection.release()
    }
  }
  const execute: Execute = (sql, values) => held((run) => run(sql, values))
  const transaction: Database["transaction"] = (work) =>
    held(async (run) => {
      await run(driver.begin)
      try {
        const result = await work(run)
        await run("COMMIT")
        return result
      } catch (thrown) {
        // Where the database is full or gone, it has taken back what was done itself.
        await run("ROLLBACK").catch(() => {})
        throw thrown
      }
    })
  let typed: Promise<Kysely<Tables>> | undefined
  const close = (): Promise<void> => driver.close()
  return {
    dialect: driver.dialect,
    name,
    execute,
    async query<Row>(sql: string, values?: readonly SqlValue[]) {
      return (await execute<Row>(sql, values)).rows
    },
    transaction,
    // A server of many connections commits them beside each other.
    shared: driver.dialect === "sqlite" ? sharingCommits(transaction) : transaction,
    behind: (statements, lost) => (driver.behind ?? atOnce(transaction))(statements, lost),
    typed: () => (typed ??= import("./typed.ts").then(({ typedOver }) => typedOver(driver))),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function atOnce(transaction: Database["transaction"]): Database["behind"] {
  return (statements) =>
    transaction(async (execute) => {
      for (const each of statements) assertChanged(each, (await execute(each.sql, each.values)).changed)
    })
}

/** @throws ToolwrightError `DATABASE_UNAVAILABLE`; an address in its message has no password */
export function unavailable(target: string, cause: unknown): ToolwrightError {
  return new ToolwrightError(
    "DATABASE_UNAVAILABLE",
    `The database ${withoutPassword(target)} cannot be opened: ${withoutPassword(messageOf(cause))}`,
    { cause },
  )
}

export function withoutPassword(text: string): string {
  return text.replaceAll(/(\w+:\/\/[^:/@\s]*):[^@\s]*@/g, "$1:•••@")
}
