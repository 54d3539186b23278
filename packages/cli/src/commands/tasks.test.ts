import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, onTestFinished, test, vi } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

const model = async (steps: Steps): Promise<string[]> => (await observedModel(steps)).flags

/** A model that also tells what it was asked. */
async function observedModel(steps: Steps) {
  const backend = createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps })
  const server = await serveBackend(backend)
  onTestFinished(server.close)
  return { requests: backend.requests, flags: ["--model", "m", "--base-url", server.baseUrl] }
}

const append = { calls: [{ name: "bash", arguments: { command: "echo line >> log.txt" } }] }
const linesIn = (cwd: string): string => readFileSync(join(cwd, "log.txt"), "utf8")

interface Shown {
  id: string
  state: string
  attempts: number
  reason?: string
  result?: { message: string }
  run?: string
  after?: string[]
  depth: number
}

async function shown(cwd: string, id: string): Promise<Shown> {
  const { stdout } = await here(["tasks", "show", id, "--json"], { cwd })
  return JSON.parse(stdout) as Shown
}

async function added(cwd: string, ...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await here(["tasks", "add", ...args], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return stdout.trim()
}

const untilState = (cwd: string, id: string, state: string) =>
  vi.waitFor(async () => expect((await shown(cwd, id)).state).toBe(state), { timeout: 120_000, interval: 50 })

test("what 'tasks show' says to type names the database that it was asked of", async () => {
  const cwd = folderWith({ "a.txt": "a\n" })
  const named = ["--database", join(cwd, "its tasks.sqlite")]
  const id = await added(cwd, "say so", ...named)
  const play = await model([{ reply: "So." }])
  expect(await here(["work", "--once", ...play, ...named], { cwd })).toMatchObject({ code: 0 })
  const { stdout } = await here(["tasks", "show", id, ...named], { cwd })
  const [, line = ""] = /toolwright (runs show .*)$/m.exec(stdout) ?? []
  const typed = [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, inner]) => inner ?? word)
  expect(typed.slice(3)).toEqual(named)
  expect(await here(typed, { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining("So.") as string })
})

test("a task is added, shown, worked on in its turn, and says what came of it", async () => {
  const cwd = folderWith({ "log.txt": "" })
  expect((await here(["tasks"], { cwd })).stdout).toContain("No tasks are queued in")
  expect((await here(["tasks", "--state", "failed"], { cwd })).stdout).toContain("of that kind")
  const second = await added(cwd, "say so")
  const first = await added(cwd, "add a line", "--priority", "2")
  const third = await added(cwd, "last", "--after", second)
  expect(await shown(cwd, third)).toMatchObject({ state: "waiting", after: [second] })

  const play = await model([
    { expect: { user: "add a line" }, reply: append },
    { reply: "The line is there." },
    { expect: { user: "say so" }, reply: "So." },
    { expect: { user: "last" }, reply: "Over." },
  ])
  const worked = await here(["work", "--once", ...play], { cwd })
  expect(worked).toMatchObject({ code: 0, stderr: "" })
  expect(linesIn(cwd)).toBe("line\n")
  expect(await shown(cwd, first.slice(0, -1))).toMatchObject({
    state: "done",
    attempts: 1,
    result: { message: "The line is there." },
  })
  expect(await shown(cwd, third)).toMatchObject({ state: "done" })
  const runs = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as { runId: string; surface: string }[]
  expect(runs).toHaveLength(3)
  expect(runs.map(({ surface }) => surface)).toEqual(["worker", "worker", "worker"])
  expect(runs.map(({ runId }) => runId)).toContain((await shown(cwd, first)).run)
})

test("a worker that does what waits does not wait for what was put off, and says that it is there", async () => {
  const cwd = folderWith({})
  const [now, later] = [await added(cwd, "now"), await added(cwd, "later", "--in", "3600")]
  const { code, stderr } = await here(["work", "--once", ...(await model([{ reply: "Done." }]))], { cwd })
  expect(code).toBe(0)
  expect(stderr).toContain("Left for later: 1 task")
  expect(await shown(cwd, now)).toMatchObject({ state: "done" })
  expect(await shown(cwd, later)).toMatchObject({ state: "queued", attempts: 0 })
})

