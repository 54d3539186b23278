import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { MIGRATION_NAMES } from "../migrations/names.ts"
import type { Database } from "./database.ts"
import { migrate, migrationStatus } from "./migrate.ts"
import { makeNew } from "./new-database.ts"
import { openDatabase } from "./open.ts"

const FILE = join(import.meta.dirname, "../migrations/new-sqlite.ts")

/** What is there, in the order in which it was made, but for what SQLite adds by itself. */
async function everything(database: Database): Promise<{ name: string; sql: string }[]> {
  return database.query("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'other' ORDER BY rowid")
}

/** A database that was brought to our tables step by step, since it was not empty. */
async function stepByStep(): Promise<Database> {
  const database = await openDatabase(":memory:", { migrate: false })
  await database.query("CREATE TABLE other (x text)")
  expect(await makeNew(database)).toBe(false)
  expect(await migrate(database)).toEqual(MIGRATION_NAMES)
  return database
}

const words = (text: string): string => text.replaceAll(/\s+/gu, " ")

/** In lines that can be read. */
const parted = (sql: string): string => sql.replaceAll(/(.{60,100}?) /gu, "$1\n    ")

function fileOf(made: readonly { sql: string }[]): string {
  const statements = made.map(({ sql }) => `  \`${parted(sql)}\`,\n`).join("")
  return (
    "/** The tables that all migrations come to in SQLite: `npm run generate` writes them. */\n" +
    `export const NEW_SQLITE: readonly string[] = [\n${statements}]\n`
  )
}

test("a new database has the very tables that the migrations make one after another", async () => {
  await using steps = await stepByStep()
  const made = await everything(steps)
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(FILE, fileOf(made))
  else expect(words(readFileSync(FILE, "utf8"))).toBe(words(fileOf(made)))
})

test("what is made at once is as what is made in steps, and known as such", async () => {
  await using steps = await stepByStep()
  await using atOnce = await openDatabase(":memory:", { migrate: false })
  expect(await migrate(atOnce)).toEqual(MIGRATION_NAMES)
  expect(await everything(atOnce)).toEqual(await everything(steps))
  for (const table of ["toolwright_migrations", "toolwright_migrations_lock"]) {
    const rows = async (database: Database) => (await database.query<object>(`SELECT * FROM ${table}`)).map(untimed)
    expect(await rows(atOnce)).toEqual(await rows(steps))
  }
  expect(await migrationStatus(atOnce)).toEqual({ applied: MIGRATION_NAMES, pending: [], unknown: [] })
  expect(await migrate(atOnce)).toEqual([])
})

const untimed = (row: object): object => ({ ...row, timestamp: "" })

test("many that open a new database at a time make it once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "new-database-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const opened = await Promise.all(Array.from({ length: 5 }, () => openDatabase(join(folder, "a.sqlite"))))
  for (const database of opened) {
    expect(await migrationStatus(database)).toEqual({ applied: MIGRATION_NAMES, pending: [], unknown: [] })
    await database.close()
  }
})
