import { openDatabase, runLog, type RunLog } from "@toolwright/store"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createApp, listen, type RunList, type ServerOptions } from "../index.ts"

const tools = new ToolRegistry()
for (const [name, tags] of [
  ["note", ["writing"]],
  ["look", ["reading"]],
] as const)
  tools.register(
    defineTool({
      name,
      description: name,
      tags: [...tags],
      parameters: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
      execute: () => {
        throw new Error("nothing is to run here")
      },
    }),
  )

let log: RunLog
let database: Awaited<ReturnType<typeof openDatabase>>
beforeEach(async () => {
  database = await openDatabase(":memory:")
  log = runLog(database)
})
afterEach(() => database[Symbol.asyncDispose]())

const app = (options: Partial<ServerOptions> = {}) => {
  const served = createApp({ tools, runs: { look: () => Promise.resolve(log) }, ...options })
  return (path: string, init: RequestInit = {}) =>
    served.request(`http://127.0.0.1${path}`, { ...init, headers: { host: "127.0.0.1", ...init.headers } })
}
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

async function recorded(id: string, head: { agent?: string; title?: string; caller?: string; time?: number } = {}) {
  const { agent = "assistant", title = "A task", time = 1000, caller } = head
  const writer = await log.begin({
    id,
    agent,
    model: "m",
    title,
    surface: "http",
    holder: "h",
    time,
    ...(caller === undefined ? {} : { caller }),
  })
  await writer.append([
    { type: "run-start", body: '{"task":"A task"}', time },
    { type: "tool-start", body: '{"callId":"c","name":"note","arguments":{"count":1}}', time: time + 1 },
    {
      type: "tool-end",
      body:
        '{"callId":"c","name":"note","result":{"success":false,"output":"no","error":{"code":"E","message":"no ' +
        '<b>"}}}',
      time: time + 2,
    },
  ])
  return writer
}

