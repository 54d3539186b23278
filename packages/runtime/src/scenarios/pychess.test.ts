import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { isPostgres } from "@toolwright/store"
import { expect, onTestFinished, test, vi } from "vitest"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { modelByAgent } from "../testing/by-agent.ts"
import {
  PYCHESS_FILES,
  PYCHESS_PIECE,
  PYCHESS_PLAN,
  PYCHESS_PROJECT,
  PYCHESS_SCRIPTS,
  PYCHESS_SYMBOL,
} from "../testing/pychess.ts"
import { repositoryWith } from "../testing/repository.ts"
import { startTaskWorker } from "../tasks/work.ts"
import { createToolwright } from "../toolwright.ts"

const { AI, BOARD, ENGINE, GUI, PIECES } = PYCHESS_FILES

async function project(database: string, backend: ReturnType<typeof modelByAgent>) {
  const repo = repositoryWith(PYCHESS_PROJECT)
  const made = { cwd: repo.path, workspace: { roots: [repo.path] }, runs: { database }, backend }
  const toolwright = await createToolwright(made)
  onTestFinished(async () => {
    await toolwright.close()
    repo[Symbol.dispose]()
  })
  const work = () => startTaskWorker({ toolwright, made: { ...made, withBuiltins: true }, concurrency: 3, idle: 20 })
  const ended = (id: string) =>
    vi.waitFor(async () => expect((await toolwright.plans.show(id)).state).not.toBe("open"), {
      timeout: MOST_MS,
      interval: 100,
    })
  return { repo, toolwright, work, ended }
}

/** Lets each of some agents begin only when all of them have asked: without overlap the first would wait for ever. */
function together(...files: string[]) {
  const waiting = new Map(files.map((file) => [file, Promise.withResolvers<void>()]))
  return async (file: string, count: number) => {
    if (count > 1 || !waiting.has(file)) return
    waiting.get(file)!.resolve()
    await Promise.all([...waiting.values()].map(({ promise }) => promise))
  }
}

const { TOOLWRIGHT_WHOLE: WHOLE } = process.env

/** Python's tests take seconds each where the machine is busy. */
const MOST_MS = 240_000

