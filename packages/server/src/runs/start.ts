import type { Hono } from "hono"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { readJson, type BodyLimits } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import { problem } from "../http/problem.ts"
import type { RunStarter } from "../http/sources.ts"

/**
 * `POST /runs` with `{ agent, task }` starts a run, `POST /runs/{id}/branch` with `{ seq, edit }` one that goes on from
 * there, `POST /runs/{id}/resume` goes on with one that waits or was interrupted, `POST /runs/{id}/undo` takes back
 * what it changed, `POST /runs/{id}/stop` ends one that was started here, `GET /runs/agents` says who can be asked.
 */
export function startRoutes(
  routes: Hono<{ Variables: RequestVariables }>,
  starter: RunStarter,
  limits: BodyLimits,
): void {
  const narrow = (access: RequestVariables["access"]): Response | undefined =>
    access?.tags === undefined
      ? undefined
      : problem({
          code: "TOKEN_TOO_NARROW",
          message: "A token for some tags starts no runs: an agent has other tools too.",
          hint: "Use a token without tags.",
        })

  routes.get("/agents", async (context) => narrow(context.get("access")) ?? Response.json(await starter.agents()))

  routes.post("/", async (context) => {
    const refused = narrow(context.get("access"))
    if (refused !== undefined) return refused
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    const { agent = "assistant", task } = (body.value ?? {}) as { agent?: unknown; task?: unknown }
    if (typeof task !== "string" || task.trim() === "" || typeof agent !== "string")
      return problem({ code: "INVALID_ARGUMENTS", message: "'task' must be a text that is not empty." })
    return started(() => starter.start({ agent, task }))
  })

  routes.post("/:id/branch", async (context) => {
    const refused = narrow(context.get("access"))
    if (refused !== undefined) return refused
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    const { seq, edit } = (body.value ?? {}) as { seq?: unknown; edit?: unknown }
    if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 1)
      return problem({ code: "INVALID_ARGUMENTS", message: "'seq' must be the number of an event." })
    if (edit !== undefined && typeof edit !== "string")
      return problem({ code: "INVALID_ARGUMENTS", message: "'edit' must be the text of a result." })
    return started(() => starter.branch(context.req.param("id"), seq, edit))
  })

  routes.post("/:id/resume", (context) => {
    const refused = narrow(context.get("access"))
    return refused ?? started(() => starter.resume(context.req.param("id")))
  })

  routes.post("/:id/undo", (context) => {
    const { access, caller } = context.var
    return narrow(access) ?? takenBack(starter, context.req.param("id"), caller)
  })

  routes.post("/:id/stop", (context) => {
    const refused = narrow(context.get("access"))
    if (refused !== undefined) return refused
    if (starter.stop(context.req.param("id"))) return context.json({ stopped: true })
    return problem({ code: "UNKNOWN_RUN", message: "No such run was started here, or it has ended." })
  })
}

async function started(begin: () => Promise<string>): Promise<Response> {
  try {
    return Response.json({ id: await begin() }, { status: 201 })
  } catch (thrown) {
    return failed(thrown)
  }
}

async function takenBack({ undo }: RunStarter, run: string, by: string | undefined): Promise<Response> {
  if (undo === undefined)
    return problem({
      code: "TOKEN_REQUIRED",
      message: "What runs changed is taken back over a server with a token alone.",
      hint: "Start it with --token or --token-file, or use 'toolwright undo'.",
    })
  try {
    return Response.json(await undo(run, by))
  } catch (thrown) {
    return failed(thrown)
  }
}

function failed(thrown: unknown): Response {
  if (!ToolwrightError.isInstance(thrown)) return problem({ code: "RUN_FAILED", message: messageOf(thrown) })
  const { code, message, hint } = thrown
  return problem({ code, message, ...(hint === undefined ? {} : { hint }) })
}
