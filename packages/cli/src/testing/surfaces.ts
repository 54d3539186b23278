import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { serveBackend, type Backend, type createScriptedBackend } from "@toolwright/backends"
import {
  createToolwright,
  startTaskWorker,
  type PlanView,
  type RecordedRun,
  type Toolwright,
  type ToolwrightOptions,
} from "@toolwright/runtime"
import { taskInput, taskView, type TaskView } from "@toolwright/store"
import { expect, onTestFinished, vi } from "vitest"
import { serveToolwright } from "../service/serve-toolwright.ts"
import { userOfTests } from "./run-cli.ts"
import { here } from "./run-here.ts"

/** One way in which work is asked for; what comes of it is judged by the log and by what is on disk. */
export interface Surface {
  /** Makes an agent that owns files. @throws Error with what was said where it is refused */
  own(name: string, files: readonly string[]): Promise<void>
  /** Queues a task, and gives it as it stands once a worker has ended it. */
  task(agent: string, message: string): Promise<TaskView>
  /**
   * Starts a plan, and gives it as it stands when nothing of it is open any more.
   *
   * @param until it is cancelled once this has come
   */
  plan(plan: object, until?: () => Promise<unknown>): Promise<PlanView>
  /** Runs a task to its end, whatever that is. */
  run(task: string, agent: string): Promise<void>
}

/** What a scenario is played with. */
export interface Stage {
  cwd: string
  /** Where runs and tasks are kept. */
  database: string
  model: Backend
  /** As in a configuration file; not the model, nor the database. */
  settings?: Omit<ToolwrightOptions, "cwd" | "env" | "backend" | "runs">
  env?: Record<string, string>
  /** Tasks that are worked on at once. */
  concurrency?: number
}

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/** Steps for a model behind a server: it is told in words alone whether a call succeeded, and the log shows it. */
export function overTheWire(steps: Steps): Steps {
  return steps.map((step) => {
    const { expect, ...rest } = step
    const heard = [expect ?? []].flat().map(({ success: _success, ...others }) => others)
    return heard.length === 0 ? step : { ...rest, expect: heard }
  })
}

interface Prepared extends Stage {
  /** What all three are configured with. */
  whole: Omit<ToolwrightOptions, "cwd" | "env">
  env: Record<string, string>
}

const TOKEN = "a-token-for-tests"
const MOST_MS = 240_000

const OPENED: Readonly<Record<string, (stage: Prepared) => Promise<Surface>>> = {
  "the command": byCommand,
  HTTP: overHttp,
  "a program": fromProgram,
}

/** The names of the ways. */
export const SURFACES = Object.keys(OPENED)

/** Opens one of the ways on a stage, and lets go of it when the test has ended. */
export async function surface(name: string, stage: Stage): Promise<Surface & { record(): Promise<RecordedRun> }> {
  const { model, database, cwd, settings = {} } = stage
  const server = await serveBackend(model)
  onTestFinished(server.close)
  const env = { ...userOfTests(), ...stage.env }
  const whole = {
    ...settings,
    model: { ...settings.model, name: model.modelName(), baseUrl: server.baseUrl },
    runs: { database },
  }
  const opened = await OPENED[name]!({ ...stage, env, whole })
  return {
    ...opened,
    async record() {
      await using reader = await createToolwright({ cwd, env, runs: { database } })
      return await reader.readRun("latest")
    },
  }
}

