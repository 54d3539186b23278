import type { Hono } from "hono"
import { streamSSE } from "hono/streaming"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { readJson, type BodyLimits } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import { problem } from "../http/problem.ts"
import type { ConnectionSource } from "../http/sources.ts"

const MOST_TRIES = 20

/**
 * `GET /connections` says what this server is connected to; `POST /connections/examine` with `{ tries }` examines the
 * model, one at a time: each step comes as an event `step`, what was found as `found`.
 */
export function connectionRoutes<Variables extends RequestVariables>(
  app: Hono<{ Variables: Variables }>,
  source: ConnectionSource,
  limits: BodyLimits,
): void {
  app.get("/connections", async (context) => context.json(await source.list(), 200, { "cache-control": "no-store" }))
  let busy = false
  app.post("/connections/examine", async (context) => {
    const body = await readJson(context, { ...limits, maxBytes: 1024 })
    if ("refused" in body) return body.refused
    const { tries = 3 } = (body.value ?? {}) as { tries?: unknown }
    if (typeof tries !== "number" || !Number.isInteger(tries) || tries < 1 || tries > MOST_TRIES)
      return problem({ code: "INVALID_ARGUMENTS", message: `'tries' must be a whole number from 1 to ${MOST_TRIES}.` })
    if (busy) return problem({ code: "TOO_MANY_CALLS", message: "The model is being examined already." })
    busy = true
    const { signal } = context.req.raw
    return streamSSE(context, async (events) => {
      const gone = new AbortController()
      events.onAbort(() => gone.abort())
      const told = (event: string, value: unknown) => events.writeSSE({ event, data: JSON.stringify(value) })
      try {
        const left = AbortSignal.any([signal, gone.signal])
        const found = await source.examine({ tries, signal: left, log: (line) => void told("step", line) })
        await told("found", found)
      } catch (thrown) {
        const { code, hint } = ToolwrightError.isInstance(thrown) ? thrown : { code: "RUN_FAILED", hint: undefined }
        await told("problem", { code, message: messageOf(thrown), ...(hint === undefined ? {} : { hint }) })
      } finally {
        busy = false
      }
    })
  })
}
