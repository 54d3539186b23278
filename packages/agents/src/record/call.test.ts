import { openDatabase, runLog, type RunLog } from "@toolwright/store"
import { defineTool, success, ToolRegistry } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { recordedCalls } from "./call.ts"

/** Calls of a tool that reads and of one that takes effect, and what of their records is in the database when. */
async function stand(wrong: (log: RunLog) => RunLog = (log) => log) {
  const database = await openDatabase(":memory:")
  onTestFinished(() => database.close())
  const log = runLog(database)
  const told: string[] = []
  const during: string[][] = []
  const record = { surface: "http", workspace: "/w" }
  const execute = recordedCalls(async () => wrong(log), record, { behind: (line) => told.push(line) })
  const tools = new ToolRegistry()
  for (const readOnly of [true, false])
    tools.register(
      defineTool({
        name: readOnly ? "look" : "act",
        description: "",
        parameters: { type: "object" },
        effects: { readOnly },
        execute: async () => {
          const [run] = await log.list()
          during.push(run === undefined ? [] : (await log.events(run.id)).map(({ type }) => type))
          return success({ output: "done" })
        },
      }),
    )
  const call = (name: string) => execute(tools, { name, arguments: {} })
  return { call, log, told, during }
}

test("a call that takes effect is on record before it does, and one that reads is for whoever asks after it", async () => {
  const { call, log, during } = await stand()
  expect(await call("act")).toMatchObject({ success: true })
  expect(during).toEqual([["tool-start", "effect-start"]])
  for (let each = 0; each < 3; each++) expect(await call("look")).toMatchObject({ success: true })
  const runs = await log.list()
  expect(runs.map(({ title, outcome }) => [title, outcome])).toEqual([
    ...Array.from({ length: 3 }, () => ["look", "completed"]),
    ["act", "completed"],
  ])
  expect((await log.events(runs[0]!.id)).map(({ type }) => type)).toEqual(["tool-start", "tool-end", "run-end"])
})

test("where records cannot be written, it is told once, each later result says so, and what acts is not done", async () => {
  let isFull = true
  const full = (): never => {
    throw new Error("disk full")
  }
  const { call, log, told, during } = await stand((real) => ({
    ...real,
    draft: (run) => (isFull ? failing(real.draft(run), full) : real.draft(run)),
  }))
  expect((await call("look")).metadata.unrecorded).toBeUndefined()
  expect(told).toEqual(["Calls that changed nothing are not on record: disk full"])
  expect((await call("look")).metadata.unrecorded).toContain("disk full")
  expect(await call("act")).toMatchObject({ error: { code: "LOG_UNWRITABLE" } })
  expect(during).toHaveLength(2)
  isFull = false
  expect((await call("look")).metadata.unrecorded).toBeUndefined()
  await call("look")
  expect(await log.list()).toHaveLength(2)
  expect(told).toHaveLength(1)
})

test("where the log cannot be opened at all, it is told once, until a call is on record", async () => {
  let isThere = false
  const told: string[] = []
  const database = await openDatabase(":memory:")
  onTestFinished(() => database.close())
  const open = async (): Promise<RunLog> => {
    if (isThere) return runLog(database)
    throw new Error("no folder")
  }
  const place = { surface: "mcp", workspace: "/w" }
  const execute = recordedCalls(open, place, { behind: (line) => told.push(line) })
  const tools = new ToolRegistry()
  for (const [name, readOnly] of [
    ["look", true],
    ["act", false],
  ] as const)
    tools.register(
      defineTool({ name, description: "", parameters: { type: "object" }, effects: { readOnly }, execute: () => 1 }),
    )
  const call = (name: string) => execute(tools, { name, arguments: {} })
  expect((await call("act")).error?.code).toBe("LOG_UNWRITABLE")
  expect((await call("look")).metadata.unrecorded).toBe("no folder")
  expect(told).toEqual(["No call that takes effect is made, since none can be put on record: no folder"])
  isThere = true
  await call("look")
  isThere = false
  await call("look")
  expect(told.slice(1)).toEqual(["Calls are not on record: no folder"])
})

/** A writer whose database takes nothing. */
function failing(writer: ReturnType<RunLog["draft"]>, full: () => never): ReturnType<RunLog["draft"]> {
  return Object.assign(Object.create(writer) as typeof writer, {
    append: async () => full(),
    end: async () => full(),
    async endBehind(_events: unknown, _end: unknown, lost: (thrown: unknown) => void) {
      try {
        full()
      } catch (thrown) {
        lost(thrown)
      }
    },
  })
}
