import type { Context, Hono } from "hono"
import type { RunLog, RunRow } from "@toolwright/store"
import { messageOf, ToolwrightError, type CallGate } from "@toolwright/toolbox"
import { readJson } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import { problem } from "../http/problem.ts"
import { sendText, whenSent } from "../http/sent.ts"
import type { PageSource, RunSource } from "../http/sources.ts"
import { exportedRun, importRun, sizeOf } from "./exchange.ts"

/** Characters of a run's events, and bytes of a file, beyond which the command line is the way. */
const LARGEST = 64 * 1024 * 1024

type Routes = Hono<{ Variables: RequestVariables }>
type Asked = Context<{ Variables: RequestVariables }>

/** What the exchange of runs needs of a server. */
export interface ExchangeParts {
  gate: CallGate
  secured: boolean
  page: PageSource | undefined
  visible(context: Asked): Promise<{ log: RunLog; row: RunRow } | Response>
}

/**
 * `GET /runs/{id}/export` is a run as a file: JSON, or with `as=html` a page that opens without a server. `POST
 * /runs/import` takes such JSON into the log.
 */
export function exchangeRoutes(routes: Routes, source: RunSource, parts: ExchangeParts): void {
  const narrow = ({ var: { access } }: Asked): Response | undefined =>
    access?.tags === undefined
      ? undefined
      : problem({
          code: "TOKEN_TOO_NARROW",
          message: "A token for some tags takes no runs in or out.",
          hint: "Use a token without tags.",
        })
  routes.get("/:id/export", async (context) => narrow(context) ?? exported(context, parts))
  routes.post("/import", async (context) => narrow(context) ?? imported(context, source, parts))
}

async function exported(context: Asked, { gate, page, visible }: ExchangeParts): Promise<Response> {
  const as = context.req.query("as") ?? "json"
  if (!["json", "html"].includes(as)) return problem({ code: "INVALID_ARGUMENTS", message: "'as' is json or html." })
  const found = await visible(context)
  if (found instanceof Response) return found
  const { log, row } = found
  if ((await sizeOf(log, row.id)) > LARGEST)
    return problem({
      code: "RESULT_TOO_LARGE",
      message: `The run has more than ${LARGEST} characters.`,
      hint: `Write it with: toolwright runs export ${row.id} --html`,
    })
  const run = await exportedRun(log, row.id)
  if (as === "html" && page?.run === undefined)
    return problem({ code: "NOT_FOUND", message: "This server has no page.", hint: "Ask for the run with as=json." })
  const text = as === "html" ? await page!.run!(run) : JSON.stringify(run)
  return sendText(context, gate, text, {
    "content-type": as === "html" ? "text/html; charset=utf-8" : "application/json",
    // What models have written is in it: it is a file to keep, and no page of this origin.
    "content-disposition": `attachment; filename="${row.id}.${as}"`,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  })
}

async function imported(context: Asked, source: RunSource, { gate, secured }: ExchangeParts): Promise<Response> {
  if (!secured || source.open === undefined)
    return problem({
      code: "TOKEN_REQUIRED",
      message: "Runs are taken in over a server with a token alone.",
      hint: "Start it with --token or --token-file, or use 'toolwright runs import'.",
    })
  const held = gate.hold(context.get("caller"))
  whenSent(context, () => held.release())
  const body = await readJson(context, { maxBytes: LARGEST, timeoutMs: 60_000, held })
  if ("refused" in body) return body.refused
  try {
    return Response.json({ id: await importRun(await source.open(), body.value) }, { status: 201 })
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown)) throw thrown
    const { code, hint } = thrown
    return problem({ code, message: messageOf(thrown), ...(hint === undefined ? {} : { hint }) })
  }
}
