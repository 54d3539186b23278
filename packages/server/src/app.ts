import { createHash } from "node:crypto"
import { Hono } from "hono"
import { messageOf } from "@toolwright/toolbox"
import { bodyLimits } from "./http/body.ts"
import { guard, type RequestVariables } from "./http/guard.ts"
import { Metrics } from "./http/metrics.ts"
import { problem } from "./http/problem.ts"
import { openApiDocument } from "./openapi/document.ts"
import { DOCUMENTATION_PAGE } from "./openapi/page.ts"
import type { ServerOptions } from "./options.ts"
import { toolsFor } from "./routes/access.ts"
import { promptRoutes } from "./routes/prompts.ts"
import { toolRoutes } from "./routes/tools.ts"

/** What a request carries from one handler to the next. */
export type AppVariables = RequestVariables & { tool?: string; error?: string }

/** Paths that need no token: whether the service lives, and the page that asks for a token. */
const OPEN = new Set(["/health", "/docs"])

/**
 * The service as a web-standard application: `app.fetch` answers a request, so it can be mounted anywhere and tested
 * without a
 * socket.
 *
 * @param extend adds routes of other surfaces, behind the same guard; tokens with tags do not open them
 */
export function createApp(
  options: ServerOptions,
  extend: (app: Hono<{ Variables: AppVariables }>, metrics: Metrics) => void = () => {},
): Hono<{ Variables: AppVariables }> {
  const metrics = new Metrics()
  const app = new Hono<{ Variables: AppVariables }>({ strict: false })

  app.use(async (context, next) => {
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
  app.use(guard(options, OPEN))

  app.get("/health", (context) => context.json({ status: "healthy", service: "tools-api" }))
  app.get("/metrics", (context) =>
    context.text(metrics.text(options.cache), 200, { "content-type": "text/plain; version=0.0.4" }),
  )
  app.get("/docs", (context) =>
    context.html(DOCUMENTATION_PAGE, 200, {
      "content-security-policy":
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    }),
  )
  app.get("/openapi.json", (context) => {
    const url = options.publicUrl ?? new URL(context.req.url).origin
    const tags = (context.req.query("tags") || undefined)?.split(",").filter((tag) => tag !== "")
    const document = openApiDocument(toolsFor(options.tools, context.get("access")).list(), {
      url,
      secured: (options.tokens?.length ?? 0) > 0,
      ...(tags === undefined ? {} : { tags }),
    })
    const text = JSON.stringify(document)
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`
    if (context.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } })
    return new Response(text, { headers: { "content-type": "application/json", etag } })
  })
  app.route("/tools", toolRoutes(options, metrics))
  if (options.prompts !== undefined) app.route("/prompts", promptRoutes(options.prompts, bodyLimits(options)))
  app.use(async (context, next) => {
    // The routes of other surfaces know nothing of tags: they would open every tool, and what others have said.
    if (context.get("access")?.tags === undefined) return next()
    return problem(403, {
      code: "TOKEN_TOO_NARROW",
      message: `A token for some tags does not open ${context.req.path}.`,
      hint: "Use a token without tags.",
    })
  })
  extend(app, metrics)

  app.notFound((context) =>
    problem(404, {
      code: "NOT_FOUND",
      message: `There is nothing at ${context.req.path}.`,
      hint: "GET /docs shows what there is.",
    }),
  )
  app.onError((thrown) => problem(500, { code: "INTERNAL_ERROR", message: `The server failed: ${messageOf(thrown)}` }))
  return app
}
