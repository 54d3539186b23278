import { Hono, type Context } from "hono"
import { streamSSE } from "hono/streaming"
import {
  executeCall,
  failure,
  toServiceResult,
  type JsonObject,
  type Middleware,
  type ToolDefinition,
  type ToolEvent,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"
import { bodyLimits, readJson } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import type { Metrics } from "../http/metrics.ts"
import { problem } from "../http/problem.ts"
import { tagsOf, type ServerOptions } from "../options.ts"
import { toolsFor } from "./access.ts"
import { IdempotencyKeys } from "./idempotency.ts"

/** Milliseconds between the comments that keep an event stream open. */
const HEARTBEAT_MS = 15_000

type Variables = RequestVariables & { tool?: string; error?: string }

/**
 * `GET /tools/` lists the tools; `POST /tools/{name}` calls one, with its bare arguments as the body. What the tool
 * answers is 200,
 * also when it failed: the call has happened, and whoever made it must see the text. With `Accept: text/event-stream`
 * progress
 * comes as events and the result as the last one. When the client goes away, the tool is cancelled.
 */
export function toolRoutes(options: ServerOptions, metrics: Metrics): Hono<{ Variables: Variables }> {
  const { maxConcurrentCalls = 64 } = options
  const limits = bodyLimits(options)
  const keys = new IdempotencyKeys<Answer>()
  const middleware = [...(options.middleware ?? []), ...(options.cache === undefined ? [] : [options.cache.middleware])]
  const routes = new Hono<{ Variables: Variables }>({ strict: false })

  routes.get("/", (context) => {
    const list = toolsFor(options.tools, context.get("access")).list()
    return context.json(list.map(listed))
  })

  routes.post("/:name", async (context) => {
    const name = context.req.param("name")
    const tools = toolsFor(options.tools, context.get("access"))
    const tool = tools.get(name)
    if (tool === undefined)
      return problem(404, {
        code: "TOOL_NOT_FOUND",
        message: `Tool '${name}' not found`,
        hint: "GET /tools/ lists the tools.",
      })
    context.set("tool", tool.name)
    const body = await readJson(context, limits)
    if ("refused" in body) return body.refused
    if (metrics.running >= maxConcurrentCalls) {
      return problem(
        429,
        {
          code: "TOO_MANY_CALLS",
          message: `${maxConcurrentCalls} calls are running; no more run at once.`,
          retryable: true,
        },
        { "retry-after": "1" },
      )
    }
    const run = (onEvent?: (event: ToolEvent) => void) =>
      callTool(options, metrics, middleware, tools, {
        name,
        args: body.value,
        signal: context.req.raw.signal,
        noCache: /no-cache/.test(context.req.header("cache-control") ?? ""),
        onEvent,
      })
    if ((context.req.header("accept") ?? "").includes("text/event-stream")) return streamCall(context, run)
    const key = context.req.header("idempotency-key")
    const answer =
      key === undefined
        ? run()
        : keys.answer(`${context.get("access")?.token ?? ""}\u0000${name}`, key, body.text, () => run())
    if (answer === "conflict")
      return problem(422, {
        code: "IDEMPOTENCY_KEY_REUSED",
        message: "This Idempotency-Key was used with other arguments.",
      })
    return respond(context, await answer)
  })

  routes.all("/:name", (context) =>
    problem(
      405,
      { code: "METHOD_NOT_ALLOWED", message: `A tool is called with POST, not ${context.req.method}.` },
      { allow: "POST" },
    ),
  )
  return routes
}

/**
 * A tool as `GET /tools/` shows it: name, description, parameters and tags, and what a program that caches or asks for
 * permission needs.
 */
function listed({
  name,
  title,
  description,
  schema,
  category,
  effects,
  outputSchema,
  ...tool
}: ToolDefinition): JsonObject {
  return {
    name,
    description,
    parameters: schema,
    tags: tagsOf({ ...tool, name, description, schema, category }),
    category,
    ...(title === undefined ? {} : { title }),
    ...(effects === undefined ? {} : { effects }),
    ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
  }
}

interface Call {
  name: string
  args: unknown
  signal: AbortSignal
  noCache: boolean
  onEvent: ((event: ToolEvent) => void) | undefined
}

/** What is sent for a call: the result as JSON, written once, and what of it decides the status. */
export interface Answer {
  text: string
  /** Code and message of a failure. */
  code?: string
  error?: string
}

async function callTool(
  options: ServerOptions,
  metrics: Metrics,
  middleware: readonly Middleware[],
  tools: Toolset,
  call: Call,
): Promise<Answer> {
  metrics.running++
  try {
    const result = await executeCall(tools, call, {
      signal: call.signal,
      noCache: call.noCache,
      middleware,
      ...(options.permissions === undefined ? {} : { permissions: options.permissions }),
      ...(options.toolTimeoutMs === undefined ? {} : { timeoutMs: options.toolTimeoutMs }),
      ...(call.onEvent === undefined ? {} : { onEvent: call.onEvent }),
    })
    metrics.countCall(tools.get(call.name)?.name ?? call.name, result)
    return answerOf(result, options.maxResultBytes ?? 16 * 1024 * 1024)
  } finally {
    metrics.running--
  }
}

/** A result that is too large for its reader is a failure that says so. */
function answerOf(result: ToolResult, most: number): Answer {
  const text = JSON.stringify(toServiceResult(result))
  // A character has at most three bytes, so most texts need not be measured.
  const size = text.length * 3 <= most ? 0 : Buffer.byteLength(text)
  if (size > most) {
    const tooLarge = failure({
      code: "RESULT_TOO_LARGE",
      message: `The result has ${size} bytes; at most ${most} are sent.`,
      hint: "Ask for less at once.",
    })
    return answerOf({ ...tooLarge, executionTimeMs: result.executionTimeMs }, Number.POSITIVE_INFINITY)
  }
  return result.error === undefined ? { text } : { text, code: result.error.code, error: result.error.message }
}

function respond(context: Context<{ Variables: Variables }>, { text, code, error }: Answer): Response {
  if (code !== undefined) context.set("error", code)
  if (code === "TIMEOUT") return problem(504, { code, message: error ?? "The tool took too long.", retryable: true })
  if (code === "SOURCE_UNAVAILABLE")
    return problem(
      503,
      { code, message: error ?? "The tool's source is not available.", retryable: true },
      { "retry-after": "5" },
    )
  return new Response(text, JSON_TYPE)
}

const JSON_TYPE = { headers: { "content-type": "application/json" } }

function streamCall(
  context: Context<{ Variables: Variables }>,
  run: (onEvent: (event: ToolEvent) => void) => Promise<Answer>,
): Response {
  return streamSSE(context, async (stream) => {
    const heartbeat = setInterval(() => void stream.write(": still running\n\n"), HEARTBEAT_MS)
    try {
      const { text } = await run((event) => {
        if (event.type !== "tool-progress") return
        const { message, progress, total } = event
        void stream.writeSSE({ event: "progress", data: JSON.stringify({ message, progress, total }) })
      })
      await stream.writeSSE({ event: "result", data: text })
    } finally {
      clearInterval(heartbeat)
    }
  })
}
