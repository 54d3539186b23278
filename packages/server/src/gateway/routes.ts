import type { ServerResponse } from "node:http"
import { problem } from "../http/problem.ts"
import { sinkOf } from "../http/sink.ts"
import type { Context, Hono } from "hono"
import { createAnswering, type AnsweringOptions } from "@toolwright/dialogue"
import type { Backend } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import type { AppVariables } from "../app.ts"
import { bodyLimits, readJson, type BodyLimits } from "../http/body.ts"
import { failureOf, retryHeaders } from "./failures.ts"
import { isObject } from "./fields.ts"
import {
  agentAnswer,
  agentFor,
  AGENT_PREFIX,
  answerRequestOf,
  leftOutOf,
  passThrough,
  type GatewayAgent,
} from "./modes.ts"
import { respond } from "./respond.ts"
import { withRoom } from "./room.ts"
import {
  RequestProblem,
  type GatewayEvent,
  type ReadyAnswer,
  type ServedModels,
  type Wire,
  type WireRequest,
} from "./wire.ts"
import { passedOn, translatedAnswer } from "./passed-on.ts"
import { anthropicMessages } from "./wires/anthropic/wire.ts"
import { ollama } from "./wires/ollama/wire.ts"
import { openAIChat } from "./wires/openai-chat/wire.ts"
import { openAIResponses } from "./wires/responses/wire.ts"

type GatewayContext = Context<{ Variables: AppVariables }>

/** What the gateway stands in front of. */
export interface GatewayOptions {
  backend: Backend
  /** How tools reach the model, and what becomes of calls that are not right. */
  answering?: AnsweringOptions
  /** Agents that clients may ask for by name; the first is not asked unless it is named. */
  agents?: readonly GatewayAgent[]
  maxBodyBytes?: number
}

/** Every form in which clients may ask. To add one, write it and name it here. */
const wires = (): Wire[] => [openAIChat, openAIResponses(), anthropicMessages, ollama]

/**
 * The model behind any client's own wire, and `GET /v1/models`. A request goes to the model as it is, with its tools
 * or without, and the answer comes back call by call, each whole and once. An agent with the server's own tools answers
 * only where one is named: `model: "toolwright/<agent>"`, or the header `X-Toolwright-Agent`. The header
 * `X-Routing-Mode` of the answer says which it was, `X-Toolwright-Left-Out` what could not be passed on,
 * `X-Toolwright-Max-Tokens` what a reply got where the window has less room than the client asked for, and
 * `X-Toolwright-Deferred-Tools` how many tools the model is not told at once, but finds.
 */
export function gatewayRoutes(app: Hono<{ Variables: AppVariables }>, options: GatewayOptions): void {
  const { backend, agents = [] } = options
  const answering = createAnswering(backend, options.answering)

  const served: ServedModels = {
    names: [backend.modelName(), ...agents.map(({ name }) => AGENT_PREFIX + name)],
    ...(backend.contextTokens === undefined ? {} : { contextTokens: backend.contextTokens }),
  }
  modelPages(app, served.names)
  // What the gateway has nothing to add to.
  for (const path of ["completions", "embeddings"])
    app.post(`/v1/${path}`, (context) =>
      reading(context, { wire: openAIChat, options }, (_, body) =>
        passedOn(backend, path, body, context.req.raw.signal),
      ),
    )

  for (const wire of wires()) {
    const answer = (context: GatewayContext, body: JsonObject): Promise<Response> => {
      const header = (name: string): string | undefined => context.req.header(name)
      return answerTo(context, wire.read(body, { path: context.req.path, caller: context.get("caller"), header }))
    }
    for (const path of wire.paths) app.post(path, (context) => reading(context, { wire, options }, answer))
    besideAnswers(app, wire, { options, served })
    keptPages(app, wire)
    for (const [path, page] of Object.entries(wire.pages ?? {})) app.get(path, (context) => context.json(page(served)))
  }

  async function answerTo(context: GatewayContext, wire: WireRequest | ReadyAnswer): Promise<Response> {
    if ("ready" in wire) return Response.json(wire.ready(backend.modelName()))
    const named = context.req.header("x-toolwright-agent")
    const agent = agentFor(wire.request.model, named, agents)
    const { tools: declared, deferred } = agent === undefined ? answering.declared(wire.request) : NOTHING_DECLARED
    const { request, room } = withRoom(wire.request, backend.contextTokens, declared)
    checkMode(context.req.header("x-routing-mode"), agent)
    const leaving = leavingOf(context)
    const { signal } = leaving
    const repair = context.req.header("x-toolwright-repair")
    const asked = repair === undefined ? {} : { repair: repair === "1" }
    const events: AsyncGenerator<readonly GatewayEvent[], void> =
      agent === undefined
        ? passThrough(answering, { ...answerRequestOf(request), ...asked }, signal)
        : agentAnswer(agent, request, signal)
    const leftOut = leftOutOf(request, backend, agent)
    const model = agent === undefined ? backend.modelName() : AGENT_PREFIX + agent.name
    const head = { id: crypto.randomUUID(), model, created: Math.floor(Date.now() / 1000) }
    const headers = headersOf({ agent, leftOut, room, deferred })
    return respond(wire, { events, leave: () => leaving.abort() }, { head, headers, sink: sinkOf(context) })
  }
}

/** What ends an answer: its client leaves, or it is left here. */
function leavingOf(context: GatewayContext): AbortController {
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  const { outgoing } = (context.env ?? {}) as { outgoing?: ServerResponse }
  const { signal } = outgoing === undefined ? context.req.raw : leaving
  if (outgoing === undefined && !signal.aborted) signal.addEventListener("abort", leave, { once: true })
  else if (outgoing === undefined) leave()
  else if (outgoing.closed) leave()
  else outgoing.once("close", () => outgoing.writableFinished || leave())
  return leaving
}