/** Each thing is a command of its own, as somebody types them one after another. */
async function byCommand({ cwd, env, whole, concurrency = 1 }: Prepared): Promise<Surface> {
  const beside = mkdtempSync(join(tmpdir(), "settings-"))
  onTestFinished(() => rmSync(beside, { recursive: true, force: true }))
  const kept = (name: string, value: object): string => {
    writeFileSync(join(beside, name), JSON.stringify(value))
    return join(beside, name)
  }
  const config = kept("settings.yaml", whole)
  const said = (...args: string[]) => here([...args, "--config", config], { cwd, env })
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await said(...args)
    if (code !== 0) throw new Error(stderr)
    return stdout.trim()
  }
  const atOnce = ["--concurrency", String(concurrency)]
  return {
    async own(name, files) {
      await done("agents", "create", name, ...files.flatMap((file) => ["--file", file]))
    },
    async task(agent, message) {
      const id = await done("tasks", "add", message, "--agent", agent)
      await said("work", "--once", ...atOnce)
      return JSON.parse(await done("tasks", "show", id, "--json")) as TaskView
    },
    async plan(plan, until) {
      const running = said("plan", "run", kept("plan.yaml", plan), ...atOnce)
      if (until !== undefined) {
        await until()
        const { id } = JSON.parse(await done("plan", "show", "--json")) as PlanView
        await done("plan", "cancel", id)
      }
      const ran = await running
      if (!ran.stdout.includes("you may close this terminal")) throw new Error(ran.stderr)
      return JSON.parse(await done("plan", "show", "--json")) as PlanView
    },
    async run(task, agent) {
      await said("run", task, "--agent", agent, "--json")
    },
  }
}

/** What a server and a program have in common: both hold a configured whole, and a worker. */
async function assembled({ cwd, env, whole, concurrency = 1 }: Prepared): Promise<Toolwright> {
  const made = { ...whole, cwd, env, withBuiltins: true }
  const toolwright = await createToolwright(made)
  const worker = await startTaskWorker({ toolwright, made, concurrency, idle: 20 })
  onTestFinished(async () => {
    await worker.drain(0)
    await toolwright.close()
  })
  return toolwright
}

async function overHttp(stage: Prepared): Promise<Surface> {
  const served = await serveToolwright(await assembled(stage), { port: 0, tokens: [{ token: TOKEN }], env: stage.env })
  onTestFinished(() => served.close())
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
  const ask = async (path: string, body?: object): Promise<string> => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
    const answer = await fetch(`${served.url}${path}`, { headers, ...sent })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text
  }
  /** Follows what was made to its end. */
  const followed = async <View>(path: string, body: object, until?: () => Promise<unknown>): Promise<View> => {
    const { id } = JSON.parse(await ask(path, body)) as { id: string }
    if (until !== undefined) {
      await until()
      await ask(`${path}/${id}/cancel`, {})
    }
    await ask(`${path}/${id}/stream`)
    return JSON.parse(await ask(`${path}/${id}`)) as View
  }
  return {
    async own(name, files) {
      await ask("/agents", { name, files })
    },
    task: (agent, message) => followed("/tasks", { agent, input: message }),
    plan: (plan, until) => followed("/plans", { plan }, until),
    async run(task, agent) {
      await followed("/runs", { task, agent })
    },
  }
}

async function fromProgram(stage: Prepared): Promise<Surface> {
  const toolwright = await assembled(stage)
  const until = <Value>(look: () => Promise<Value>, open: (value: Value) => boolean): Promise<Value> =>
    vi.waitFor(
      async () => {
        const value = await look()
        expect(open(value)).toBe(false)
        return value
      },
      { timeout: MOST_MS, interval: 50 },
    )
  return {
    async own(name, files) {
      await toolwright.agents.create({ name, files: [...files] })
    },
    async task(agent, message) {
      const queue = await toolwright.tasks.open()
      const { id } = await queue.add({ agent, input: taskInput({ task: message }) })
      const ended = await until(
        () => queue.find(id),
        ({ ended_at: end }) => end === null,
      )
      return taskView(ended)
    },
    async plan(plan, cancelled) {
      const { id } = await toolwright.plans.start(plan)
      if (cancelled !== undefined) {
        await cancelled()
        await toolwright.plans.cancel(id)
      }
      return until(
        () => toolwright.plans.show(id),
        ({ state }) => state === "open",
      )
    },
    async run(task, agent) {
      for await (const _event of toolwright.run(task, { agent }));
    },
  }
}
