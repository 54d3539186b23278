import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, loadScreenplay, type Backend } from "@toolwright/backends"
import { isPostgres, openDatabase, runLog } from "@toolwright/store"
import type { RunSummary } from "@toolwright/toolbox"
import { expect, onTestFinished, test, vi } from "vitest"
import { modelByAgent } from "../../../runtime/src/testing/by-agent.ts"
import { PYCHESS_FILES, PYCHESS_PLAN, PYCHESS_PROJECT, PYCHESS_SCRIPTS } from "../../../runtime/src/testing/pychess.ts"
import { PYTHON_FIBONACCI_TESTS, repositoryWith } from "../../../runtime/src/testing/repository.ts"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { folderWith } from "../testing/run-cli.ts"
import { overTheWire, SURFACES, surface } from "../testing/surfaces.ts"

const SCREENPLAY = join(import.meta.dirname, "../../../runtime/src/scenarios/fixtures/fibonacci-python.yaml")

const { TOOLWRIGHT_WHOLE: WHOLE } = process.env

const FIBONACCI = {
  "tests/__init__.py": "",
  "tests/test_fibonacci.py": PYTHON_FIBONACCI_TESTS,
  ".gitignore": "__pycache__/\n.toolwright/\n",
}

function project(files: Readonly<Record<string, string>>) {
  const repo = repositoryWith(files)
  onTestFinished(() => repo[Symbol.dispose]())
  return repo
}

onBothDatabases("the owner of fibonacci.py", (address) => {
  test.for(SURFACES)(
    "asked over %s fails its check, is refused the commit, corrects, and commits",
    async (name, { skip }) => {
      const database = address()
      // Python's checks cost most of it: in PostgreSQL one surface stands for all.
      const stands = !isPostgres(database) || name === "the command"
      skip(WHOLE === undefined && !stands, "TOOLWRIGHT_WHOLE=1 plays it on this surface too")
      const repo = project(FIBONACCI)
      const play = await loadScreenplay(SCREENPLAY)
      const model = createScriptedBackend({ ...play, steps: overTheWire(play.steps) })
      const asked = await surface(name, { cwd: repo.path, database, model })
      await asked.own("FibonacciAgent", ["fibonacci.py"])
      await expect(asked.own("Second", ["fibonacci.py"])).rejects.toThrow("owned by 'FibonacciAgent'")

      const task = await asked.task("FibonacciAgent", "Create fibonacci function with proper error handling")
      expect(task).toMatchObject({ state: "done", depth: 0, attempts: 1 })
      expect(task.result).toMatchObject({ success: true, message: "The file was written, checked and committed." })
      expect(model.remaining).toBe(0)

      const source = readFileSync(join(repo.path, "fibonacci.py"), "utf8")
      expect(source.match(/def fibonacci\(n: int\) -> int:/g)).toHaveLength(1)
      execFileSync("python3", ["-m", "py_compile", "fibonacci.py"], { cwd: repo.path })
      expect(existsSync(join(repo.path, ".meta/fibonacci.py.json"))).toBe(true)
      expect(repo.git("log", "--format=%s")).toBe("Add fibonacci implementation\nBegin")
      expect(repo.git("status", "--porcelain")).toBe("")

      const { head, events } = await asked.record()
      expect(head).toMatchObject({ runId: task.run, agent: "FibonacciAgent" })
      const ends = events.filter(({ type }) => type === "tool-end")
      expect(ends.map(({ name: tool, result }) => [tool, (result as { success: boolean }).success])).toEqual([
        ["workspace", true],
        ["validation", false],
        ["git_operations", false],
        ["workspace", true],
        ["validation", true],
        ["git_operations", true],
      ])
      for (const { result } of ends) expect(result).toHaveProperty("executionTimeMs")
      const { summary } = events.at(-1) as unknown as { summary: RunSummary }
      expect(summary).toMatchObject({ calls: 6, failedCalls: 2, correctedFailures: 2 })
      expect(summary.times.overheadMs).toBeLessThan(500)
    },
  )

  test.each(SURFACES)("asked over %s fails when its model only talks, and writes nothing", async (name) => {
    const repo = project(FIBONACCI)
    const model = createScriptedBackend({
      model: "qwen2.5-7b-instruct",
      abilities: { nativeTools: true },
      steps: [{ reply: "One could write a function.", repeat: "always" }],
    })
    const asked = await surface(name, { cwd: repo.path, database: address(), model })
    await asked.own("FibonacciAgent", ["fibonacci.py"])
    const task = await asked.task("FibonacciAgent", "Create fibonacci function")
    expect(task.state).toBe("failed")
    expect(task.reason).toContain("LLM did not use tools as expected")
    expect(repo.git("status", "--porcelain")).toBe("")
    expect((await asked.record()).events.filter(({ type }) => type === "tool-start")).toEqual([])
  })
})

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/** A model that plays one screenplay for each task, told apart by the first word of the task. */
function modelByTask(scripts: Readonly<Record<string, Steps>>): Backend {
  const plays = new Map(
    Object.entries(scripts).map(([task, steps]) => [
      task,
      createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps: overTheWire(steps) }),
    ]),
  )
  const [any] = plays.values()
  return {
    kind: "scripted",
    abilities: any!.abilities,
    modelName: () => any!.modelName(),
    async *infer(request, options) {
      const task = String(request.messages.find(({ role }) => role === "user")?.content).split(/\s/)[0]!
      yield* plays.get(task)!.infer(request, options)
    },
  }
}

