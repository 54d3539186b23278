import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { MIGRATIONS } from "../migrations/index.ts"
import { MIGRATION_NAMES } from "../migrations/names.ts"
import { migrate, migrationStatus, openDatabase, openStateDatabase, type Tables } from "../index.ts"
import { onBothDatabases } from "../testing/databases.ts"

test("the names that are looked for are those of the migrations", () => {
  expect(MIGRATION_NAMES).toEqual(Object.keys(MIGRATIONS).toSorted())
})

onBothDatabases("a database", (address, newDatabase) => {
  test("is brought to our tables once, also by several at a time", async () => {
    const at = newDatabase()
    const databases = await Promise.all([1, 2, 3, 4].map(() => openDatabase(at)))
    for (const database of databases) {
      expect(await migrationStatus(database)).toEqual({ applied: MIGRATION_NAMES, pending: [], unknown: [] })
      expect(await migrate(database)).toEqual([])
    }
    for (const database of databases) await database.close()
  })

  test("of a newer version is left alone", async () => {
    const at = newDatabase()
    const database = await openDatabase(at)
    await database.query("UPDATE toolwright_migrations SET name = '9999-later' WHERE name = '0001-run-log'")
    await database.close()
    await expect(openDatabase(at)).rejects.toMatchObject({ code: "DATABASE_NEWER" })
  })

  test("answers the query builder with the same values", async () => {
    await using database = await openDatabase(address())
    const typed = await database.typed()
    const times = { created_at: 1_790_000_000_000, updated_at: 1 }
    const task = { agent: "builder", input: "{}", ...times }
    await typed
      .insertInto("tasks")
      .values({ id: "a", ...task })
      .execute()
    await typed
      .insertInto("tasks")
      .values({ id: "b", parent: "a", depth: 1, ...task })
      .execute()
    const rows = await typed.selectFrom("tasks").selectAll().orderBy("id").execute()
    expect(rows[1]).toMatchObject({ id: "b", depth: 1, created_at: 1_790_000_000_000, state: "queued", priority: 0 })
    const changed = await typed.updateTable("tasks").set({ state: "done" }).where("id", "=", "a").executeTakeFirst()
    expect(changed.numUpdatedRows).toBe(1n)
    await expect(
      typed.transaction().execute(async (inside) => {
        await inside.deleteFrom("tasks").where("id", "=", "b").execute()
        throw new Error("no")
      }),
    ).rejects.toThrow("no")
    expect(await database.query("SELECT count(*) AS count FROM tasks")).toEqual([{ count: 2 }])
  })

  const refused: [string, (id: string) => Partial<Tables["tasks"]> & object][] = [
    ["a task nested too deeply", () => ({ depth: 4 }) as never],
    ["a state that is none", () => ({ state: "lost" }) as never],
    ["a task whose parent is not there", () => ({ parent: "nobody" }) as never],
  ]
  test.each(refused)("refuses %s by itself", async (_what, wrong) => {
    await using database = await openDatabase(address())
    const typed = await database.typed()
    const task = { id: "t", agent: "a", input: "{}", created_at: 1, updated_at: 1 }
    await expect(
      typed
        .insertInto("tasks")
        .values({ ...task, ...wrong("t") } as never)
        .execute(),
    ).rejects.toThrow(/constraint/i)
  })

  test("refuses a second owner of a file, and a task that waits for itself", async () => {
    await using database = await openDatabase(address())
    const agent =
      "INSERT INTO agents (id, name, profile, definition, created_at, updated_at) VALUES (?, ?, 'p', '{}', 1, 1)"
    await database.query(agent, ["one", "one"])
    await database.query(agent, ["two", "two"])
    const own = "INSERT INTO owned_files (workspace, path, agent, created_at) VALUES ('w', 'a.py', ?, 1)"
    await database.query(own, ["one"])
    await expect(database.query(own, ["two"])).rejects.toThrow(/unique/i)
    await database.query("INSERT INTO tasks (id, agent, input, created_at, updated_at) VALUES ('t', 'a', '{}', 1, 1)")
    await expect(database.query("INSERT INTO task_dependencies VALUES ('t', 't')")).rejects.toThrow(/constraint/i)
  })
})

describe("the database of a folder that may have come from elsewhere", () => {
  let folder: string
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "state-"))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test.each(["", "-wal", "-shm", "-journal"])("is not opened through a link for state.sqlite%s", async (ending) => {
    mkdirSync(join(folder, "state"))
    symlinkSync(join(folder, "elsewhere"), join(folder, "state", `state.sqlite${ending}`))
    await expect(openStateDatabase(join(folder, "state"))).rejects.toMatchObject({ code: "UNSAFE_FILE" })
  })

  test("is not opened where a pipe or a second name stands in its place", async () => {
    mkdirSync(join(folder, "state"))
    execFileSync("mkfifo", [join(folder, "state", "state.sqlite")])
    await expect(openStateDatabase(join(folder, "state"))).rejects.toMatchObject({ code: "UNSAFE_FILE" })
    mkdirSync(join(folder, "other"))
    writeFileSync(join(folder, "mine"), "")
    linkSync(join(folder, "mine"), join(folder, "other", "state.sqlite"))
    await expect(openStateDatabase(join(folder, "other"))).rejects.toMatchObject({ code: "UNSAFE_FILE" })
    symlinkSync(join(folder, "other"), join(folder, "link"))
    await expect(openStateDatabase(join(folder, "link"))).rejects.toMatchObject({ code: "UNSAFE_FOLDER" })
  })

  test("is opened where nothing stands yet, and again", async () => {
    for (const count of [0, 1]) {
      await using database = await openStateDatabase(join(folder, "deep", "state"))
      expect(await database.query("SELECT 1 FROM agents")).toHaveLength(count)
      await database.query(
        "INSERT INTO agents (id, name, profile, definition, created_at, updated_at) VALUES (?, ?, 'p', '{}', 1, 1)",
        [`x${count}`, `x${count}`],
      )
    }
  })

  test("says so where no database stands in its place", async () => {
    mkdirSync(join(folder, "state"))
    writeFileSync(join(folder, "state", "state.sqlite"), "this is no database, whatever its name says".repeat(50))
    await expect(openStateDatabase(join(folder, "state"))).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
  })
})
