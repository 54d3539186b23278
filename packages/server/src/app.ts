import { createHash } from "node:crypto"
import { Hono, type Context } from "hono"
import { createMiddleware } from "hono/factory"
import { CallGate, messageOf, ToolwrightError } from "@toolwright/toolbox"
import { agentRoutes } from "./agents/routes.ts"
import { refusalsInWire } from "./gateway/refusals.ts"
import { bodyLimits } from "./http/body.ts"
import { Followers } from "./http/followers.ts"
import { guard, type RequestVariables } from "./http/guard.ts"
import { Metrics } from "./http/metrics.ts"
import { problem } from "./http/problem.ts"
import { entering, sendText } from "./http/sent.ts"
import { openApiDocument } from "./openapi/document.ts"
import { serviceDocument } from "./openapi/service.ts"
import { DOCUMENTATION_PAGE } from "./openapi/page.ts"
import type { ServerOptions } from "./options.ts"
import { toolsFor } from "./routes/access.ts"
import { nothingThere } from "./routes/nothing-there.ts"
import { entrance } from "./routes/entrance.ts"
import { pageRoutes } from "./routes/page.ts"
import { sessionRoute } from "./routes/session.ts"
import { connectionRoutes } from "./connections/routes.ts"
import { evaluationRoutes } from "./evaluations/routes.ts"
import { figuresRoute } from "./figures/routes.ts"
import { promptRoutes } from "./routes/prompts.ts"
import { toolRoutes } from "./routes/tools.ts"
import { planRoutes } from "./plans/routes.ts"
import { taskRoutes } from "./tasks/routes.ts"
import { runRoutes } from "./runs/routes.ts"

/** What a request carries from one handler to the next. */
export type AppVariables = RequestVariables & { tool?: string; error?: string }

/** Paths that need no token: what there is, whether the service lives, and the page that asks for a token. */
const OPEN = new Set(["/", "/health", "/docs", "/session"])
const isOpen = (path: string): boolean => OPEN.has(path) || path.startsWith("/assets/")

/** The limits of a server that is given none: with several tokens, no holder of one takes all that there is. */
export function gateOf({ maxConcurrentCalls = 64, tokens = [] }: Pick<ServerOptions, "maxConcurrentCalls" | "tokens">) {
  const share = tokens.length > 1 ? 2 : 1
  const maxBytes = 256 * 1024 * 1024
  return new CallGate({
    maxCalls: maxConcurrentCalls,
    maxCallsPerCaller: Math.max(1, Math.ceil(maxConcurrentCalls / share)),
    maxBytes,
    maxBytesPerCaller: maxBytes / share,
  })
}

/**
 * The service as a web-standard application: `app.fetch` answers a request, so it can be mounted anywhere and tested
 * without a socket.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where every origin is allowed and tokens are asked for
 * @param extend adds routes of other surfaces, behind the same guard; tokens with tags do not open them
 */
export function createApp(
  options: ServerOptions,
  extend: (app: Hono<{ Variables: AppVariables }>, gate: CallGate) => void = () => {},
): Hono<{ Variables: AppVariables }> {
  checkOrigins(options)
  const gate = options.gate ?? gateOf(options)
  const metrics = new Metrics(() => gate.calls)
  const followers = new Followers({ apart: (options.tokens?.length ?? 0) > 1 })
  const app = new Hono<{ Variables: AppVariables }>({ strict: false })

  app.use(observed(options, metrics))
  app.use(refusalsInWire)
  app.use(guard(options, isOpen))

  app.get("/health", (context) => context.json({ status: "healthy", service: "tools-api" }))
  app.use("/metrics", wholeTokens)
  app.get("/metrics", (context) =>
    context.text(metrics.text(options.cache), 200, { "content-type": "text/plain; version=0.0.4" }),
  )
  app.get("/docs", (context) =>
    context.html(DOCUMENTATION_PAGE, 200, {
      "content-security-policy":
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
        "frame-ancestors 'none'",
    }),
  )
  documentRoutes(app, options, gate)
  app.route("/tools", toolRoutes(options, metrics, gate))
  const { runs, starter, page, tokens = [] } = options
  const secured = tokens.length > 0
  if (runs !== undefined) app.route("/runs", runRoutes(runs, { gate, followers, starter, page, secured }))
  if (page !== undefined) pageRoutes(app, page)
  if (options.oneTime !== undefined) sessionRoute(app, options.oneTime)
  app.use("/prompts/*", entering(gate))
  if (options.prompts !== undefined) app.route("/prompts", promptRoutes(options.prompts, bodyLimits(options)))
  // The routes of other surfaces know nothing of tags: they would open every tool, and what others have said.
  app.use(wholeTokens)
  workRoutes(app, options, { gate, followers })
  // An answer of a model is waited for more than worked on: many more of them go side by side than calls of tools.
  const answers = gateOf({ ...options, maxConcurrentCalls: options.maxConcurrentAnswers ?? 1024 })
  for (const path of ["/v1/*", "/api/*"]) app.use(path, entering(answers))
  for (const path of ["/conversations", "/conversations/*", "/approvals", "/approvals/*"]) app.use(path, entering(gate))
  extend(app, gate)
  app.get("/", entrance(app, options.page))

  const nothing = nothingThere(app)
  app.notFound((context) => nothing(context.req))
  app.onError((thrown) => problem({ code: "INTERNAL_ERROR", message: `The server failed: ${messageOf(thrown)}` }))
  return app
}

