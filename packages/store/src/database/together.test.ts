import { describe, expect, test } from "vitest"
import { openDatabase } from "../index.ts"
import { databaseOver } from "./database.ts"
import { sqliteDriver } from "./sqlite.ts"

/** A database of one table, and the statements that begin and end transactions in it. */
async function counted() {
  const driver = await sqliteDriver(":memory:")
  const seen: string[] = []
  const database = databaseOver(
    {
      ...driver,
      async connect() {
        const connection = await driver.connect()
        return {
          ...connection,
          execute: (sql, values) => {
            if (/^(BEGIN|COMMIT|ROLLBACK)/.test(sql)) seen.push(sql.split(" ")[0]!)
            return connection.execute(sql, values)
          },
        }
      },
    },
    "memory",
  )
  await database.query("CREATE TABLE kept (name TEXT PRIMARY KEY)")
  const keep = (name: string) =>
    database.shared(async (execute) => {
      await execute("INSERT INTO kept VALUES (?)", [name])
      return name
    })
  const kept = async () =>
    (await database.query<{ name: string }>("SELECT name FROM kept ORDER BY name")).map(({ name }) => name)
  return { database, seen, keep, kept }
}

describe("transactions of one turn", () => {
  test("become one, and each is answered when it is committed", async () => {
    await using stand = await closing(counted())
    const { keep, kept, seen } = stand.value
    expect(await Promise.all(["a", "b", "c"].map(keep))).toEqual(["a", "b", "c"])
    expect(seen).toEqual(["BEGIN", "COMMIT"])
    expect(await kept()).toEqual(["a", "b", "c"])
    await keep("d")
    expect(seen).toEqual(["BEGIN", "COMMIT", "BEGIN", "COMMIT"])
  })

  test("what fails, fails alone", async () => {
    await using stand = await closing(counted())
    const { keep, kept } = stand.value
    const ended = await Promise.allSettled(["a", "b", "a", "c"].map(keep))
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"])
    expect(await kept()).toEqual(["a", "b", "c"])
  })

  test("where none can begin, each hears of it, and nothing is tried again and again", async () => {
    const { keep, database, seen } = await counted()
    await database.close()
    const ended = await Promise.allSettled(["a", "b", "c"].map(keep))
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"])
    expect(seen.filter((word) => word === "BEGIN")).toHaveLength(1)
  })
})

test("what belongs to no task and has ended stands in no index of those that do", async () => {
  await using database = await openDatabase(":memory:")
  const indexes = await database.query<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'runs' AND sql IS NOT NULL",
  )
  const whole = indexes.filter(({ sql }) => !/ where /i.test(sql)).map(({ name }) => name)
  expect(whole).toEqual(["runs_by_time"])
  const plan = async (sql: string) =>
    (await database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)).map(({ detail }) => detail).join()
  expect(await plan("SELECT id FROM runs WHERE task = 'x'")).toContain("runs_of_task")
  expect(await plan("SELECT id FROM runs WHERE state <> 'ended' ORDER BY started_at DESC, id DESC")).toContain(
    "runs_open",
  )
})

async function closing<Value extends { database: AsyncDisposable }>(made: Promise<Value>) {
  const value = await made
  return { value, [Symbol.asyncDispose]: () => value.database[Symbol.asyncDispose]() }
}
