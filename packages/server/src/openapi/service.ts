import type { Hono } from "hono"
import type { JsonObject } from "@toolwright/toolbox"
import { SERVICE_SCHEMAS } from "./service-schemas.ts"
import { fields, list, named, number, oneOf, text, whole, yes } from "./shape.ts"

/** A route beside the tools. */
interface Route {
  id: string
  summary: string
  tag: string
  query?: Readonly<Record<string, JsonObject>>
  body?: JsonObject
  answer?: JsonObject
  status?: 201 | 204
  /** The events of a stream, in words. */
  events?: string
  /** A token for some tags opens it, and sees what is its own. */
  narrow?: true
  /** It needs no token. */
  open?: true
}

const run = (id: string, summary: string, more: Partial<Route>): Route => ({ id, summary, tag: "runs", ...more })
const task = (id: string, summary: string, more: Partial<Route>): Route => ({ id, summary, tag: "tasks", ...more })
const talk = (id: string, summary: string, more: Partial<Route>): Route => ({
  id,
  summary,
  tag: "conversations",
  ...more,
})
const PAGE = { limit: whole, offset: whole }
const STARTED = { answer: named("Started"), status: 201 } as const

/**
 * What the console is built on, and anybody may use. Surfaces with documents of their own (`/v1`, `/api`, `/mcp`) are
 * not here.
 */
