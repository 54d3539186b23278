import type { Hono } from "hono"
import {
  APPROVAL_STATES,
  approvalsIn,
  taskQueue,
  type ApprovalRow,
  type ApprovalState,
  type Database,
} from "@toolwright/store"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { AppVariables } from "../app.ts"
import { bodyLimits, readJson } from "../http/body.ts"
import { problem } from "../http/problem.ts"

/**
 * What runs ask, and the answers: `GET /approvals` lists the questions, those that wait unless `state` says otherwise;
 * `POST /approvals/{id}` with `{ allow, note }` answers one, once. Only whoever holds a token may do either.
 *
 * @param open opens the database; undefined where there is none yet
 * @param answered is told of a run whose question was answered and that belongs to no task
 */
export function approvalRoutes(
  app: Hono<{ Variables: AppVariables }>,
  open: () => Promise<Database | undefined>,
  answered: (run: string) => Promise<void> = () => Promise.resolve(),
): void {
  app.get("/approvals", async (context) => {
    const state = context.req.query("state") ?? "pending"
    if (state !== "all" && !(APPROVAL_STATES as readonly string[]).includes(state))
      return problem({ code: "INVALID_ARGUMENTS", message: `'state' is one of ${APPROVAL_STATES.join(", ")}, all.` })
    const database = await open()
    const filter = state === "all" ? {} : { state: state as ApprovalState }
    const rows = database === undefined ? [] : await approvalsIn(database).list(filter)
    return context.json(rows.map(shown))
  })
  app.post("/approvals/:id", async (context) => {
    const body = await readJson(context, bodyLimits({ maxBodyBytes: 16 * 1024 }))
    if ("refused" in body) return body.refused
    const { allow, note } = body.value as { allow?: unknown; note?: unknown }
    if (typeof allow !== "boolean" || (note !== undefined && typeof note !== "string"))
      return problem({ code: "INVALID_ARGUMENTS", message: "Give 'allow', true or false, and perhaps a 'note'." })
    const database = await open()
    const id = context.req.param("id")
    try {
      if (database === undefined) throw new ToolwrightError("UNKNOWN_APPROVAL", `There is no question '${id}'.`)
      const by = context.get("caller") || "http"
      const answer = { allow, by, time: Date.now(), ...(note === undefined ? {} : { note: note.slice(0, 2000) }) }
      const row = await approvalsIn(database).answer(id, answer)
      if (row.task !== null) await taskQueue(database).awaken(row.task)
      else if (row.run !== null) await answered(row.run)
      return context.json(shown(row))
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown)) throw thrown
      return problem({ code: thrown.code, message: messageOf(thrown) })
    }
  })
}

/** A question as it is shown; times are ISO 8601. */
export interface ApprovalView {
  id: string
  run: string | null
  task: string | null
  tool: string
  arguments: unknown
  question: string | null
  state: ApprovalState
  createdAt: string
  expiresAt: string | null
  answeredAt: string | null
  answeredBy: string | null
  note: string | null
}

function shown(row: ApprovalRow): ApprovalView {
  const { id, run, task, tool, arguments: args, question, state, note } = row
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
  return {
    id,
    run,
    task,
    tool,
    arguments: JSON.parse(args) as unknown,
    question,
    state,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: time(row.expires_at),
    answeredAt: time(row.answered_at),
    answeredBy: row.answered_by,
    note,
  }
}
