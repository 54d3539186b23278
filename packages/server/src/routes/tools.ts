import { Hono, type Context } from "hono"
import { splitActions, type CallGate, type JsonObject, type ToolDefinition, type Toolset } from "@toolwright/toolbox"
import { bodyLimits, readJson } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import type { Metrics } from "../http/metrics.ts"
import { problem } from "../http/problem.ts"
import { refusalOf, refusedBy } from "../http/refusal.ts"
import { sendText, whenSent } from "../http/sent.ts"
import { tagsOf, type ServerOptions } from "../options.ts"
import { toolsFor, withActions } from "./access.ts"
import { caller, type Answer } from "./call.ts"
import { checkCall } from "./check.ts"
import { IdempotencyKeys } from "./idempotency.ts"
import { Progress, streamCall } from "./stream.ts"

type Variables = RequestVariables & { tool?: string; error?: string }

/**
 * `GET /tools/` lists the tools; `POST /tools/{name}` calls one, or one action of it, with its bare arguments as the
 * body. What the tool answers is 200, also when it failed: the call has happened, and whoever made it must see the
 * text. With `Accept: text/event-stream` progress comes as events and the result as the last one. When the client goes
 * away, the tool is cancelled. `X-Toolwright-Approved: 1`, with a whole token, says that a person has seen a call that
 * would be asked about. What one caller and all together may have done at once is the gate's matter. `POST
 * /tools/{name}/check` says what would become of a call, and makes none.
 */
export function toolRoutes(options: ServerOptions, metrics: Metrics, gate: CallGate): Hono<{ Variables: Variables }> {
  const limits = bodyLimits(options)
  const keys = new IdempotencyKeys<Answer>({
    bytes: ({ text }) => text.length,
    isNone: ({ code }) => code !== undefined && NOTHING_CAME_OF_IT.has(code),
  })
  const call = caller(options, metrics, gate)
  const routes = new Hono<{ Variables: Variables }>({ strict: false })

  routes.get("/", (context) => {
    const list = toolsFor(options.tools, context.get("access")).list()
    // Actions have the names under which they are recorded; who shows a record asks for them too.
    const actions = context.req.query("actions") === "1" ? list.flatMap(actionsOf) : []
    return sendText(context, gate, JSON.stringify([...list.map(listed), ...actions]), JSON_TYPE.headers)
  })

  routes.post("/:name", (context) => answerCall(context, { options, gate, limits, keys, call }))

  routes.post("/:name/check", async (context) => {
    const name = context.req.param("name")
    const tools = withActions(toolsFor(options.tools, context.get("access")))
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    return sendText(context, gate, JSON.stringify(await checkCall(tools, name, body.value, options)), JSON_TYPE.headers)
  })

  routes.all("/:name", (context) =>
    problem(
      { code: "METHOD_NOT_ALLOWED", message: `A tool is called with POST, not ${context.req.method}.` },
      { allow: "POST" },
    ),
  )
  return routes
}

/** What calls over HTTP are made with. */
interface Calls {
  readonly options: ServerOptions
  readonly gate: CallGate
  readonly limits: ReturnType<typeof bodyLimits>
  readonly keys: IdempotencyKeys<Answer>
  readonly call: ReturnType<typeof caller>
}

