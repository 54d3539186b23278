import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import { createToolwright, startTaskWorker } from "@toolwright/runtime"
import type { TaskView } from "@toolwright/store"
import { expect, onTestFinished, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { serveToolwright } from "./serve-toolwright.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]
const TOKEN = "long-enough"

/** A server and a worker on one folder; only the server where no steps are given. */
async function served({
  steps,
  tokens = [{ token: TOKEN }],
}: {
  steps?: Steps
  tokens?: { token: string; tags?: string[] }[]
}) {
  const cwd = folderWith({ "log.txt": "" })
  const backend = createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps: steps ?? [] })
  const made = { cwd, withBuiltins: true, backend }
  const toolwright = await createToolwright(made)
  const server = await serveToolwright(toolwright, { port: 0, tokens })
  onTestFinished(async () => {
    await server.close()
    await toolwright.close()
  })
  if (steps !== undefined) {
    const worker = await startTaskWorker({ toolwright, made, idle: 20 })
    onTestFinished(() => worker.drain(0))
  }
  const ask = async (path: string, { body, token = TOKEN, headers = {} }: Asked = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = text.startsWith("{") ? (JSON.parse(text) as Answer) : ({} as Answer)
    return { status: response.status, text, json }
  }
  return { cwd, ask }
}

interface Asked {
  body?: unknown
  token?: string
  headers?: Record<string, string>
}
type Answer = TaskView & { tasks: TaskView[]; error: { code: string; message: string }; agents: { name: string }[] }

test("a client finds an agent, queues a task, follows it to its end, and reads what came of it", async () => {
  const { cwd, ask } = await served({
    steps: [
      { reply: { calls: [{ name: "bash", arguments: { command: "echo line >> log.txt" } }] } },
      { reply: "The line is there." },
    ],
  })
  expect((await ask("/agents")).json.agents.map(({ name }) => name)).toEqual(expect.arrayContaining(["builder"]))
  const body = { agent: "assistant", input: { task: "add a line" }, budget: { rounds: 5 } }
  const { status, json: queued } = await ask("/tasks", { body, headers: { "idempotency-key": "k1" } })
  expect({ status, depth: queued.depth }).toEqual({ status: 201, depth: 0 })
  expect((await ask("/tasks", { body, headers: { "idempotency-key": "k1" } })).json.id).toBe(queued.id)

  const { text } = await ask(`/tasks/${queued.id}/stream`)
  const told = text
    .split("\n")
    .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as TaskView] : []))
  expect(told.at(-1)).toMatchObject({ state: "done", result: { message: "The line is there." } })
  expect(readFileSync(join(cwd, "log.txt"), "utf8")).toBe("line\n")
  const last = text
    .split("\n")
    .findLast((line) => line.startsWith("id: "))!
    .slice(4)
  expect((await ask(`/tasks/${queued.id}/stream`, { headers: { "last-event-id": last } })).text).toBe("")
  expect((await ask(`/tasks/${queued.id}`)).json).toMatchObject({ state: "done", attempts: 1, budget: { rounds: 5 } })
  expect((await ask("/tasks?state=done")).json.tasks).toHaveLength(1)
  expect((await ask("/tasks/stats")).json.tasks).toEqual({ done: 1 })
  const { run } = (await ask(`/tasks/${queued.id}`)).json
  expect((await ask(`/runs/${run}`)).json).toMatchObject({ surface: "worker" })
})