onBothDatabases("a chess game by six agents", (address) => {
  test(
    "is planned, built on each other's interfaces, tested and committed; one failing agent is tried again alone",
    async ({ skip }) => {
      const database = address()
      skip(isPostgres(database) && WHOLE === undefined, "TOOLWRIGHT_WHOLE=1 plays it on PostgreSQL too")
      const model = modelByAgent(PYCHESS_SCRIPTS, together(AI, GUI))
      const { repo, toolwright, work, ended } = await project(database, model)
      expect((await toolwright.plans.check(PYCHESS_PLAN)).levels).toEqual([
        ["pieces"],
        ["board"],
        ["engine"],
        ["ai", "gui"],
        ["tests"],
      ])
      const { id } = await toolwright.plans.start(PYCHESS_PLAN)
      await expect(toolwright.agents.create({ name: "Second", files: [BOARD] })).rejects.toMatchObject({
        code: "FILE_OWNED",
      })
      await using _worker = await work()
      await ended(id)

      const view = await toolwright.plans.show(id)
      const ends = Object.fromEntries(
        view.steps.map(({ name, state, attempts, reason }) => [name, [state, attempts, reason]]),
      )
      expect(ends).toEqual({
        pieces: ["done", 2, undefined],
        board: ["done", 1, undefined],
        engine: ["done", 1, undefined],
        ai: ["done", 1, undefined],
        gui: ["done", 1, undefined],
        tests: ["done", 1, undefined],
      })
      expect(model.remaining).toBe(0)
      expect(JSON.stringify(model.asked.get(BOARD)![0]!.messages)).not.toContain("_secret")

      const files = Object.values(PYCHESS_FILES)
      for (const file of files) {
        execFileSync("python3", ["-m", "py_compile", file], { cwd: repo.path })
        expect(existsSync(join(repo.path, `.meta/${file}.json`)), file).toBe(true)
      }
      execFileSync("python3", ["-m", "pytest", "-q"], { cwd: repo.path })
      const log = repo.git("log", "--format=%s").split("\n")
      expect(log.toSorted()).toEqual([...files.map((file) => `Add ${file}`), "Begin"].toSorted())
      for (const file of files) expect(repo.git("log", "--format=%s", "--", file), file).toBe(`Add ${file}`)
      expect(repo.git("status", "--porcelain")).toBe("")

      const runs = await toolwright.runs()
      expect(runs.map(({ agent }) => agent).toSorted()).toEqual(
        [...Object.keys(PYCHESS_PLAN.agents), "PieceDesigner"].toSorted(),
      )
    },
    MOST_MS,
  )

  test(
    "whose board fails for good ends there: what builds on it is blocked, and goes on at the next try",
    async () => {
      const { pieces, board, engine } = PYCHESS_PLAN.tasks
      const unwilling = Array.from({ length: 8 }, () => ({ reply: "I would rather not." }))
      const model = modelByAgent({
        [PIECES]: [
          { reply: { calls: [PYCHESS_SYMBOL, PYCHESS_PIECE] } },
          ...PYCHESS_SCRIPTS[PIECES]!.slice(-3).map(({ reply }) => ({ reply })),
        ],
        [BOARD]: [...unwilling, ...PYCHESS_SCRIPTS[BOARD]!],
        [ENGINE]: PYCHESS_SCRIPTS[ENGINE]!,
      })
      const { toolwright, work, ended } = await project(address(), model)
      const { id } = await toolwright.plans.start({ ...PYCHESS_PLAN, tasks: { pieces, board, engine } })
      await using _worker = await work()
      await ended(id)
      const states = async () =>
        Object.fromEntries((await toolwright.plans.show(id)).steps.map(({ name, state }) => [name, state]))
      expect(await states()).toEqual({ pieces: "done", board: "failed", engine: "blocked" })
      expect((await toolwright.plans.list())[0]).toMatchObject({ id, state: "failed" })
      await toolwright.plans.retry(id)
      await ended(id)
      expect(await states()).toEqual({ pieces: "done", board: "done", engine: "done" })
      expect(model.remaining).toBe(0)
    },
    MOST_MS,
  )

  test("that is cancelled stops every request, and queues nothing more", async () => {
    const hang = [{ reply: { text: "thinking", hang: true } }]
    const parts = { agents: PYCHESS_PLAN.agents, name: "both" }
    const { ai, gui, tests } = PYCHESS_PLAN.tasks
    const tasks = { ai: { ...ai, after: [] }, gui: { ...gui, after: [] }, tests: { ...tests, after: ["ai", "gui"] } }
    const model = modelByAgent({ [AI]: hang, [GUI]: hang })
    const { toolwright, work } = await project(address(), model)
    const { id } = await toolwright.plans.start({ ...parts, tasks })
    await using worker = await work()
    await vi.waitFor(() => expect([...model.open].toSorted()).toEqual([AI, GUI]))
    const view = await toolwright.plans.cancel(id)
    expect(view.steps.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled"])
    await vi.waitFor(() => expect({ open: [...model.open], busy: worker.busy }).toEqual({ open: [], busy: [] }))
  })
})

test.each([
  [
    { tasks: { a: { agent: "reviewer", task: "x", after: ["b"] }, b: { agent: "reviewer", task: "x", after: ["a"] } } },
    "TASK_CYCLE",
    "a → b → a",
  ],
  [{ tasks: { a: { agent: "reviewer", task: "x", after: ["bb"] } } }, "INVALID_PLAN", "comes after 'bb'"],
  [{ tasks: { a: { agent: "reviewr", task: "x" } } }, "UNKNOWN_AGENT", "reviewr"],
  [{ tasks: { a: { agent: "file-owner", task: "x" } } }, "INVALID_PLAN", "does not say which"],
  [{ tasks: {} }, "INVALID_PLAN", "tasks"],
  [{ tasks: { a: { agent: "reviewer", tsk: "x" } } }, "INVALID_PLAN", "tsk"],
  [
    { agents: { A: { files: ["x.py"] }, B: { files: ["./x.py"] } }, tasks: { a: { agent: "A", task: "x" } } },
    "INVALID_PLAN",
    "'x.py' is owned by 'A'",
  ],
])("a plan that cannot work, %j, is refused before anything is made", async (parts, code, said) => {
  const { toolwright } = await project(":memory:", modelByAgent({ "a.py": [] }))
  await expect(toolwright.plans.start({ name: "p", ...parts })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(said) as string,
  })
  expect(await toolwright.plans.list()).toEqual([])
  expect((await toolwright.agents.list()).filter(({ kind }) => kind === "made")).toEqual([])
})