const LEVELS = ["zero", "one", "two", "three"]

/** Each level asks the next one; the one at the depth that is allowed hears so, and ends well. */
const down = (most: number): Readonly<Record<string, Steps>> =>
  Object.fromEntries(
    LEVELS.slice(0, most + 1).map((level, at) => [
      level,
      [
        { reply: { calls: [{ name: "ask_lead", arguments: { task: `${LEVELS[at + 1] ?? "four"} begins` } }] } },
        {
          expect: { result: at === most ? `Maximum nesting depth ${most} exceeded` : `${LEVELS[at + 1]} is done` },
          reply: `${level} is done`,
        },
      ],
    ]),
  )

onBothDatabases("an agent that asks itself", (address) => {
  const ways = SURFACES.flatMap((way) => [1, 3].map((most) => [way, most] as const))
  test.each(ways)(
    "over %s gets %i deep and no deeper: the one below is a failed call, and all end well",
    async (way, most) => {
      const database = address()
      const asked = await surface(way, {
        cwd: folderWith(),
        database,
        model: modelByTask(down(most)),
        settings: {
          agent: { maxNestingDepth: most },
          agents: { define: { lead: { prompt: "You lead.", tools: { only: ["file_read"], agents: ["lead"] } } } },
        },
      })
      const task = await asked.task("lead", "zero begins")
      // A call of its run failed, and that is told; it ended, and so did everyone below.
      expect(task).toMatchObject({ depth: 0, result: { message: "zero is done" } })
      const log = runLog(await openDatabase(database))
      try {
        const runs = await log.list({})
        const below = runs.map(({ depth, title, state }) => [depth, title, state]).toSorted()
        expect(below).toEqual(LEVELS.slice(0, most + 1).map((level, depth) => [depth, `${level} begins`, "ended"]))
      } finally {
        await log.database.close()
      }
    },
  )
})

const { AI, BOARD, ENGINE, GUI } = PYCHESS_FILES

onBothDatabases("a chess game by six agents", (address) => {
  test.for(SURFACES)("asked for over %s is built, tested and committed", async (way, { skip }) => {
    const database = address()
    skip(WHOLE === undefined, "TOOLWRIGHT_WHOLE=1 plays it on each surface and database")
    const repo = project(PYCHESS_PROJECT)
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
    const asked = await surface(way, { cwd: project(PYCHESS_PROJECT).path, database: address(), model })
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
    const asked = await surface(way, { cwd: project(PYCHESS_PROJECT).path, database: address(), model, concurrency: 2 })
    const { ai, gui, tests } = PYCHESS_PLAN.tasks
    const tasks = { ai: { ...ai, after: [] }, gui: { ...gui, after: [] }, tests: { ...tests, after: ["ai", "gui"] } }
    const both = () => vi.waitFor(() => expect([...model.open].toSorted()).toEqual([AI, GUI]))
    const plan = await asked.plan({ ...PYCHESS_PLAN, tasks }, both)
    expect(plan.steps.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled"])
    await vi.waitFor(() => expect([...model.open]).toEqual([]))
  })

  test.each(SURFACES)("asked for over %s as a circle is refused before anything is made", async (way) => {
    const model = modelByAgent({ [BOARD]: [] })
    const asked = await surface(way, { cwd: project(PYCHESS_PROJECT).path, database: address(), model })
    const { board, engine } = PYCHESS_PLAN.tasks
    const tasks = { board: { ...board, after: ["engine"] }, engine: { ...engine, after: ["board"] } }
    await expect(asked.plan({ ...PYCHESS_PLAN, tasks })).rejects.toThrow("board → engine → board")
    await expect(asked.own("Free", [BOARD])).resolves.toBeUndefined()
  })
})