test("a key is its caller's: nobody is given another's task for one that both thought of", async () => {
  const { ask } = await served({ tokens: [{ token: TOKEN }, { token: "another-one" }] })
  const headers = { "idempotency-key": "k" }
  const mine = (await ask("/tasks", { body: { input: "mine" }, headers })).json
  const theirs = (await ask("/tasks", { body: { input: "theirs" }, headers, token: "another-one" })).json
  expect([mine.id === theirs.id, mine.idempotencyKey, theirs.idempotencyKey]).toEqual([false, "k", "k"])
  expect((await ask("/tasks", { body: { input: "mine", idempotencyKey: "k" } })).json.id).toBe(mine.id)
  const reused = await ask("/tasks", { body: { input: "mine, and more" }, headers })
  expect([reused.status, reused.json.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"])
  const keys = (await ask("/tasks")).json.tasks.map(({ id, idempotencyKey }) => [id === mine.id, idempotencyKey])
  expect(keys.toSorted()).toEqual([
    [false, undefined],
    [true, "k"],
  ])
})

test("a task over HTTP is for the folder that is served, or one below it", async () => {
  const { cwd, ask } = await served({})
  mkdirSync(join(cwd, "below"))
  symlinkSync(tmpdir(), join(cwd, "out"))
  for (const workspace of [tmpdir(), "..", "/", "/etc", "below/../..", "out", "out/x", `${cwd}x`]) {
    const refused = await ask("/tasks", { body: { input: "x", workspace } })
    expect([workspace, refused.status, refused.json.error?.code]).toEqual([workspace, 422, "INVALID_TASK"])
  }
  for (const workspace of [".", "below", cwd])
    expect((await ask("/tasks", { body: { input: "x", workspace } })).status).toBe(201)
  expect((await ask("/tasks/stats")).json.tasks).toEqual({ queued: 3 })
})

test("tasks wait for each other, nest as deep as they may, and are cancelled and tried again", async () => {
  const { ask } = await served({})
  const add = async (more: object) => (await ask("/tasks", { body: { input: "x", ...more } })).json
  const root = await add({})
  const child = await add({ parent: root.id })
  const grandchild = await add({ parent: child.id })
  const deepest = await add({ parent: grandchild.id })
  expect(deepest.depth).toBe(3)
  const deeper = await ask("/tasks", { body: { input: "x", parent: deepest.id } })
  expect(deeper).toMatchObject({ status: 422, json: { error: { message: "Maximum nesting depth 3 exceeded" } } })
  const later = await add({ after: [root.id] })
  expect(later).toMatchObject({ state: "waiting", after: [root.id] })
  expect((await ask(`/tasks/${root.id}/cancel`, { body: {} })).json.state).toBe("cancelled")
  expect((await ask(`/tasks/${deepest.id}`)).json.state).toBe("cancelled")
  expect((await ask(`/tasks/${later.id}`)).json.state).toBe("blocked")
  expect((await ask(`/tasks/${root.id}/cancel`, { body: {} })).status).toBe(200)
  expect((await ask(`/tasks/${root.id}/retry`, { body: {} })).json.state).toBe("queued")
  expect((await ask(`/tasks/${root.id}/retry`, { body: {} })).status).toBe(409)
})

test.each([
  [{}, "A task's input says"],
  [{ input: "x", agent: "nobody" }, "There is no agent 'nobody'"],
  [{ input: "x", agent: "file-owner" }, "which file it owns"],
  [{ input: "x", priority: 1.5 }, "'priority' must be a whole number"],
  [{ input: "x", notBefore: "soon" }, "'notBefore' must be a time"],
  [{ input: "x", budget: { money: 0 } }, "'budget.money' must be a number above 0"],
  [{ input: "x", budget: { dollars: 1 } }, "'budget.dollars' is no limit"],
  [{ input: "x", prioritty: 1 }, "'prioritty' is no field of a task"],
  [{ input: "x", after: ["t0"] }, "There is no task 't0'"],
  [["x"], "The body must be an object"],
])("POST /tasks with %j says what is wrong", async (body, message) => {
  const { ask } = await served({})
  const { status, json } = await ask("/tasks", { body })
  expect(json.error.message).toContain(message)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(status).toBeLessThan(500)
  expect((await ask("/tasks")).json.tasks).toEqual([])
})

test("without a token nobody queues a task, and a token for some tools opens none", async () => {
  const open = await served({ tokens: [] })
  expect(await open.ask("/tasks", { body: { input: "x" } })).toMatchObject({
    status: 401,
    json: { error: { code: "TOKEN_REQUIRED" } },
  })
  expect((await open.ask("/tasks")).json.tasks).toEqual([])
  for (const path of ["/agents", "/plans"]) expect((await open.ask(path, { body: {} })).status).toBe(401)
  const reading = { "/tasks": ["GET"], "/agents": ["GET"], "/plans": ["GET"] }
  expect(await open.ask("/")).toMatchObject({ json: { routes: reading } })
  const narrow = await served({ tokens: [{ token: TOKEN, tags: ["git"] }] })
  for (const asked of [{}, { body: { input: "x" } }]) expect((await narrow.ask("/tasks", asked)).status).toBe(403)
  expect((await narrow.ask("/tasks/t1")).status).toBe(403)
  expect((await narrow.ask("/tasks", { token: "another-one" })).status).toBe(401)
})
