import type { Context, Hono } from "hono"
import { streamSSE } from "hono/streaming"
import type { RunRequest } from "@toolwright/agents"
import { completionChunks, type InferEvent } from "@toolwright/backends"
import type { ConversationStore } from "@toolwright/store"
import { messageOf, ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import type { AppVariables } from "../app.ts"
import { runAsChat } from "../gateway/agent-run.ts"
import { bodyLimits, readJson } from "../http/body.ts"
import { problem } from "../http/problem.ts"
import { whole } from "../http/whole.ts"
import { tellEvents } from "./events.ts"
import { messagesOfRun } from "./messages.ts"

/** What conversations are kept in, and who answers in them. */
export interface ConversationOptions {
  store: ConversationStore
  run: (request: RunRequest) => AsyncGenerator<RunEvent, RunSummary>
  modelName: () => string
  maxBodyBytes?: number
  /** How large a conversation may become before nothing more is said in it; 16 Mi characters unless given. */
  maxConversationChars?: number
}

const MOST_BODY_BYTES = 1024 * 1024
const MOST_CHARS = 16 * 1024 * 1024

/**
 * Conversations that are kept: `POST /conversations` begins one, `GET /conversations` lists them, newest first, `GET`
 * and `DELETE /conversations/{id}`, and `POST /conversations/{id}/chat` with `{ message, stream }` goes on in one; with
 * `stream: "events"` calls and their results come as events beside the text. What is said is kept with its calls and
 * results, for the holder of the token it began with, in the order of the exchange, also when the client goes away.
 */
export function conversationRoutes(
  app: Hono<{ Variables: AppVariables }>,
  options: ConversationOptions | { store: undefined },
): void {
  if (options.store === undefined) return notReady(app)
  const { store, maxBodyBytes = MOST_BODY_BYTES } = options

  app.get("/conversations", async (context) => {
    const { limit, offset } = context.req.query()
    return context.json(
      await store.list({
        limit: whole(limit, 50, 0, 200),
        offset: whole(offset, 0, 0, Number.MAX_SAFE_INTEGER),
        owner: context.get("caller"),
      }),
    )
  })
  app.post("/conversations", async (context) => {
    const body = await readJson(context, bodyLimits({ maxBodyBytes }))
    if ("refused" in body) return body.refused
    const { title } = (body.value ?? {}) as { title?: unknown }
    return context.json(
      await store.create(typeof title === "string" ? title.slice(0, 200) : "", context.get("caller")),
      201,
    )
  })
  app.get("/conversations/:id", async (context) => {
    const conversation = await store.get(context.req.param("id"), context.get("caller"))
    return conversation === undefined ? notFound(context.req.param("id")) : context.json(conversation)
  })
  app.delete("/conversations/:id", async (context) =>
    (await store.delete(context.req.param("id"), context.get("caller")))
      ? context.body(null, 204)
      : notFound(context.req.param("id")),
  )

  app.post("/conversations/:id/chat", (context) => goOn(context, options))
}

const notFound = (id: string): Response =>
  problem({ code: "UNKNOWN_CONVERSATION", message: `There is no conversation '${id.slice(0, 100)}'.` })

/** Goes on in a conversation, and keeps what is said. */
async function goOn(
  context: Context<{ Variables: AppVariables }, "/conversations/:id/chat">,
  { store, run, modelName, maxBodyBytes = MOST_BODY_BYTES, maxConversationChars = MOST_CHARS }: ConversationOptions,
): Promise<Response> {
  const id = context.req.param("id")
  const body = await readJson(context, bodyLimits({ maxBodyBytes }))
  if ("refused" in body) return body.refused
  const { message, stream = false } = (body.value ?? {}) as { message?: unknown; stream?: unknown }
  if (typeof message !== "string" || message.trim() === "")
    return problem({ code: "INVALID_ARGUMENTS", message: "'message' must be a text that is not empty." })
  const conversation = await store.get(id, context.get("caller"))
  if (conversation === undefined) return notFound(id)
  if ((await store.size(id)) > maxConversationChars) return problem(CONVERSATION_FULL)
  const request: RunRequest = { task: message, history: conversation.messages, signal: context.req.raw.signal }
  const running = kept(run(request), (messages) => store.append(id, [{ role: "user", content: message }, ...messages]))
  if (stream === "events") return streamSSE(context, (events) => tellEvents(running, events))
  const texts = textsOf(running)
  return stream === true ? asChunks(context, texts, modelName()) : await asMessage(context, texts, id)
}

async function* textsOf(running: AsyncGenerator<RunEvent, RunSummary>): AsyncGenerator<InferEvent> {
  for await (const step of runAsChat(running)) if (step.type !== "step" && step.type !== "note") yield step
}

/** The answer as one message. */
async function asMessage(context: Context, texts: AsyncGenerator<InferEvent>, id: string): Promise<Response> {
  let content = ""
  try {
    for await (const event of texts) if (event.type === "text-delta") content += event.text
  } catch (thrown) {
    const code = ToolwrightError.isInstance(thrown) ? thrown.code : "RUN_FAILED"
    return problem({ code, message: messageOf(thrown) })
  }
  return context.json({ id, message: { role: "assistant", content } })
}

/** The answer as chunks of a chat completion. */
function asChunks(context: Context, texts: AsyncGenerator<InferEvent>, model: string): Response {
  const head = { id: `chatcmpl-${crypto.randomUUID()}`, model, created: Math.floor(Date.now() / 1000) }
  return streamSSE(context, async (events) => {
    try {
      for await (const chunk of completionChunks(texts, head)) await events.writeSSE({ data: chunk })
    } catch (thrown) {
      await events.writeSSE({ data: JSON.stringify({ error: { message: messageOf(thrown) } }) })
      await events.writeSSE({ data: "[DONE]" })
    }
  })
}

const CONVERSATION_FULL = {
  code: "CONVERSATION_FULL",
  message: "This conversation has become as large as one may.",
  hint: "Begin a new one with POST /conversations; this one stays to be read until DELETE /conversations/{id}.",
} as const

/** Passes a run on and keeps what was said in it, once, however it ends. */
async function* kept(
  run: AsyncGenerator<RunEvent, RunSummary>,
  keep: (messages: ChatMessage[]) => Promise<void>,
): AsyncGenerator<RunEvent, RunSummary> {
  const said = messagesOfRun()
  try {
    let step = await run.next()
    while (!step.done) {
      said.hear(step.value)
      if (step.value.type === "run-end") await keep(said.take())
      yield step.value
      step = await run.next()
    }
    return step.value
  } finally {
    await run.return(undefined as never)
    const rest = said.take()
    if (rest.length > 0) await keep(rest)
  }
}

/** What is answered where there is no model, and so nobody to talk to. */
function notReady(app: Hono<{ Variables: AppVariables }>): void {
  const refuse = (): Response =>
    problem({
      code: "NOT_INITIALIZED",
      message: "Conversation manager not initialized",
      hint: "The server has no model: start it with --model NAME --base-url URL, or --backend pocket.",
    })
  app.all("/conversations", refuse)
  app.all("/conversations/*", refuse)
}