describe("the runs over HTTP", () => {
  test("are listed newest first, by pages and by what they are", async () => {
    for (const index of [1, 2, 3, 4, 5]) {
      const writer = await recorded(`r${index}`, {
        time: index * 1000,
        title: index === 3 ? "Mend 100% of it" : "A task",
      })
      await writer.end([{ type: "run-end", body: "{}", time: 9000 }], {
        outcome: index === 2 ? "failed" : "completed",
        summary: "{}",
        time: 9000,
      })
    }
    const get = app()
    const list = async (query: string) => (await (await get(`/runs?${query}`)).json()) as RunList
    const first = await list("limit=2")
    expect(first.runs.map(({ id }) => id)).toEqual(["r5", "r4"])
    expect((await list(`limit=2&before=${first.next}`)).runs.map(({ id }) => id)).toEqual(["r3", "r2"])
    expect((await list("only=failed")).runs.map(({ id }) => id)).toEqual(["r2"])
    expect((await list("text=100%25")).runs.map(({ id }) => id)).toEqual(["r3"])
    for (const query of ["before=1%27%20OR%201", "limit=-5", "limit=NaN", "text=%27%3B--", "only=%27"])
      expect((await get(`/runs?${query}`)).status).toBe(200)
  })

  test("have events by range as digests, and each body in pieces", async () => {
    await recorded("r1")
    const get = app()
    expect(await (await get("/runs/r1/events?after=1&limit=1")).json()).toEqual({
      events: [expect.objectContaining({ seq: 2, name: "note", args: '{"count":1}' })],
      more: true,
    })
    const [, , end] = ((await (await get("/runs/r1/events")).json()) as { events: object[] }).events
    expect(end).toMatchObject({ seq: 3, ok: false, code: "E", text: "no <b>" })
    expect(await (await get("/runs/r1/events/1?from=2&length=4")).json()).toMatchObject({ size: 17, text: "task" })
    for (const path of [
      "/runs/nope",
      "/runs/nope/events",
      "/runs/r1/events/99",
      "/runs/r1/events/x",
      "/runs/..%2f..%2fetc",
    ])
      expect((await get(path)).status).toBe(404)
  })

  test("are followed as they go on, and again from where a reader left", async () => {
    const writer = await recorded("r1")
    await using server = await listen(createApp({ tools, runs: { look: () => Promise.resolve(log) } }), {
      port: 0,
      secured: false,
    })
    const following = fetch(`${server.url}/runs/r1/stream`, { headers: { "last-event-id": "2" } })
    const response = await following
    await writer.end([{ type: "run-end", body: "{}", time: 5 }], { outcome: "completed", summary: "{}", time: 5 })
    const text = await response.text()
    expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(["3", "4"])
    expect(text).toMatch(/event: run\ndata: .*"status":"completed"/)
  })

  test("need a token like everything else, and one for some tags opens its own calls alone", async () => {
    const tokens = [{ token: "whole-token" }, { token: "narrow-token", tags: ["reading"] }]
    const started: object[] = []
    const starter = {
      agents: () => Promise.resolve([]),
      start: (run: object) => Promise.resolve(String(started.push(run))),
      branch: () => Promise.resolve("b"),
      stop: () => true,
      resume: (run: string) => Promise.resolve(String(started.push({ run }))),
      answered: () => Promise.resolve(),
    }
    const get = app({ tokens, starter })
    for (const path of ["/runs", "/runs/r1", "/runs/r1/events", "/runs/r1/events/1", "/runs/r1/stream", "/runs/agents"])
      expect((await get(path)).status, path).toBe(401)
    await recorded("of-an-agent")
    await recorded("of-another", { agent: "", title: "look", caller: "someone" })
    const listed = async (token: string) => ((await (await get("/runs", bearer(token))).json()) as RunList).runs
    expect(await listed("whole-token")).toHaveLength(2)
    expect(await listed("narrow-token")).toEqual([])
    for (const id of ["of-an-agent", "of-another"])
      expect((await get(`/runs/${id}/events`, bearer("narrow-token"))).status).toBe(404)
    const init = {
      method: "POST",
      body: '{"task":"x","seq":1}',
      headers: { ...bearer("narrow-token").headers, "content-type": "application/json" },
    }
    for (const path of ["/runs", "/runs/of-an-agent/branch", "/runs/of-an-agent/stop", "/runs/of-an-agent/resume"])
      expect((await get(path, init)).status, path).toBe(403)
    expect(started).toEqual([])
  })

  test("a call is checked without being made", async () => {
    const check = async (body: string, path = "/tools/note/check") =>
      (await app()(path, { method: "POST", body, headers: { "content-type": "application/json" } })).json()
    expect(await check('{"count":"2"}')).toMatchObject({
      valid: true,
      arguments: { count: 2 },
      repairs: [{ path: "count" }],
    })
    expect(await check('{"count":"x"}')).toMatchObject({ valid: false, error: { problems: [{ path: "count" }] } })
    expect(await check("{}", "/tools/nope/check")).toMatchObject({ valid: false, error: { code: expect.any(String) } })
  })

  test("a code opens the page once, and the page may load nothing from elsewhere", async () => {
    const bytes = new TextEncoder().encode('<meta nonce="__NONCE__">')
    const file = { bytes, gzip: bytes, type: "text/html; charset=utf-8", lasting: true }
    const page = {
      file: (path: string) => Promise.resolve(path === "index.html" || path === "assets/a.js" ? file : undefined),
    }
    const get = app({ tokens: [{ token: "whole-token" }], page, oneTime: { code: "once", token: "whole-token" } })
    const front = await get("/", { headers: { accept: "text/html" } })
    const policy = front.headers.get("content-security-policy")!
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'/)
    expect(policy).not.toContain("unsafe-")
    const nonce = /nonce-(\w+)/.exec(policy)![1]!
    expect(await front.text()).toBe(`<meta nonce="${nonce}">`)
    expect((await get("/assets/a.js")).status).toBe(200)
    for (const path of ["/assets/..%2findex.html", "/assets/%2e%2e/runs", "/assets//a.js"])
      expect([401, 404], path).toContain((await get(path)).status)
    const change = (code: unknown) =>
      get("/session", {
        method: "POST",
        body: JSON.stringify({ code }),
        headers: { "content-type": "application/json" },
      })
    expect((await change("guess")).status).toBe(401)
    expect((await change({})).status).toBe(401)
    expect(await (await change("once")).json()).toEqual({ token: "whole-token" })
    expect((await change("once")).status).toBe(401)
  })
})
