import type { Context, Hono } from "hono"
import { streamSSE } from "hono/streaming"
import {
  completionChunks,
  wholeCompletion,
  type Backend,
  type CompletionHead,
  type InferEvent,
} from "@toolwright/backends"
import { toolCallingBackend, type RunRequest } from "@toolwright/agents"
import { messageOf, ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import type { AppVariables } from "../app.ts"
import { bodyLimits, readJson } from "../http/body.ts"
import { runAsChat, type ChatStep } from "./agent-run.ts"
import { inferRequestOf, readChatRequest, type ChatRequest } from "./request.ts"

/** What the gateway stands in front of. */
export interface GatewayOptions {
  backend: Backend
  /** Runs a task with the server's own tools; without it requests that bring no tools are passed on as they are. */
  run?: (request: RunRequest) => AsyncGenerator<RunEvent, RunSummary>
  maxBodyBytes?: number
}

/**
 * `POST /v1/chat/completions` and `GET /v1/models`: any OpenAI client gets tool use in front of any backend. With
 * `tools` (or a wanted
 * JSON form) in the request the reply goes back as the model made it, calls included; without, the server's own tools
 * run and
 * their steps come beside the text. The header `X-Routing-Mode` says which; a request may ask for `passthrough` by it.
 */
export function gatewayRoutes(app: Hono<{ Variables: AppVariables }>, options: GatewayOptions): void {
  const backend = toolCallingBackend(options.backend)

  app.get("/v1/models", (context) =>
    context.json({
      object: "list",
      data: [{ id: backend.modelName(), object: "model", created: 0, owned_by: "toolwright" }],
    }),
  )

  app.post("/v1/chat/completions", async (context) => {
    const body = await readJson(context, bodyLimits(options))
    if ("refused" in body) return body.refused
    const request = readChatRequest(body.value)
    if ("problem" in request)
      return apiError(400, "invalid_request_error", request.problem.message, request.problem.param)
    const passthrough =
      request.tools.length > 0 ||
      request.jsonSchema !== undefined ||
      options.run === undefined ||
      context.req.header("x-routing-mode") === "passthrough"
    const signal = context.req.raw.signal
    const steps: AsyncIterable<ChatStep> = passthrough
      ? backend.infer(inferRequestOf(request), { signal })
      : runAsChat(options.run!(runRequestOf(request, signal)))
    const head = {
      id: `chatcmpl-${crypto.randomUUID()}`,
      model: backend.modelName(),
      created: Math.floor(Date.now() / 1000),
    }
    context.header("x-routing-mode", passthrough ? "passthrough" : "agent")
    return reply(context, request, steps, head)
  })
}

/** The last message is the task, what stands before it the history; a system message becomes the agent's. */
export function runRequestOf(request: ChatRequest, signal: AbortSignal): RunRequest {
  const last = request.messages.findLastIndex(({ role }) => role === "user")
  const system = request.messages
    .flatMap((message) => (message.role === "system" ? [message.content] : []))
    .join("\n\n")
  return {
    task: request.messages[last]?.content ?? "",
    history: request.messages.slice(0, Math.max(last, 0)),
    signal,
    ...(system === "" ? {} : { systemPrompt: system }),
  }
}

async function reply(
  context: Context,
  request: ChatRequest,
  steps: AsyncIterable<ChatStep>,
  head: CompletionHead,
): Promise<Response> {
  const iterator = steps[Symbol.asyncIterator]()
  let first: IteratorResult<ChatStep>
  try {
    // A failure before the first event can still be told by the status.
    first = await iterator.next()
    const all = from(first, iterator)
    if (!request.stream) return context.json(await wholeCompletion(withoutSteps(all), head))
    return streamSSE(context, async (stream) => {
      try {
        for await (const chunk of chunks(all, head, request.includeUsage)) await stream.writeSSE({ data: chunk })
      } catch (thrown) {
        await stream.writeSSE({ data: JSON.stringify({ error: errorBody(thrown) }) })
        await stream.writeSSE({ data: "[DONE]" })
      }
    })
  } catch (thrown) {
    return apiError(
      statusOf(thrown),
      "api_error",
      messageOf(thrown),
      null,
      ToolwrightError.isInstance(thrown) ? thrown.code : undefined,
    )
  }
}

async function* from(first: IteratorResult<ChatStep>, iterator: AsyncIterator<ChatStep>): AsyncGenerator<ChatStep> {
  try {
    for (let step = first; !step.done; step = await iterator.next()) yield step.value
  } finally {
    await iterator.return?.()
  }
}

async function* withoutSteps(steps: AsyncIterable<ChatStep>): AsyncGenerator<InferEvent> {
  for await (const step of steps) if (step.type !== "reasoning-event") yield step
}

/** The chunks of a reply; steps of a run travel in a field of their own, which other clients pass over. */
async function* chunks(
  steps: AsyncIterable<ChatStep>,
  head: CompletionHead,
  includeUsage: boolean,
): AsyncGenerator<string> {
  const chunk = (delta: object): string =>
    JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }] })
  yield chunk({ role: "assistant", content: "" })
  const waiting: string[] = []
  async function* inferEvents(): AsyncGenerator<InferEvent> {
    for await (const step of steps) {
      if (step.type === "reasoning-event") waiting.push(chunk({ reasoning_event: step.event }))
      else if (step.type === "end" && !includeUsage) yield { type: "end", finishReason: step.finishReason }
      else yield step
      // An empty delta lets the waiting steps out without waiting for text.
      if (step.type === "reasoning-event") yield { type: "text-delta", text: "" }
    }
  }
  for await (const text of completionChunks(inferEvents(), head)) {
    yield* waiting.splice(0)
    if (!text.includes('"delta":{"content":""}')) yield text
  }
}

function apiError(status: number, type: string, message: string, param: string | null, code?: string): Response {
  return Response.json({ error: { message, type, param, code: code ?? null } }, { status })
}

function errorBody(thrown: unknown): object {
  return {
    message: messageOf(thrown),
    type: "api_error",
    param: null,
    code: ToolwrightError.isInstance(thrown) ? thrown.code : null,
  }
}

const STATUS: Record<string, number> = {
  MODEL_UNREACHABLE: 502,
  MODEL_UNAUTHORIZED: 502,
  MODEL_NOT_FOUND: 404,
  MODEL_REQUEST_REJECTED: 400,
  MODEL_RATE_LIMITED: 429,
  REPLY_TOO_LONG: 502,
  MODEL_SERVER_ERROR: 502,
  MODEL_BAD_REPLY: 502,
  MODEL_TIMEOUT: 504,
  CONFLICTING_CONSTRAINTS: 400,
  CONSTRAINT_UNSUPPORTED: 400,
  NO_MODEL: 503,
}

function statusOf(thrown: unknown): number {
  return ToolwrightError.isInstance(thrown) ? (STATUS[thrown.code] ?? 500) : 500
}
