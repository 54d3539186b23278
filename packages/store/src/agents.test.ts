import { expect, onTestFinished, test } from "vitest"
import { agentRegistry } from "./agents.ts"
import { openDatabase } from "./database/open.ts"
import { taskQueue } from "./tasks/queue.ts"
import { onBothDatabases } from "./testing/databases.ts"

const BOARD = { name: "BoardArchitect", profile: "file-owner", files: ["src/board.py", "tests/test_board.py"] }

onBothDatabases("agents that own files", (address) => {
  const opened = async () => {
    const database = await openDatabase(address())
    onTestFinished(() => database.close())
    return database
  }

  test("are kept with their files, and given back where the same is made twice", async () => {
    const agents = agentRegistry(await opened())
    const made = await agents.create(BOARD)
    expect(made).toMatchObject(BOARD)
    expect(await agents.create(BOARD)).toEqual(made)
    expect(await agents.list()).toEqual([made])
    await expect(agents.create({ ...BOARD, files: ["other.py"] })).rejects.toMatchObject({ code: "AGENT_EXISTS" })
    await expect(agents.create({ ...BOARD, definition: { prompt: "x" } })).rejects.toMatchObject({
      code: "AGENT_EXISTS",
    })
  })

  test("a second owner of a file is refused by the database, and nothing of it is made", async () => {
    const agents = agentRegistry(await opened())
    await agents.create(BOARD)
    const second = { name: "Other", profile: "file-owner", files: ["src/own.py", "src/board.py"] }
    await expect(agents.create(second)).rejects.toMatchObject({
      code: "FILE_OWNED",
      message: "src/board.py is owned by 'BoardArchitect', so 'Other' was not made.",
    })
    expect((await agents.list()).map(({ name }) => name)).toEqual(["BoardArchitect"])
    const free = { name: "Free", profile: "file-owner", files: ["src/own.py"] }
    await expect(agents.createAll([free, second])).rejects.toMatchObject({ code: "FILE_OWNED" })
    expect(await agents.get("Free")).toBeUndefined()
    expect((await agents.create(free)).files).toEqual(["src/own.py"])
  })

  const spellings = [
    ["upper and lower case", "docs/Readme.md", "DOCS/README.md"],
    ["an accent as a sign of its own", "src/caf\u00e9.py", "src/cafe\u0301.py"],
    ["the letters of a ligature", "src/\ufb01le.py", "src/file.py"],
    ["two small letters for one", "src/stra\u00dfe.py", "src/STRASSE.py"],
  ] as const
  test.each(spellings)("a second owner by %s is refused, also at the same time", async (_what, first, second) => {
    const database = await opened()
    const agents = agentRegistry(database)
    const made = await Promise.allSettled([
      agents.create({ name: "One", profile: "file-owner", files: [first] }),
      agents.create({ name: "Two", profile: "file-owner", files: [second] }),
    ])
    expect(made.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []))).toEqual(["FILE_OWNED"])
    expect(await database.query("SELECT agent FROM owned_files")).toHaveLength(1)
  })

  test("of many that want one file at once, one has it", async () => {
    const database = await opened()
    const agents = agentRegistry(database)
    const wanting = Array.from({ length: 8 }, (_, at) =>
      agents.create({ name: `Agent${at}`, profile: "file-owner", files: ["one.py"] }),
    )
    const ends = await Promise.allSettled(wanting)
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    expect(await database.query("SELECT agent FROM owned_files")).toHaveLength(1)
    expect(await agents.list()).toHaveLength(1)
  })

  test("let go of their files when they are removed, which they are not while a task of them is open", async () => {
    const database = await opened()
    const agents = agentRegistry(database)
    await agents.create(BOARD)
    const queue = taskQueue(database)
    const { id } = await queue.add({ agent: BOARD.name, input: "x" })
    await expect(agents.remove(BOARD.name)).rejects.toMatchObject({ code: "AGENT_BUSY" })
    await queue.cancel(id)
    expect(await agents.remove(BOARD.name)).toMatchObject(BOARD)
    expect((await agents.create({ ...BOARD, name: "Next" })).files).toEqual(BOARD.files)
    await expect(agents.remove(BOARD.name)).rejects.toMatchObject({ code: "UNKNOWN_AGENT" })
  })

  test("of two folders in one database know nothing of each other", async () => {
    const database = await opened()
    const [one, two] = [agentRegistry(database, "/one"), agentRegistry(database, "/two")]
    await one.create(BOARD)
    expect((await two.create(BOARD)).files).toEqual(BOARD.files)
    await two.remove(BOARD.name)
    expect(await one.list()).toHaveLength(1)
  })
})