test("a task that fails says why, keeps those back that wait for it, and is done at the next try", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const id = await added(cwd, "add a line", "--agent", "builder")
  const later = await added(cwd, "then this", "--after", id)
  const lazy = await model([{ repeat: "always", reply: "I will not." }])
  expect((await here(["work", "--once", ...lazy], { cwd })).code).toBe(1)
  expect(await shown(cwd, id)).toMatchObject({ state: "failed", reason: expect.any(String) as string })
  expect(await shown(cwd, later)).toMatchObject({ state: "blocked" })
  expect((await here(["tasks", "cancel", id], { cwd })).stderr).toContain("has ended")
  expect((await here(["tasks", "retry", id], { cwd })).stdout).toContain("queued")
  expect(await shown(cwd, later)).toMatchObject({ state: "waiting" })
  expect(await shown(cwd, id)).not.toHaveProperty("run")
})

/** Until a task's run has put its second question: the call before it is done and on record by then. */
async function untilAskedAgain(cwd: string, id: string): Promise<void> {
  await vi.waitFor(() => expect(linesIn(cwd)).toBe("line\n"), { timeout: 120_000 })
  await vi.waitFor(
    async () => {
      const { run } = await shown(cwd, id)
      const { stdout } = await here(["runs", "show", run!, "--json"], { cwd })
      expect(stdout.match(/"type":"request"/g)).toHaveLength(2)
    },
    { timeout: 120_000, interval: 100 },
  )
}

test("what a worker left when it was killed, another goes on with; nothing is done twice", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const id = await added(cwd, "add a line")
  const first = await model([{ reply: append }, { reply: { text: "I think", hang: true } }])
  const dying = startCli(["work", "--lease", "1", ...first], { cwd })
  await untilAskedAgain(cwd, id)
  dying.child.kill("SIGKILL")
  await dying.finished
  const { run } = await shown(cwd, id)

  const rest = await model([{ reply: "The line is there." }])
  const heir = startCli(["work", "--lease", "1", ...rest], { cwd })
  await untilState(cwd, id, "done")
  heir.child.kill("SIGTERM")
  await heir.finished
  expect(linesIn(cwd)).toBe("line\n")
  expect(await shown(cwd, id)).toMatchObject({ run, attempts: 2, result: { rounds: 2, calls: 1 } })
})

test("a worker that is told to stop gives back what takes too long, and another goes on with it", async () => {
  const cwd = folderWith({ "log.txt": "" })
  const id = await added(cwd, "add a line")
  const first = await model([{ reply: append }, { reply: { text: "I think", hang: true } }])
  const stopping = startCli(["work", "--drain", "0", ...first], { cwd })
  await untilAskedAgain(cwd, id)
  stopping.child.kill("SIGTERM")
  expect((await stopping.finished).stdout).toContain("given back")
  expect(await shown(cwd, id)).toMatchObject({ state: "queued", attempts: 0 })

  const rest = await model([{ repeat: "always", reply: "The line is there." }])
  expect((await here(["work", "--once", ...rest], { cwd })).code).toBe(0)
  expect(linesIn(cwd)).toBe("line\n")
  expect(await shown(cwd, id)).toMatchObject({ state: "done", attempts: 1, result: { calls: 1 } })
})

test("a task that is cancelled while it is worked on ends its model's request, and its run says so", async () => {
  const cwd = folderWith({})
  const id = await added(cwd, "think")
  const { requests, flags } = await observedModel([{ reply: { text: "I think", hang: true } }, { reply: "Next." }])
  const worker = startCli(["work", "--lease", "1", ...flags], { cwd })
  // A task that is running may not have asked yet, and the next one would be told what this one is to hang by.
  await vi.waitFor(() => expect(requests).toHaveLength(1), { timeout: 120_000 })
  expect(await shown(cwd, id)).toMatchObject({ state: "running" })
  const next = await added(cwd, "next")
  expect((await here(["tasks", "cancel", id], { cwd })).stdout).toContain("cancelled")
  await untilState(cwd, next, "done")
  worker.child.kill("SIGTERM")
  await worker.finished
  expect(await shown(cwd, id)).toMatchObject({ state: "cancelled", reason: "cancelled by a person" })
  const runs = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as { status: string }[]
  expect(runs.map(({ status }) => status)).toEqual(["completed", "cancelled"])
})

