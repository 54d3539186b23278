import { setTimeout as sleep } from "node:timers/promises"
import type { Context, Hono } from "hono"
import {
  ENDED_STATES,
  inputOf,
  TASK_STATES,
  taskView,
  type NewTask,
  type TaskFilter,
  type TaskQueue,
  type TaskRow,
  type TaskView,
} from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"
import { readJson, type BodyLimits } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import { refuseChanges } from "../http/without-token.ts"
import { answered } from "../http/answered.ts"
import type { Followers, Telling } from "../http/followers.ts"
import { problem } from "../http/problem.ts"
import type { TaskSource } from "../http/sources.ts"
import { newTaskIn } from "./body.ts"

type Routes = Hono<{ Variables: RequestVariables }>
type Request = Context<{ Variables: RequestVariables }>

const MOST_TASKS = 500
/** How often a task that is followed is looked at. */
const LOOK_MS = 300

/**
 * Tasks for workers: `POST /tasks` queues one, `GET /tasks` lists them newest first, `GET /tasks/stats` counts them by
 * state, `GET /tasks/{id}` is one with what came of it, `GET /tasks/{id}/stream` each change until it has ended,
 * `POST /tasks/{id}/cancel` and `/retry` change one. What changes something needs a token, since agents do what the
 * server's tools can.
 */
export function taskRoutes(
  app: Routes,
  source: TaskSource,
  { limits, secured, followers }: { limits: BodyLimits; secured: boolean; followers: Followers },
): void {
  app.get("/tasks", (context) => answered(() => listTasks(context, source)))
  app.get("/tasks/stats", async (context) => context.json({ tasks: (await (await source.look())?.counts()) ?? {} }))
  app.get("/tasks/:id", (context) => answered(async () => context.json(await oneTask(context, source))))
  app.get("/tasks/:id/stream", (context) => answered(() => followTask(context, source, followers)))
  if (!secured) {
    refuseChanges(app, "/tasks", { what: "Tasks are queued and changed", command: "toolwright tasks" })
    return
  }
  app.post("/tasks", async (context) => {
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    return answered(async () => {
      const caller = context.get("caller")
      const task = await newTaskIn(body.value, source)
      const key = context.req.header("idempotency-key")?.slice(0, 255) ?? task.idempotencyKey
      const queue = await source.open()
      const row = await queue.add(key === undefined ? task : { ...task, idempotencyKey: keyOf(caller, key) })
      if (!isOf(row, task)) return problem(KEY_REUSED)
      return context.json(await viewOf({ queue, source, caller }, row), 201, { location: `/tasks/${row.id}` })
    })
  })
  const change = (how: "cancel" | "retry") => (context: Request) =>
    answered(async () => {
      const queue = await queueOf(source)
      const row = await queue[how](context.req.param("id")!)
      return context.json(await viewOf({ queue, source, caller: context.get("caller") }, row))
    })
  app.post("/tasks/:id/cancel", change("cancel"))
  app.post("/tasks/:id/retry", change("retry"))
}

/** @throws ToolwrightError `UNKNOWN_TASK` where nothing was ever queued */
async function queueOf(source: TaskSource): Promise<TaskQueue> {
  const queue = await source.look()
  if (queue === undefined) throw new ToolwrightError("UNKNOWN_TASK", "There is no task yet.")
  return queue
}

async function listTasks(context: Request, source: TaskSource): Promise<Response> {
  const queue = await source.look()
  if (queue === undefined) return context.json({ tasks: [] })
  const rows = await queue.list(filterOf(context.req.query()))
  const after = await queue.dependencies(rows.map(({ id }) => id))
  const asked = { source, caller: context.get("caller") }
  return context.json({ tasks: rows.map((row) => shownTo(asked, row, after.get(row.id))) })
}

function filterOf({ state, agent, plan, parent, limit, offset }: Record<string, string>): TaskFilter {
  const known = TASK_STATES.find((each) => each === state)
  if (state !== undefined && known === undefined) {
    throw new ToolwrightError("INVALID_ARGUMENTS", `No task is ever '${state.slice(0, 100)}'.`, {
      hint: `The states are ${TASK_STATES.join(", ")}.`,
    })
  }
  const whole = (given: string | undefined, fallback: number, most: number): number =>
    Math.min(most, Math.max(0, Math.trunc(Number(given ?? fallback)) || 0))
  return {
    limit: whole(limit, 50, MOST_TASKS),
    offset: whole(offset, 0, Number.MAX_SAFE_INTEGER),
    ...(agent === undefined ? {} : { agent }),
    ...(plan === undefined ? {} : { plan }),
    ...(parent === undefined ? {} : { parent }),
    ...(known === undefined ? {} : { state: known }),
  }
}

/** Whom a task is shown to, and by whose rules. */
interface Asked {
  readonly source: TaskSource
  readonly caller: string
}

function shownTo({ source, caller }: Asked, row: TaskRow, after: readonly string[] | undefined): TaskView {
  return withOwnKey(taskView(source.shown?.(row) ?? row, after), caller)
}

async function viewOf({ queue, ...asked }: Asked & { queue: TaskQueue }, row: TaskRow): Promise<TaskView> {
  return shownTo(asked, row, (await queue.dependencies([row.id])).get(row.id))
}

/** Keys of different callers are not the same: nobody is given another's task for a key that both thought of. */
const keyOf = (caller: string, key: string): string => `http/${caller}/${key}`

/** A caller sees its own keys as it gave them, and those of other callers not at all. */
function withOwnKey({ idempotencyKey, ...view }: TaskView, caller: string): TaskView {
  const own = keyOf(caller, "")
  if (idempotencyKey === undefined || idempotencyKey.startsWith(own))
    return idempotencyKey === undefined ? view : { ...view, idempotencyKey: idempotencyKey.slice(own.length) }
  return idempotencyKey.startsWith("http/") ? view : { ...view, idempotencyKey }
}

/** Whether a row is what was asked for now, and not what its key was used for before. */
function isOf(row: TaskRow, { agent, input, workspace }: NewTask): boolean {
  const same = JSON.stringify(inputOf(row)) === JSON.stringify(input)
  return same && row.agent === agent && (row.workspace ?? undefined) === workspace
}

const KEY_REUSED = {
  code: "IDEMPOTENCY_KEY_REUSED",
  message: "This Idempotency-Key was used for another task.",
} as const

async function oneTask(context: Request, source: TaskSource): Promise<TaskView> {
  const queue = await queueOf(source)
  return viewOf({ queue, source, caller: context.get("caller") }, await queue.find(context.req.param("id")!))
}

/** The task as it stands and then each change, numbered by its time, so that who comes again misses nothing. */
async function followTask(context: Request, source: TaskSource, followers: Followers): Promise<Response> {
  const queue = await queueOf(source)
  const { id } = await queue.find(context.req.param("id")!)
  let seen = context.req.header("last-event-id") ?? ""
  const asked = { queue, source, caller: context.get("caller") }
  return followers.follow(context, async ({ event, left }: Telling) => {
    while (!left.aborted) {
      const row = await queue.get(id)
      if (row === undefined) return
      const now = `${row.updated_at}-${row.state}`
      if (now !== seen) await event({ id: now, event: "task", data: JSON.stringify(await viewOf(asked, row)) })
      seen = now
      if (ENDED_STATES.includes(row.state)) return
      await sleep(LOOK_MS, undefined, { signal: left }).catch(() => {})
    }
  })
}