async function answerCall(
  context: Context<{ Variables: Variables }, "/:name">,
  { options, gate, limits, keys, call }: Calls,
): Promise<Response> {
  const name = context.req.param("name")
  const who = context.get("caller")
  const tools = withActions(toolsFor(options.tools, context.get("access")))
  const tool = tools.get(name)
  if (tool === undefined)
    return problem({
      code: "TOOL_NOT_FOUND",
      message: `Tool '${name.slice(0, 100)}' not found`,
      hint: `${whyNot(options.tools, name, context.get("access"))}GET /tools/ lists the tools.`,
    })
  context.set("tool", tool.name)
  const key = context.req.header("idempotency-key")
  // Before the body is read; a request that comes again needs no room to run.
  const full = key === undefined ? gate.refusal(who, tool) : undefined
  if (full !== undefined) return refusedBy(full)
  const held = gate.hold(who)
  whenSent(context, () => held.release())
  const body = await readJson(context, { ...limits, held })
  if ("refused" in body) return body.refused
  const progress = new Progress()
  const run = (signal: AbortSignal): Promise<Answer> =>
    call(tools, {
      name,
      arguments: body.value,
      signal,
      noCache: /no-cache/.test(context.req.header("cache-control") ?? ""),
      caller: who,
      key,
      // Whoever may answer what runs ask may answer for a call of their own.
      approved: context.req.header("x-toolwright-approved") === "1" && mayApprove(context.get("access")),
      onEvent: (event) => progress.hear(event),
    })
  const { signal } = context.req.raw
  const answer =
    key === undefined ? run(signal) : keys.answer({ caller: who, scope: name, key, body: body.text, signal }, run)
  if (typeof answer === "string") return problem(UNUSABLE_KEY[answer])
  void answer.then(({ text }) => held.count(text.length)).catch(() => {})
  if ((context.req.header("accept") ?? "").includes("text/event-stream")) return streamCall(context, answer, progress)
  return respond(context, await answer)
}

/** Why nothing can be answered under an Idempotency-Key. */
const UNUSABLE_KEY = {
  conflict: {
    code: "IDEMPOTENCY_KEY_REUSED",
    message: "This Idempotency-Key was used with other arguments.",
  },
  gone: {
    code: "IDEMPOTENCY_ANSWER_GONE",
    message: "The request with this Idempotency-Key was carried out, and its answer is kept no more.",
    hint: "Look at what it did, or repeat it with another key.",
  },
} as const

/**
 * Why a tool is kept back that would be there elsewhere, so that nobody takes its name for mistyped. Whoever has a
 * token for some tags does not learn of tools beyond them.
 */
function whyNot(tools: Toolset, name: string, access: Variables["access"]): string {
  const reason = access?.tags === undefined ? tools.withdrawn(name) : undefined
  if (reason === undefined) return ""
  // What lacks a key or a program is there for nobody.
  if (!reason.includes("not offered")) return `${reason} `
  return `${reason} A server offers what writes where it has a token and a folder that may be written to. `
}

/** Without a token nobody permits anything, and one for some tags answers no questions. */
const mayApprove = (access: Variables["access"]): boolean => access !== undefined && access.tags === undefined

/**
 * Failures of calls that did not take place, or were given up by those who made them: whoever permits one meanwhile
 * makes it again under the same key.
 */
const NOTHING_CAME_OF_IT = new Set(["CANCELLED", "TOO_MANY_CALLS", "SERVER_BUSY", "PERMISSION_DENIED"])

/**
 * A tool as `GET /tools/` shows it: name, description, parameters and tags, and what a program that caches or asks for
 * permission needs.
 */
function listed({
  name,
  title,
  description,
  parameters: schema,
  category,
  effects,
  outputSchema,
  provenance,
  ...tool
}: ToolDefinition): JsonObject {
  return {
    name,
    description,
    parameters: schema,
    tags: tagsOf({ ...tool, name, description, parameters: schema, category }),
    category,
    ...(title === undefined ? {} : { title }),
    ...(effects === undefined ? {} : { effects }),
    ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
    // Which server it comes from, where that is not this one.
    ...(provenance === undefined || provenance.kind === "local"
      ? {}
      : { provenance: { kind: provenance.kind, name: provenance.name } }),
  }
}

const actionsOf = (tool: ToolDefinition): JsonObject[] =>
  tool.actions === undefined ? [] : splitActions(tool).map((action) => ({ ...listed(action), action_of: tool.name }))

function respond(context: Context<{ Variables: Variables }>, { text, code, error, hint }: Answer): Response {
  if (code !== undefined) context.set("error", code)
  return refusalOf(code, error, hint) ?? new Response(text, JSON_TYPE)
}

const JSON_TYPE = { headers: { "content-type": "application/json" } }