/** Counts and tells every request. */
const observed = (options: ServerOptions, metrics: Metrics) =>
  createMiddleware<{ Variables: AppVariables }>(async (context, next) => {
    const started = performance.now()
    await next()
    metrics.countResponse(context.res.status)
    const [tool, error] = [context.get("tool"), context.get("error")]
    options.log?.({
      at: new Date().toISOString(),
      method: context.req.method,
      path: context.req.path,
      status: context.res.status,
      durationMs: performance.now() - started,
      ...(tool === undefined ? {} : { tool }),
      ...(error === undefined ? {} : { error }),
    })
  })

/** Lets those in whose token is for everything; figures of a server name every tool, and say how much all use it. */
const wholeTokens = createMiddleware<{ Variables: AppVariables }>(async (context, next) => {
  if (context.get("access")?.tags === undefined) return next()
  return problem({
    code: "TOKEN_TOO_NARROW",
    message: `A token for some tags does not open ${context.req.path}.`,
    hint: "Use a token without tags.",
  })
})

/**
 * `/openapi.json` has the tools alone, for hosts that make a tool of every operation; `/openapi.full.json` all routes.
 */
function documentRoutes(
  app: Hono<{ Variables: AppVariables }>,
  options: Pick<ServerOptions, "publicUrl" | "tools" | "tokens">,
  gate: CallGate,
): void {
  const answer = (full: boolean) => (context: Context<{ Variables: AppVariables }>) => {
    const url = options.publicUrl ?? new URL(context.req.url).origin
    const tags = (context.req.query("tags") || undefined)?.split(",").filter((tag) => tag !== "")
    const access = context.get("access")
    const tools = openApiDocument(toolsFor(options.tools, access).list(), {
      url,
      secured: (options.tokens?.length ?? 0) > 0,
      ...(tags === undefined ? {} : { tags }),
    })
    const document = full ? serviceDocument(tools, app as never, access?.tags !== undefined) : tools
    const text = JSON.stringify(document)
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`
    if (context.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } })
    return sendText(context, gate, text, { "content-type": "application/json", etag })
  }
  app.get("/openapi.json", answer(false))
  app.get("/openapi.full.json", answer(true))
}

/** What agents do and what that takes: for holders of a whole token. */
function workRoutes(
  app: Hono<{ Variables: AppVariables }>,
  options: Pick<
    ServerOptions,
    | "agents"
    | "plans"
    | "evaluations"
    | "tasks"
    | "runs"
    | "connections"
    | "prices"
    | "tokens"
    | "maxBodyBytes"
    | "bodyTimeoutMs"
  >,
  { gate, followers }: { gate: CallGate; followers: Followers },
): void {
  const { agents, plans, evaluations, tasks, runs, connections, prices, tokens = [] } = options
  const limits = bodyLimits(options)
  const secured = tokens.length > 0
  if (agents !== undefined) agentRoutes(app, agents, { limits, secured })
  if (plans !== undefined) planRoutes(app, plans, { limits, secured, followers })
  if (evaluations !== undefined) evaluationRoutes(app, evaluations)
  if (tasks !== undefined) taskRoutes(app, tasks, { limits, secured, followers })
  if (runs !== undefined) figuresRoute(app, runs, { gate, prices })
  if (connections !== undefined) connectionRoutes(app, connections, limits)
}

function checkOrigins({ allowedOrigins, tokens = [] }: ServerOptions): void {
  if (allowedOrigins?.includes("*") !== true || tokens.length === 0) return
  throw new ToolwrightError("INVALID_CONFIGURATION", "Pages of every origin may not call a server with tokens.", {
    hint: "Name the origins whose pages may call, each with --allow-origin.",
  })
}
