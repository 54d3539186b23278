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
    const above = database === undefined ? new Map<string, string[]>() : await runsAbove(database, rows)
    return context.json(rows.map((row) => shown(row, above.get(row.run ?? ""))))
  })
  app.post("/approvals/:id", async (context) => {
    const body = await readJson(context, bodyLimits({ maxBodyBytes: 16 * 1024 }))
    if ("refused" in body) return body.refused
    const { allow, note } = (body.value ?? {}) as { allow?: unknown; note?: unknown }
    if (typeof allow !== "boolean" || (note !== undefined && typeof note !== "string"))
      return problem({ code: "INVALID_ARGUMENTS", message: "Give 'allow', true or false, and perhaps a 'note'." })
    const database = await open()
    const id = context.req.param("id")
    try {
      if (database === undefined) throw new ToolwrightError("UNKNOWN_APPROVAL", `There is no question '${id}'.`)
      const caller = context.get("caller")
      const by = caller === "" ? "http" : caller
      const answer = { allow, by, time: Date.now(), ...(note === undefined ? {} : { note: note.slice(0, 2000) }) }
      const row = await approvalsIn(database).answer(id, answer)
      if (row.task !== null) await taskQueue(database).awaken(row.task)
      else if (row.run !== null) await answered(row.run)
      return context.json(shown(row, (await runsAbove(database, [row])).get(row.run ?? "")))
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown)) throw thrown
      return problem({ code: thrown.code, message: messageOf(thrown) })
    }
  })
}

/** What is said instead where no token is asked for: nobody permits anything there. */
export function approvalsWithoutToken(app: Hono<{ Variables: AppVariables }>): void {
  for (const path of ["/approvals", "/approvals/*"])
    app.all(path, () =>
      problem({
        code: "NOT_FOUND",
        message: "Questions are shown and answered over a server with a token alone.",
        hint: "Start it with --token or --token-file, or use 'toolwright approvals'.",
      }),
    )
}

/** A question as it is shown; times are ISO 8601. */
export interface ApprovalView {
  id: string
  run: string | null
  /** The runs above it, the nearest first, where a call of one asked for it. */
  above: readonly string[]
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

/**
 * The runs above each run that asks: the one whose call asked for it, the one above that, up to the one that a person
 * began.
 */
async function runsAbove(database: Database, rows: readonly ApprovalRow[]): Promise<Map<string, string[]>> {
  const asking = new Set(rows.flatMap(({ run }) => run ?? []))
  const askedBy = new Map<string, string | null>()
  for (let wanted = [...asking]; wanted.length > 0;) {
    const found = await database.query<{ id: string; asked_by: string | null }>(
      `SELECT id, asked_by FROM runs WHERE id IN (${wanted.map(() => "?").join(", ")})`,
      wanted,
    )
    for (const { id, asked_by } of found) askedBy.set(id, asked_by)
    wanted = [...new Set(found.flatMap(({ asked_by }) => asked_by ?? []))].filter((id) => !askedBy.has(id))
  }
  return new Map(
    [...asking].map((run) => {
      const above: string[] = []
      for (let at = askedBy.get(run); typeof at === "string" && !above.includes(at); at = askedBy.get(at))
        above.push(at)
      return [run, above]
    }),
  )
}

function shown(row: ApprovalRow, above: readonly string[] = []): ApprovalView {
  const { id, run, task, tool, arguments: args, question, state, note } = row
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
  return {
    id,
    run,
    above,
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
