import { Validator } from "@seriousme/openapi-schema-validator"
import { approvalsIn, openDatabase, runLog, taskQueue } from "@toolwright/store"
import { defineTool, ToolRegistry, validate, type JsonObject, type JsonSchema } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { approvalRoutes, conversationRoutes, createApp, type ServerOptions } from "../index.ts"
import { servedRoutes } from "./service.ts"

const tools = new ToolRegistry()
for (const [name, tags] of [
  ["note", ["writing"]],
  ["look", ["reading"]],
] as const)
  tools.register(
    defineTool({ name, description: name, tags: [...tags], parameters: { type: "object" }, execute: () => "done" }),
  )

/** A service with everything that can be served, over a database in memory. */
async function service(more: Partial<ServerOptions> = {}) {
  const database = await openDatabase(":memory:")
  const log = runLog(database)
  const queue = taskQueue(database)
  const started = async (): Promise<string> => "r1"
  const app = createApp(
    {
      tools,
      tokens: [{ token: "whole-token" }, { token: "narrow-token", tags: ["reading"] }],
      runs: { look: async () => log },
      starter: {
        agents: async () => [],
        start: started,
        branch: started,
        resume: started,
        stop: () => true,
        answered: async () => {},
      },
      tasks: {
        root: "/",
        workspace: undefined,
        open: async () => queue,
        look: async () => queue,
        check: async () => {},
      },
      agents: {
        list: async () => [{ name: "assistant", description: "Answers" }],
        show: async () => ({ name: "assistant" }),
        create: async () => ({ name: "mine" }),
        remove: async () => ({ name: "mine" }),
      } as never,
      connections: {
        list: async () => ({
          model: { examinable: false },
          sources: [{ kind: "mcp", name: "m", state: "away", reason: "gone", tools: 0 }],
          database: { kind: "sqlite", place: ":memory:", state: "open", runs: 0 },
          unavailable: [],
          tools: 2,
        }),
        examine: async () => ({}),
      },
      ...more,
    },
    (extended) => {
      approvalRoutes(extended, async () => database)
      conversationRoutes(extended, {
        store: { list: async () => [] } as never,
        run: (() => {}) as never,
        modelName: () => "m",
      })
    },
  )
  const ask = (path: string, token = "whole-token", init: RequestInit = {}) =>
    app.request(`http://127.0.0.1${path}`, {
      ...init,
      headers: { host: "127.0.0.1", authorization: `Bearer ${token}`, "content-type": "application/json" },
    })
  return { app, ask, database, log, queue }
}

interface Document extends JsonObject {
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; responses: Record<string, { content?: Record<string, { schema: JsonObject }> }> }
    >
  >
  components: { schemas: JsonObject }
}
const documentOf = async (answer: Response): Promise<Document> => (await answer.json()) as Document

test("every route of the service stands in its document, and every one that stands there is served", async () => {
  const { app, ask } = await service()
  const document = await documentOf(await ask("/openapi.full.json"))
  const inDocument = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(inDocument.filter((key) => !key.startsWith("POST /tools/") || key.endsWith("check")).toSorted()).toEqual(
    servedRoutes(app as never).toSorted(),
  )
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
  expect(await new Validator().validate(document)).toEqual({ valid: true })
  const [own, shared] = [await documentOf(await ask("/openapi.json")), document]
  for (const [path, operation] of Object.entries(own.paths)) expect(shared.paths[path]).toEqual(operation)
  expect(Object.keys(own.paths)).toEqual(["/tools/note", "/tools/look"])
})

test("a token for some tags is shown what it opens, and nothing opens without one", async () => {
  const { app, ask } = await service()
  const { paths } = await documentOf(await ask("/openapi.full.json", "narrow-token"))
  expect(Object.keys(paths)).toContain("/tools/look")
  expect(Object.keys(paths)).not.toContain("/tools/note")
  for (const key of servedRoutes(app as never)) {
    const [method, path] = key.split(" ") as [string, string]
    const asked = path.replaceAll(/\{\w+\}/g, "x")
    const init = { method, ...(method === "GET" || method === "DELETE" ? {} : { body: "{}" }) }
    const { status } = await ask(asked, "narrow-token", init)
    const shown = paths[path]?.[method.toLowerCase()] !== undefined
    if (!shown) expect([403, 404], `${key} with a narrow token`).toContain(status)
    else expect(status, `${key} with a narrow token`).not.toBe(403)
    const bare = await app.request(`http://127.0.0.1${asked}`, { ...init, headers: { host: "127.0.0.1" } })
    expect(bare.status, `${key} without a token`).toBe(path === "/health" ? 200 : 401)
    const foreign = {
      ...init,
      headers: { host: "127.0.0.1", origin: "https://evil.example", authorization: "Bearer whole-token" },
    }
    expect((await app.request(`http://127.0.0.1${asked}`, foreign)).status, `${key} of a page elsewhere`).toBe(403)
    const rebound = { ...init, headers: { host: "evil.example", authorization: "Bearer whole-token" } }
    expect((await app.request(`http://evil.example${asked}`, rebound)).status, `${key} of another host`).toBe(403)
  }
})

test("answers are as the document says", async () => {
  const { ask, log, queue, database } = await service()
  const writer = await log.begin({
    id: "r1",
    agent: "assistant",
    model: "m",
    title: "t",
    surface: "http",
    holder: "h",
    time: 1,
  })
  await writer.append([{ type: "tool-start", body: '{"callId":"c","name":"note","arguments":{}}', time: 2 }])
  const { id } = await queue.add({ agent: "assistant", input: "x", plan: "p" })
  await database.execute(
    `INSERT INTO approvals (id, run, call_index, tool, arguments, arguments_hash, policy, question, created_at, expires_at)
     VALUES ('a1', 'r1', 1, 'note', '{}', 'h', 'p', 'May it?', 1, 9e14)`,
    [],
  )
  expect(await approvalsIn(database).list()).toHaveLength(1)
  const { paths, components } = await documentOf(await ask("/openapi.full.json"))
  const asked = {
    "/tools": "/tools/?actions=1",
    "/runs": "/runs",
    "/runs/{id}": "/runs/r1",
    "/runs/{id}/events": "/runs/r1/events",
    "/runs/{id}/events/{seq}": "/runs/r1/events/1",
    "/tasks": "/tasks",
    "/tasks/stats": "/tasks/stats",
    "/tasks/{id}": `/tasks/${id}`,
    "/approvals": "/approvals",
    "/figures": "/figures",
    "/connections": "/connections",
    "/agents": "/agents",
    "/conversations": "/conversations",
  }
  for (const [path, address] of Object.entries(asked)) {
    const { schema } = paths[path]!.get!.responses["200"]!.content!["application/json"]!
    const answer = await ask(address)
    expect(answer.status, path).toBe(200)
    const whole = { ...schema, components } as unknown as JsonSchema
    expect(await validate(whole, await answer.json()), path).toEqual([])
  }
})