const ROUTES: Readonly<Record<string, Route>> = {
  "GET /health": { id: "health", summary: "Whether the service lives", tag: "service", open: true, narrow: true },
  "GET /tools": {
    id: "list_tools",
    summary: "The tools that the token opens",
    tag: "tools",
    query: { actions: oneOf("1") },
    answer: list(named("Tool")),
    narrow: true,
  },
  "POST /tools/{name}/check": {
    id: "check_call",
    summary: "What would become of a call; nothing runs",
    tag: "tools",
    body: { type: "object" },
    answer: named("Checked"),
    narrow: true,
  },
  "GET /runs": run("list_runs", "The runs on record, newest first", {
    query: {
      limit: whole,
      before: text,
      text,
      agent: text,
      surface: text,
      askedBy: text,
      task: text,
      tool: text,
      only: oneOf("failed", "open"),
      calls: oneOf("0", "1"),
    },
    answer: named("RunList"),
    narrow: true,
  }),
  "POST /runs": run("start_run", "Gives an agent something to do, and answers at once", {
    body: fields({ task: text, "agent?": text }),
    ...STARTED,
  }),
  "GET /runs/agents": run("list_starters", "The agents that a run can be started with", {
    answer: list(named("Agent")),
  }),
  "GET /runs/{id}": run("get_run", "One run", { answer: named("RunDetail"), narrow: true }),
  "GET /runs/{id}/events": run("list_events", "Its events by range, without their bodies", {
    query: { after: whole, limit: whole },
    answer: named("EventPage"),
    narrow: true,
  }),
  "GET /runs/{id}/events/{seq}": run("get_event", "One event with its body, or a part of it", {
    query: { from: whole, length: whole },
    answer: named("EventBody"),
    narrow: true,
  }),
  "GET /runs/{id}/events/{seq}/kept/{hash}": run(
    "get_kept_text",
    "A prompt's message, its tools or its grammar, which an event names by its hash, or a part of it",
    { query: { from: whole, length: whole }, answer: named("KeptText"), narrow: true },
  ),
  "GET /runs/{id}/stream": run(
    "follow_run",
    "Its events as they are written; Last-Event-ID goes on where it broke off",
    {
      events: "`event` with an event as listed, `run` with the run at its end",
      narrow: true,
    },
  ),
  "GET /runs/{id}/export": run("export_run", "A run as a file, with those that it asked for: JSON, or a page", {
    query: { as: oneOf("json", "html") },
    answer: { type: "object" },
  }),
  "POST /runs/import": run("import_run", "Takes an exported run into the log, with its id", {
    body: { type: "object" },
    ...STARTED,
  }),
  "POST /runs/{id}/branch": run(
    "branch_run",
    "Goes on from the round that had ended by an event, as a run of its own",
    {
      body: fields({
        seq: whole,
        "edit?": { ...text, description: "In place of the result that the event holds" },
      }),
      ...STARTED,
    },
  ),
  "POST /runs/{id}/resume": run("resume_run", "Goes on with a run that waits or was interrupted", STARTED),
  "POST /runs/{id}/undo": run("undo_run", "Takes back what it changed; what was changed since stays, and is named", {
    answer: fields({
      "id?": text,
      restored: list(text),
      refused: list(fields({ path: text, reason: text })),
      "unrecorded?": text,
    }),
  }),
  "POST /runs/{id}/stop": run("stop_run", "Ends a run that was started here", { answer: fields({ stopped: yes }) }),
  "GET /agents": task("list_agents", "The agents that tasks can be given to", {
    answer: fields({ agents: list(named("Agent")) }),
  }),
  "POST /agents": task("create_agent", "Makes an agent by name, with the files that it owns", {
    body: named("NewAgent"),
    answer: named("Agent"),
    status: 201,
  }),
  "GET /agents/{name}": task("get_agent", "One agent", { answer: named("Agent") }),
  "DELETE /agents/{name}": task("remove_agent", "Lets go of an agent", { answer: { type: "object" } }),
  "GET /tasks": task("list_tasks", "The tasks, newest first", {
    query: { state: text, agent: text, plan: text, parent: text, ...PAGE },
    answer: fields({ tasks: list(named("Task")) }),
  }),
  "POST /tasks": task("queue_task", "Queues a task", { body: named("NewTask"), answer: named("Task"), status: 201 }),
  "GET /tasks/stats": task("count_tasks", "How many tasks stand how", { answer: named("Counts") }),
  "GET /tasks/{id}": task("get_task", "One task, with what came of it", { answer: named("Task") }),
  "GET /tasks/{id}/stream": task("follow_task", "Each change until it has ended", { events: "`task` with the task" }),
  "POST /tasks/{id}/cancel": task("cancel_task", "Ends a task and those below it", { answer: named("Task") }),
  "POST /tasks/{id}/retry": task("retry_task", "Queues a task anew", { answer: named("Task") }),
  "GET /evaluations": task("list_evaluations", "The evaluations, newest first", {
    answer: fields({ evaluations: list(named("Evaluation")) }),
  }),
  "GET /evaluations/{id}": task("get_evaluation", "One evaluation, with its figures and its trials", {
    answer: named("EvaluationReport"),
  }),
  "GET /plans": task("list_plans", "The plans, newest first", { answer: fields({ plans: list(named("Plan")) }) }),
  "POST /plans": task("start_plan", "Queues the tasks of a plan", {
    body: named("NewPlan"),
    answer: named("Plan"),
    status: 201,
  }),
  "POST /plans/check": task("check_plan", "What a plan would do, or all that is wrong with it", {
    body: named("NewPlan"),
    answer: { type: "object" },
  }),
  "GET /plans/{id}": task("get_plan", "One plan, with its tasks", { answer: named("Plan") }),
  "GET /plans/{id}/stream": task("follow_plan", "Each change until all have ended", { events: "`plan` with the plan" }),
  "POST /plans/{id}/cancel": task("cancel_plan", "Ends each task that has not ended", { answer: named("Plan") }),
  "POST /plans/{id}/retry": task("retry_plan", "Queues anew what did not come to a good end", {
    answer: named("Plan"),
  }),
  "GET /approvals": task("list_approvals", "What runs ask", {
    query: { state: text },
    answer: list(named("Approval")),
  }),
  "POST /approvals/{id}": task("answer_approval", "Answers a question, once", {
    body: fields({ allow: yes, "note?": text }),
    answer: named("Approval"),
  }),
  "GET /figures": run("get_figures", "Runs, calls, tokens, cost and times of a span, by tool, model and format", {
    query: { from: number, to: number, parts: whole, series: whole },
    answer: named("Figures"),
  }),
  "GET /connections": {
    id: "list_connections",
    summary: "The model, servers that tools come from, the database",
    tag: "service",
    answer: named("Connections"),
  },
  "POST /connections/examine": {
    id: "examine_model",
    summary: "Examines the model",
    tag: "service",
    body: fields({ "tries?": whole }),
    events: "`step` with a line, `found` with what was found, or `problem`",
  },
  "GET /prompts": {
    id: "list_prompts",
    summary: "The prompts",
    tag: "prompts",
    answer: list(named("Prompt")),
    narrow: true,
  },
  "POST /prompts/{name}": {
    id: "render_prompt",
    summary: "Renders a prompt with the arguments that are the body",
    tag: "prompts",
    body: { type: "object" },
    answer: named("RenderedPrompt"),
    narrow: true,
  },
  "GET /conversations": talk("list_conversations", "Conversations, newest first", {
    query: PAGE,
    answer: list(named("ConversationHead")),
  }),
  "POST /conversations": talk("begin_conversation", "Begins one that is kept", {
    body: fields({ "title?": text }),
    answer: named("Conversation"),
    status: 201,
  }),
  "GET /conversations/{id}": talk("get_conversation", "One, with what was said", { answer: named("Conversation") }),
  "DELETE /conversations/{id}": talk("delete_conversation", "Forgets one", { status: 204 }),
  "POST /conversations/{id}/chat": talk("talk", "Goes on in one", {
    body: fields({ message: text, "stream?": { enum: [true, false, "events"] } }),
    answer: fields({ id: text, message: fields({ role: text, content: text }) }),
  }),
}

