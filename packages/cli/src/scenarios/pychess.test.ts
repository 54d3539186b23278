import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { modelByAgent } from "../../../runtime/src/testing/by-agent.ts"
import { PYCHESS_FILES, PYCHESS_PLAN, PYCHESS_PROJECT, PYCHESS_SCRIPTS } from "../../../runtime/src/testing/pychess.ts"
import { repositoryWith } from "../../../runtime/src/testing/repository.ts"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { overTheWire, SURFACES, surface } from "../testing/surfaces.ts"

const { TOOLWRIGHT_WHOLE: WHOLE } = process.env
const { AI, BOARD, ENGINE, GUI } = PYCHESS_FILES

function project() {
  const repo = repositoryWith(PYCHESS_PROJECT)
  onTestFinished(() => repo[Symbol.dispose]())
  return repo
}

onBothDatabases("a chess game by six agents", (address) => {
  test.for(SURFACES)("asked for over %s is built, tested and committed", async (way, { skip }) => {
    const database = address()
    skip(WHOLE === undefined, "TOOLWRIGHT_WHOLE=1 plays it on each surface and database")
    const repo = project()
    const scripts = Object.entries(PYCHESS_SCRIPTS).map(([file, steps]) => [file, overTheWire(steps)] as const)
    const model = modelByAgent(Object.fromEntries(scripts))
    const asked = await surface(way, { cwd: repo.path, database, model, concurrency: 3 })
    const plan = await asked.plan(PYCHESS_PLAN)
    const tries = Object.fromEntries(plan.steps.map(({ name, state, attempts }) => [name, `${state} ${attempts}`]))
    expect(tries).toEqual({
      pieces: "done 2",
      board: "done 1",
      engine: "done 1",
      ai: "done 1",
      gui: "done 1",
      tests: "done 1",
    })
    expect(model.remaining).toBe(0)
    const files = Object.values(PYCHESS_FILES)
    for (const file of files) expect(existsSync(join(repo.path, `.meta/${file}.json`)), file).toBe(true)
    execFileSync("python3", ["-m", "pytest", "-q"], { cwd: repo.path })
    const log = repo.git("log", "--format=%s").split("\n")
    expect(log.toSorted()).toEqual([...files.map((file) => `Add ${file}`), "Begin"].toSorted())
    expect(repo.git("status", "--porcelain")).toBe("")
  })

  test.each(SURFACES)("asked for over %s, whose board fails for good: what builds on it is blocked", async (way) => {
    const model = modelByAgent({ [BOARD]: [{ reply: "I would rather not.", repeat: "always" }], [ENGINE]: [] })
    const asked = await surface(way, { cwd: project().path, database: address(), model })
    const { board, engine } = PYCHESS_PLAN.tasks
    const tasks = { board: { ...board, after: [] }, engine: { ...engine, after: ["board"] } }
    const plan = await asked.plan({ ...PYCHESS_PLAN, tasks })
    expect(Object.fromEntries(plan.steps.map(({ name, state }) => [name, state]))).toEqual({
      board: "failed",
      engine: "blocked",
    })
    expect(model.asked.get(ENGINE)).toEqual([])
  })

  test.each(SURFACES)("asked for over %s and cancelled stops every request, and queues nothing more", async (way) => {
    const hang = [{ reply: { text: "thinking", hang: true } }]
    const model = modelByAgent({ [AI]: hang, [GUI]: hang })
    const asked = await surface(way, { cwd: project().path, database: address(), model, concurrency: 2 })
    const { ai, gui, tests } = PYCHESS_PLAN.tasks
    const tasks = { ai: { ...ai, after: [] }, gui: { ...gui, after: [] }, tests: { ...tests, after: ["ai", "gui"] } }
    const both = () => vi.waitFor(() => expect([...model.open].toSorted()).toEqual([AI, GUI]))
    const plan = await asked.plan({ ...PYCHESS_PLAN, tasks }, both)
    expect(plan.steps.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled"])
    await vi.waitFor(() => expect([...model.open]).toEqual([]))
  })

  test.each(SURFACES)("asked for over %s as a circle is refused before anything is made", async (way) => {
    const model = modelByAgent({ [BOARD]: [] })
    const asked = await surface(way, { cwd: project().path, database: address(), model })
    const { board, engine } = PYCHESS_PLAN.tasks
    const tasks = { board: { ...board, after: ["engine"] }, engine: { ...engine, after: ["board"] } }
    await expect(asked.plan({ ...PYCHESS_PLAN, tasks })).rejects.toThrow("board → engine → board")
    await expect(asked.own("Free", [BOARD])).resolves.toBeUndefined()
  })
})
