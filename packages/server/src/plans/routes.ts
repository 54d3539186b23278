import { setTimeout as sleep } from "node:timers/promises"
import type { Context, Hono } from "hono"
import { ToolwrightError } from "@toolwright/toolbox"
import { answered } from "../http/answered.ts"
import { readJson, type BodyLimits } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import { refuseChanges } from "../http/without-token.ts"
import type { Followers } from "../http/followers.ts"
import type { PlanSource } from "../http/sources.ts"

type Request = Context<{ Variables: RequestVariables }>

/** How often a plan that is followed is looked at. */
const LOOK_MS = 300

/**
 * Plans: `POST /plans` with `{ plan, inputs, worktree }` starts one, `POST /plans/check` says what it would do, `GET
 * /plans` lists them, `GET /plans/{id}` is one with its tasks, `GET /plans/{id}/stream` each change until all have
 * ended, `POST /plans/{id}/cancel` and `/retry` change one. What changes something needs a token.
 */
export function planRoutes(
  app: Hono<{ Variables: RequestVariables }>,
  source: PlanSource,
  { limits, secured, followers }: { limits: BodyLimits; secured: boolean; followers: Followers },
): void {
  app.get("/plans", (context) => answered(async () => context.json({ plans: await source.list() })))
  app.get("/plans/:id", (context) => answered(async () => context.json(await source.show(context.req.param("id")))))
  app.get("/plans/:id/stream", (context) => answered(() => followPlan(context, source, followers)))
  app.post("/plans/check", async (context) => {
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    return answered(async () => context.json({ ...(await source.check(...planAsked(body.value))) }))
  })
  if (!secured) {
    refuseChanges(app, "/plans", { what: "Plans are started and changed", command: "toolwright plan" })
    return
  }
  app.post("/plans", async (context) => {
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    return answered(async () => {
      const started = await source.start(...planAsked(body.value))
      return context.json(started, 201, { location: `/plans/${started.id}` })
    })
  })
  const change = (how: "cancel" | "retry") => (context: Request) =>
    answered(async () => context.json(await source[how](context.req.param("id")!)))
  app.post("/plans/:id/cancel", change("cancel"))
  app.post("/plans/:id/retry", change("retry"))
}

/** @throws ToolwrightError `INVALID_PLAN` */
function planAsked(body: unknown): [plan: unknown, inputs: Record<string, string>, origin: { worktree?: boolean }] {
  const {
    plan,
    inputs = {},
    worktree = false,
    ...other
  } = (typeof body === "object" && body !== null ? body : {}) as {
    plan?: unknown
    inputs?: unknown
    worktree?: unknown
  }
  const said =
    typeof inputs === "object" && inputs !== null && Object.values(inputs).every((each) => typeof each === "string")
  if (plan !== undefined && said && typeof worktree === "boolean" && Object.keys(other).length === 0)
    return [plan, inputs as Record<string, string>, worktree ? { worktree } : {}]
  throw new ToolwrightError(
    "INVALID_PLAN",
    "The body has a 'plan', and perhaps 'inputs' that are texts and 'worktree' that is true or false, and " +
      "nothing else.",
    {
      hint: 'As in { "plan": { "name": "p", "tasks": { "look": { "agent": "reviewer", "task": "…" } } } }.',
    },
  )
}

/** The plan as it stands and then each change, numbered, so that who comes again misses nothing. */
async function followPlan(context: Request, source: PlanSource, followers: Followers): Promise<Response> {
  const { id } = await source.show(context.req.param("id")!)
  let seen = context.req.header("last-event-id") ?? ""
  return followers.follow(context, async ({ event, left }) => {
    while (!left.aborted) {
      const view = await source.show(id)
      const now = view.steps.map(({ state, attempts }) => `${state[0]}${attempts}`).join("")
      if (now !== seen) await event({ id: now, event: "plan", data: JSON.stringify(view) })
      seen = now
      if (view.state !== "open") return
      await sleep(LOOK_MS, undefined, { signal: left }).catch(() => {})
    }
  })
}