test("tasks nest as deep as they may, are one task under one key, and are shown as a tree", async () => {
  const cwd = folderWith({})
  const ids = [await added(cwd, "root")]
  for (let depth = 1; depth <= 3; depth++) ids.push(await added(cwd, `depth ${depth}`, "--parent", ids.at(-1)!))
  expect(await here(["tasks", "add", "too deep", "--parent", ids.at(-1)!], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Maximum nesting depth 3 exceeded") as string,
  })
  const once = await added(cwd, "once", "--key", "k")
  expect(await added(cwd, "once", "--key", "k")).toBe(once)
  const { stdout } = await here(["tasks"], { cwd })
  expect(stdout.split("\n").find((line) => line.includes("depth 3"))).toMatch(/^ {6}t/)
  const { stdout: root } = await here(["tasks", "cancel", ids[0]!], { cwd })
  expect(root).toContain("cancelled")
  for (const id of ids) expect(await shown(cwd, id)).toMatchObject({ state: "cancelled" })
})

test("watching shows each change until all have ended, and its exit code says whether all were done", async () => {
  const cwd = folderWith({})
  const id = await added(cwd, "say so")
  const watch = startCli(["tasks", "watch", id], { cwd })
  await watch.until(/queued/)
  await here(["work", "--once", ...(await model([{ reply: "So." }]))], { cwd })
  const { code, stdout } = await watch.finished
  expect(code).toBe(0)
  expect(stdout).toMatch(/queued[^]*done/)
})

test("the plain list shows what the long way shows, wherever the tasks are, and makes nothing by looking", async () => {
  const cwd = folderWith({ "own/.gitkeep": "", "configured/toolwright.yaml": "runs:\n  database: ../named.sqlite\n" })
  const [own, configured, named] = [join(cwd, "own"), join(cwd, "configured"), join(cwd, "named.sqlite")]
  expect((await here(["tasks"], { cwd: own })).stdout).toContain(`No tasks are queued in ${own}`)
  expect(existsSync(join(own, ".toolwright"))).toBe(false)
  const parent = await added(own, "the first")
  await added(own, "below it", "--parent", parent)
  await added(own, "elsewhere", "--database", named)
  const listed = async (args: string[], at = own) => (await here(["tasks", ...args], { cwd: at })).stdout
  const long = await listed(["list", "--limit", "50"])
  expect(long).toMatch(/the first\n {2}.*below it\n$/)
  expect(await listed([])).toBe(long)
  expect(await listed(["list"])).toBe(long)
  for (const [args, at] of [
    [["list", "--database", "../named.sqlite"], own],
    [["--database", named], cwd],
    [["--trust"], configured],
  ] as const)
    expect(await listed([...args], at)).toMatch(/^\S+ +queued +assistant: elsewhere\n$/)
  expect((await here(["tasks", "list", "--database"], { cwd: own })).code).toBe(2)
})