function limitsOf(wire: Wire, options: GatewayOptions, context: GatewayContext): BodyLimits {
  return { ...bodyLimits(options), untyped: wire.untyped === true && !isFromPage(context) }
}

/** Browsers say where a request comes from, and pages can send what is not said to be JSON without being asked. */
function isFromPage({ req }: GatewayContext): boolean {
  return req.header("origin") !== undefined || req.header("sec-fetch-site") !== undefined
}

/** An agent has tools of its own. */
const NOTHING_DECLARED = { tools: [], deferred: 0 }

/** What an answer says of itself. */
function headersOf(about: {
  agent: GatewayAgent | undefined
  leftOut: readonly string[]
  room: number | undefined
  deferred: number
}): Record<string, string> {
  const { agent, leftOut, room, deferred } = about
  return {
    "x-routing-mode": agent === undefined ? "passthrough" : "agent",
    ...(leftOut.length === 0 ? {} : { "x-toolwright-left-out": leftOut.join(", ") }),
    ...(room === undefined ? {} : { "x-toolwright-max-tokens": String(room) }),
    ...(deferred === 0 ? {} : { "x-toolwright-deferred-tools": String(deferred) }),
  }
}

/** Reads the body, and tells what is thrown in the wire's own form. */
async function reading(
  context: GatewayContext,
  { wire, options }: { wire: Wire; options: GatewayOptions },
  answer: (context: GatewayContext, body: JsonObject) => Promise<Response>,
): Promise<Response> {
  const body = await readJson(context, limitsOf(wire, options, context))
  if ("refused" in body) return body.refused
  try {
    return await answer(context, objectOf(body.value))
  } catch (thrown) {
    const failure = failureOf(thrown)
    return Response.json(wire.failure(failure), { status: failure.status, headers: retryHeaders(failure) })
  }
}

/** Questions of a wire's clients that are no conversation. */
function besideAnswers(
  app: Hono<{ Variables: AppVariables }>,
  wire: Wire,
  { options, served }: { options: GatewayOptions; served: ServedModels },
): void {
  for (const [path, other] of Object.entries(wire.others ?? {}))
    app.post(path, (context) =>
      reading(context, { wire, options }, async (_, body) => Response.json(other(body, served, context.get("caller")))),
    )
  for (const [path, translated] of Object.entries(wire.translated ?? {}))
    app.post(path, (context) =>
      reading(context, { wire, options }, (_, body) =>
        translatedAnswer(options.backend, translated, body, context.req.raw.signal),
      ),
    )
}

/** What is asked about answers that are kept. */
function keptPages(app: Hono<{ Variables: AppVariables }>, wire: Wire): void {
  for (const [asked, answer] of Object.entries(wire.kept ?? {})) {
    const [method = "", path = ""] = asked.split(" ")
    app.on(method, path, (context) => {
      try {
        const query = (name: string): string | undefined => context.req.query(name)
        return context.json(answer({ id: context.req.param("id") ?? "", caller: context.get("caller"), query }))
      } catch (thrown) {
        const failure = failureOf(thrown)
        return Response.json(wire.failure(failure), { status: failure.status })
      }
    })
  }
}

function modelPages(app: Hono<{ Variables: AppVariables }>, ids: readonly string[]): void {
  app.get("/v1/models", (context) =>
    context.json({
      object: "list",
      data: ids.map(modelEntry),
      // What clients of Anthropic read beside that.
      has_more: false,
      first_id: ids[0],
      last_id: ids.at(-1),
    }),
  )
  app.get("/v1/models/:id{.+}", (context) => {
    const id = context.req.param("id")
    if (ids.includes(id)) return context.json(modelEntry(id))
    const message = `There is no model '${id}'. There is: ${ids.join(", ")}.`
    const failure = { status: 404, code: "model_not_found", message, param: "model" }
    const wire = context.req.header("anthropic-version") === undefined ? openAIChat : anthropicMessages
    return context.json(wire.failure(failure), 404)
  })
}

/** A model in the words of OpenAI and of Anthropic. */
function modelEntry(id: string): JsonObject {
  const anthropic = { type: "model", display_name: id, created_at: "1970-01-01T00:00:00Z" }
  return { id, object: "model", created: 0, owned_by: "toolwright", ...anthropic }
}

function objectOf(body: unknown) {
  if (isObject(body)) return body
  throw new RequestProblem("The body must be a JSON object.", "")
}

/** A request may say which of the two it means, so that it gets that or an error. */
function checkMode(mode: string | undefined, agent: GatewayAgent | undefined): void {
  if (mode === undefined || mode === (agent === undefined ? "passthrough" : "agent")) return
  const message =
    agent === undefined
      ? `'X-Routing-Mode: ${mode}' needs an agent's name: model 'toolwright/<agent>', or the header X-Toolwright-Agent.`
      : `'X-Routing-Mode: ${mode}' and the agent '${agent.name}' do not go together.`
  throw new RequestProblem(message, "model")
}

/** What clients of a model are told by a server that has none. */
export function routesWithoutModel(app: Hono<{ Variables: AppVariables }>): void {
  for (const path of ["/v1/*", "/api/*"])
    app.all(path, () =>
      problem({
        code: "NO_MODEL",
        message: "This server has no model.",
        hint: "Start it with --model NAME --base-url URL, or --backend pocket.",
      }),
    )
}
