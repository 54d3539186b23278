import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, onTestFinished, test, vi } from "vitest"
import { databaseOver } from "./database.ts"
import { sqliteDriver } from "./sqlite.ts"

const SOURCES = fileURLToPath(new URL(".", import.meta.url))

/** A database of one table that nobody but the test opens a second time, to see what is in the file. */
async function stand() {
  const file = emptyFile()
  const database = databaseOver(await sqliteDriver(file), "file")
  await database.query("CREATE TABLE kept (name TEXT PRIMARY KEY)")
  const other = new DatabaseSync(file)
  onTestFinished(async () => {
    other.close()
    await database.close()
  })
  const lost: unknown[] = []
  const keep = (name: string): Promise<void> =>
    database.behind([{ sql: "INSERT INTO kept VALUES (?)", values: [name], changes: 1 }], (why) => lost.push(why))
  const onDisk = (): unknown => other.prepare("SELECT count(*) AS count FROM kept").get()!.count
  return { database, other, keep, onDisk, lost }
}

function emptyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-behind-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "kept.sqlite")
}

test("what nobody waits for is written in one commit, before anything else is done with the database", async () => {
  const { database, other, keep, onDisk } = await stand()
  other.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  for (let each = 0; each < 20; each++) await keep(`n${each}`)
  expect(onDisk()).toBe(0)
  expect(await database.query("SELECT count(*) AS count FROM kept")).toEqual([{ count: 20 }])
  expect(onDisk()).toBe(20)
  // A commit writes each page that it changed once: the table's and its index's.
  expect(other.prepare("PRAGMA wal_checkpoint").get()).toMatchObject({ log: 2 })
})

test("it is written without anybody asking, and of many at once without a wait", async () => {
  const { keep, onDisk } = await stand()
  await keep("alone")
  await vi.waitFor(() => expect(onDisk()).toBe(1), { timeout: 10_000 })
  for (let each = 0; each < 128; each++) await keep(`n${each}`)
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(onDisk()).toBe(129)
})

test("what fails, fails alone and is told", async () => {
  const { database, keep, lost } = await stand()
  for (const name of ["a", "b", "a", "c"]) await keep(name)
  expect(await database.query("SELECT name FROM kept ORDER BY name")).toEqual(["a", "b", "c"].map((name) => ({ name })))
  expect(lost).toHaveLength(1)
  expect(String(lost[0])).toContain("UNIQUE")
})

test("closing writes what waits", async () => {
  const { database, keep, onDisk } = await stand()
  await keep("last")
  await database.close()
  expect(onDisk()).toBe(1)
})

test("while another process writes, reading does not wait, nothing is lost, and what is too much is waited for", async () => {
  const { database, other, keep, onDisk, lost } = await stand()
  other.exec("BEGIN IMMEDIATE")
  await keep("first")
  expect(await database.query("SELECT count(*) AS count FROM kept")).toEqual([{ count: 0 }])
  let isRoom = false
  const large = keep("x".repeat(17 * 1024 * 1024)).then(() => (isRoom = true))
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(isRoom).toBe(false)
  other.exec("COMMIT")
  await large
  expect([onDisk(), lost]).toEqual([2, []])
})

test.each([
  ["ends itself", "process.exit(0)"],
  ["fails", "throw new Error('so it ends')"],
  ["has nothing more to do", ""],
  [
    "ends within a transaction, which is taken back",
    `await database.transaction(async (execute) => {
      await database.behind([], () => {})
      await execute("INSERT INTO kept VALUES ('b')")
      process.exit(0)
    })`,
  ],
])("it is written by a process that %s", async (_, end) => {
  const file = emptyFile()
  const script = `
    import { databaseOver } from ${JSON.stringify(`${SOURCES}database.ts`)}
    import { sqliteDriver } from ${JSON.stringify(`${SOURCES}sqlite.ts`)}
    const database = databaseOver(await sqliteDriver(${JSON.stringify(file)}), "file")
    await database.query("CREATE TABLE kept (name TEXT)")
    await database.behind([{ sql: "INSERT INTO kept VALUES (?)", values: ["a"] }], () => {})
    ${end}`
  const args = ["--conditions=toolwright-source", "--input-type=module", "--eval", script]
  await promisify(execFile)(process.execPath, args).catch((thrown: { stderr: string }) => {
    expect(thrown.stderr).toContain("so it ends")
  })
  const other = new DatabaseSync(file)
  expect(other.prepare("SELECT name FROM kept").all()).toEqual([{ name: "a" }])
  other.close()
})