test("the plain list loads a part of what the others need", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { registerHooks } from "node:module"
     const loaded = []
     registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
     process.argv = [process.argv[0], "toolwright", "tasks"]
     process.on("exit", () => console.error(loaded.length, loaded.filter((url) => /queue|run-log|configuration/.test(url))))
     await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "../main.ts")).href)})`,
    ],
    { cwd: folderWith({}), env: { ...process.env, NODE_OPTIONS: "--conditions=toolwright-source" } },
  )
  expect(stdout).toContain("No tasks are queued")
  expect(stderr).toMatch(/^\d+ \[\]\n$/)
})

test.each([
  [["tasks", "add"], "What is to be done?"],
  [["tasks", "add", "x", "--agent", "bilder"], "Did you mean 'builder'?"],
  [["tasks", "add", "x", "--priority", "high"], "--priority must be a whole number"],
  [["tasks", "show", "t0"], "There is no task 't0'."],
  [["tasks", "show"], "There is no task yet."],
  [["tasks", "cancel"], "Give its id, or 'latest'"],
  [["tasks", "list", "--state", "ready"], "No task is ever 'ready'."],
  [["tasks", "begin"], "'tasks begin' is not known."],
  [["work", "--concurrency", "0"], "--concurrency must be a number from 1"],
])("%j says what is wrong", async (args, message) => {
  const cwd = folderWith({})
  const { code, stderr } = await here(args, { cwd })
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test("the latest of tasks, runs and plans is shown alike: by that word, and where none is named", async () => {
  const plan = "name: one\ntasks:\n  first: { agent: assistant, task: say it }\n"
  const cwd = folderWith({ "plan.yaml": plan, "play.yaml": "steps:\n  - reply: Said.\n" })
  const shown = async (...args: string[]) => (await here(args, { cwd })).stdout
  await here(["tasks", "add", "an older one"], { cwd })
  await here(["plan", "run", "plan.yaml", "--screenplay", "play.yaml"], { cwd })
  for (const [what, of] of [
    ["tasks", /^one-\w+\.first\b/],
    ["runs", /say it/],
    ["plan", /^one-\w+ /],
  ] as const) {
    expect(await shown(what, "show")).toMatch(of)
    expect(await shown(what, "show", "latest")).toBe(await shown(what, "show"))
  }
})

test("a plan's task is found by the plan's name, and ids of any length stand in one column", async () => {
  const task = (agent: string, after = "") => `{ agent: ${agent}, task: do it${after} }`
  const plan = `name: cookbook\ntasks:\n  write: ${task("assistant")}\n  write-more: ${task("builder", ", after: [write]")}\n`
  const cwd = folderWith({ "plan.yaml": plan })
  expect((await here(["plan", "run", "plan.yaml", "--queue"], { cwd })).code).toBe(0)
  const { stdout } = await here(["tasks"], { cwd })
  const columns = stdout.trimEnd().split("\n")
  expect(new Set(columns.map((line) => /(?:queued|waiting)/.exec(line)!.index)).size, stdout).toBe(1)
  const cancelled = await here(["tasks", "cancel", "cookbook.write-more"], { cwd })
  expect(cancelled.stdout).toMatch(/^cookbook-\w+\.write-more +cancelled/)
  expect(await shown(cwd, "cookbook.write")).toMatchObject({ state: "queued" })
  const other = await here(["tasks", "show", "cook_ook.write"], { cwd })
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no task") as string })
  expect((await here(["plan", "run", "plan.yaml", "--queue"], { cwd })).code).toBe(0)
  const several = await here(["tasks", "show", "cookbook.write"], { cwd })
  expect(several.stderr).toContain("Several tasks begin with 'cookbook.write'.")
})

test("an agent that owns files is not taken on without one", async () => {
  const { code, stderr } = await here(["tasks", "add", "x", "--agent", "file-owner"], { cwd: folderWith({}) })
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("which file it owns") as string })
})

test("a task that needs a permission waits without a worker, and goes on when it is answered", async () => {
  const cwd = folderWith({ "log.txt": "" })
  // Where nothing is said of waiting, it is refused.
  await added(cwd, "add a line")
  const none = await model([{ reply: append }, { expect: { last: "needs approval" }, reply: "It was refused." }])
  await here(["work", "--once", "--careful", ...none], { cwd })
  expect([linesIn(cwd), (await here(["approvals", "list", "--json"], { cwd })).stdout.trim()]).toEqual(["", "[]"])
  const id = await added(cwd, "add a line")
  const ask = ["--approvals", "wait", "--careful"]
  const first = await model([{ reply: append }])
  await here(["work", "--once", ...ask, ...first], { cwd })
  expect(await shown(cwd, id)).toMatchObject({ state: "needs-approval" })
  expect(linesIn(cwd)).toBe("")
  const { stdout } = await here(["approvals", "list", "--json"], { cwd })
  const [asked] = JSON.parse(stdout) as { id: string }[]
  expect((await here(["approvals", "allow", asked!.id], { cwd })).code).toBe(0)
  expect((await shown(cwd, id)).state).toBe("queued")
  const second = await model([{ reply: "The line is there." }])
  expect((await here(["work", "--once", ...ask, ...second], { cwd })).code).toBe(0)
  expect(await shown(cwd, id)).toMatchObject({ state: "done", result: { message: "The line is there." } })
  expect(linesIn(cwd)).toBe("line\n")
})