/**
 * Routes that are no part of the interface: pages and their files, other documents, and surfaces with ones of their
 * own.
 */
const ELSEWHERE = /^\/($|docs|assets|session|metrics|openapi|v1|api|mcp|tools\/\{name\}$)/

/**
 * The tools' document with all other routes that are served, so that programs can be written against the whole service.
 * Nothing in it is for models: `/openapi.json` is what hosts make tools of.
 *
 * @param narrow the token opens some tags alone, and these routes
 */
export function serviceDocument(tools: JsonObject, app: Pick<Hono, "routes">, narrow: boolean): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const key of servedRoutes(app)) {
    const route = ROUTES[key]
    if (route === undefined || (narrow && route.narrow !== true)) continue
    const [method, path] = key.split(" ") as [string, string]
    ;(paths[path] ??= {})[method.toLowerCase()] = operationOf(route, path)
  }
  const components = tools.components as { schemas: JsonObject }
  const tags = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags: of }) => of as string[])),
  )
  const known = tools.tags as { name: string }[]
  return {
    ...tools,
    tags: [...known, ...[...tags].filter((tag) => !known.some(({ name }) => name === tag)).map((name) => ({ name }))],
    paths: { ...(tools.paths as JsonObject), ...paths },
    components: { ...components, schemas: { ...components.schemas, ...SERVICE_SCHEMAS } },
  }
}

/** Routes that are served and belong to the interface, as `GET /runs/{id}`. */
export function servedRoutes({ routes }: Pick<Hono, "routes">): string[] {
  const all = routes
    .filter(({ method, path }) => method !== "ALL" && !path.endsWith("*"))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}").replace(/(?<=.)\/$/, "")}`)
  return [...new Set(all)].filter((key) => !ELSEWHERE.test(key.split(" ")[1]!))
}

function operationOf(
  { id, summary, tag, query = {}, body, answer, status, events, open }: Route,
  path: string,
): JsonObject {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true, schema: text })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema })),
  ]
  const content =
    events === undefined
      ? { "application/json": { schema: answer ?? {} } }
      : { "text/event-stream": { schema: { type: "string", description: events } } }
  const ok = { description: summary, ...(status === 204 ? {} : { content }) }
  return {
    operationId: id,
    summary,
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    responses: {
      [status ?? 200]: ok,
      "4XX": {
        description: "What is wrong, and what to do",
        content: { "application/problem+json": { schema: named("Problem") } },
      },
    },
    ...(open === true ? { security: [] } : {}),
  }
}
