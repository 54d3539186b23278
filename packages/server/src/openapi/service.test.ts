import { Validator } from "@seriousme/openapi-schema-validator"
import { approvalsIn } from "@toolwright/store"
import { validate, type JsonObject, type JsonSchema } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { wholeService } from "../testing/whole-service.ts"
import { servedRoutes } from "./service.ts"

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
  const { app, ask } = await wholeService()
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
  const { app, ask } = await wholeService()
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
  const { ask, log, queue, database } = await wholeService()
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
    "/plans": "/plans",
    "/plans/{id}": "/plans/p",
    "/approvals": "/approvals",
    "/figures": "/figures?series=3",
    "/runs/{id}/export": "/runs/r1/export",
    "/connections": "/connections",
    "/agents": "/agents",
    "/conversations": "/conversations",
    "/prompts": "/prompts",
  }
  for (const [path, address] of Object.entries(asked)) {
    const { schema } = paths[path]!.get!.responses["200"]!.content!["application/json"]!
    const answer = await ask(address)
    expect(answer.status, path).toBe(200)
    const whole = { ...schema, components } as unknown as JsonSchema
    expect(await validate(whole, await answer.json()), path).toEqual([])
  }
})

test("what routes take is what their descriptions say", async () => {
  const { ask } = await wholeService()
  const { components } = await documentOf(await ask("/openapi.full.json"))
  const schema = (name: string): JsonSchema =>
    ({ ...(components.schemas[name] as object), components, additionalProperties: false }) as JsonSchema
  const plan = { name: "p", tasks: { look: { agent: "assistant", task: "look" } } }
  const taken = {
    NewPlan: ["/plans", { plan, inputs: { what: "it" }, worktree: true }],
    NewTask: ["/tasks", { agent: "assistant", input: { task: "x", worktree: true }, budget: { rounds: 1, money: 2 } }],
    NewAgent: [
      "/agents",
      { name: "mine", files: ["a.ts"], from: "builder", prompt: "You write.", limits: { rounds: 3 } },
    ],
  } as const
  for (const [name, [path, body]] of Object.entries(taken)) {
    expect(await validate(schema(name), body), name).toEqual([])
    expect((await ask(path, undefined, { method: "POST", body: JSON.stringify(body) })).status, name).toBe(201)
  }
  const rendered = await ask("/prompts/greet", undefined, { method: "POST", body: "{}" })
  const whole = { ...(components.schemas.RenderedPrompt as object), components } as JsonSchema
  expect(await validate(whole, await rendered.json())).toEqual([])
})
