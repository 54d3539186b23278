import { openDatabase, runLog, type Database, type RunLog } from "@toolwright/store"
import { ToolRegistry } from "@toolwright/toolbox"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createApp, type ConnectionSource, type Figures, type ServerOptions } from "../index.ts"

let database: Database
let log: RunLog
beforeEach(async () => {
  database = await openDatabase(":memory:")
  log = runLog(database)
})
afterEach(() => database[Symbol.asyncDispose]())

const connections: ConnectionSource = {
  list: () =>
    Promise.resolve({
      model: { examinable: false },
      sources: [],
      database: { kind: "sqlite", place: ":memory:", state: "open" },
      unavailable: [],
      tools: 0,
    }),
  async examine({ tries, log: say }) {
    say(`Trying ${tries} times`)
    if (tries === 2) throw new Error("it went away")
    return { usable: true }
  },
}

const asking = (options: Partial<ServerOptions> = {}) => {
  const app = createApp({ tools: new ToolRegistry(), runs: { look: async () => log }, connections, ...options })
  return (path: string, init: RequestInit = {}) =>
    app.request(`http://127.0.0.1${path}`, { ...init, headers: { host: "127.0.0.1", ...init.headers } })
}
const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
})

test("figures count a call whose result stands among the bodies", async () => {
  const writer = await log.begin({
    id: "r1",
    agent: "",
    model: "",
    title: "look",
    surface: "http",
    holder: "h",
    time: 1,
  })
  const result = { success: false, output: "x".repeat(20_000), executionTimeMs: 3 }
  await writer.end([{ type: "tool-end", body: JSON.stringify({ name: "look", result }), time: 2 }], {
    outcome: "failed",
    summary: "{}",
    time: 3,
  })
  const { tools } = (await (await asking()("/figures?from=0&to=10")).json()) as Figures
  expect(tools).toEqual([expect.objectContaining({ name: "look", count: 1, failed: 1, ms50: 3 })])
})

interface Ran {
  agent?: string
  title?: string
  outcome: string
  time: number
  ms: number
  calls?: { name: string; ok: boolean; ms: number; repairs?: number }[]
}

async function ran(id: string, { agent = "", title = "look", outcome, time, ms, calls = [] }: Ran): Promise<void> {
  const writer = await log.begin({ id, agent, model: "m", title, surface: "http", holder: "h", time })
  const failed = calls.filter(({ ok }) => !ok).length
  await writer.append([
    { type: "run-start", body: '{"format":"hermes"}', time },
    ...calls.flatMap(({ name, ok, ms: took, repairs = 0 }) => [
      {
        type: "tool-start",
        body: JSON.stringify({ name, repairs: Array.from({ length: repairs }, () => ({})) }),
        time,
      },
      { type: "tool-end", body: JSON.stringify({ name, result: { success: ok, executionTimeMs: took } }), time },
    ]),
  ])
  const summary = {
    calls: calls.length,
    failedCalls: failed,
    inputTokens: 100,
    outputTokens: 10,
    times: { totalMs: ms },
  }
  await writer.end([{ type: "run-end", body: "{}", time: time + ms }], {
    outcome,
    summary: JSON.stringify(summary),
    time: time + ms,
  })
}

test("figures count runs over time, and calls by their tool, of the span that is asked about", async () => {
  const calls = [
    { name: "look", ok: true, ms: 10, repairs: 2 },
    { name: "look", ok: false, ms: 30 },
    { name: "edit", ok: true, ms: 5 },
  ]
  await ran("before", { agent: "assistant", outcome: "completed", time: 500, ms: 5 })
  await ran("r1", { agent: "assistant", outcome: "completed", time: 1000, ms: 100, calls })
  await ran("r2", { agent: "assistant", outcome: "failed", time: 1600, ms: 300 })
  await ran("c1", { outcome: "completed", time: 1700, ms: 7, calls: [{ name: "look", ok: true, ms: 7 }] })
  await log.begin({ id: "open", agent: "assistant", model: "m", title: "t", surface: "s", holder: "h", time: 1800 })
  const prices = { m: { input: 2, output: 10 } }
  const ask = asking({ prices })
  const figures = (await (await ask("/figures?from=1000&to=2000&parts=2")).json()) as Figures
  expect(figures).toMatchObject({ from: 1000, to: 2000, step: 500, runs: 3, more: false, looked: 3 })
  expect(figures.over).toEqual([
    expect.objectContaining({ time: 1000, runs: 1, failed: 0, calls: 3, failedCalls: 1, inputTokens: 100, ms50: 100 }),
    expect.objectContaining({ time: 1500, runs: 1, failed: 1, calls: 1, failedCalls: 0, ms95: 300 }),
  ])
  expect(figures.tools).toEqual([
    expect.objectContaining({ name: "look", count: 3, failed: 1, repaired: 2, ms50: 10, ms95: 30 }),
    expect.objectContaining({ name: "edit", count: 1, failed: 0, repaired: 0 }),
  ])
  expect(figures.models).toEqual([expect.objectContaining({ name: "m", count: 2, failed: 1, inputTokens: 200 })])
  expect(figures.formats).toEqual([expect.objectContaining({ name: "hermes", count: 3 })])
  expect(figures.tools.some((row) => "over" in row || "cost" in row)).toBe(false)

  const told = (await (await ask("/figures?from=1000&to=2000&parts=2&series=1")).json()) as Figures
  expect(told.tools.map(({ name, over }) => [name, over])).toEqual([
    [
      "look",
      {
        count: [2, 1],
        failed: [1, 0],
        inputTokens: [0, 0],
        outputTokens: [0, 0],
        ms50: [30, 7],
        ms95: [30, 7],
      },
    ],
    ["edit", undefined],
  ])
  // 100 tokens read and 10 written of each run.
  expect(told.models[0]).toMatchObject({ cost: 0.0006, over: { count: [1, 1], failed: [0, 1], ms50: [100, 300] } })
  expect(told.models[0]!.over!.cost!.map((each) => each.toFixed(6))).toEqual(["0.000300", "0.000300"])
  // Whatever read tokens cost, the single call too.
  expect(told.over.map(({ cost }) => cost?.toFixed(6))).toEqual(["0.000300", "0.000600"])
  const free = (await (await asking()("/figures?from=1000&to=2000&parts=2&series=1")).json()) as Figures
  expect([free.models[0]!.cost, free.models[0]!.over!.cost, free.over[0]!.cost]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test("figures of nothing, of nonsense and of damaged bodies are figures", async () => {
  const none = asking({ runs: { look: () => Promise.resolve(undefined) } })
  expect(await (await none("/figures")).json()).toMatchObject({ over: [], runs: 0 })
  await ran("r1", { agent: "assistant", outcome: "completed", time: 1000, ms: 1 })
  await database.execute("UPDATE runs SET summary = '[1' WHERE id = 'r1'", [])
  await database.execute("UPDATE run_events SET body = 'no json'", [])
  for (const query of [
    "",
    "from=x&to=y",
    "from=9e99",
    "to=-5",
    "parts=1e9",
    "from=5&to=1",
    "parts=%27",
    "from=0&to=5000",
    "series=-1",
    "series=1e9",
  ]) {
    const answer = await asking()(`/figures?${query}`)
    expect(answer.status, query).toBe(200)
    const { over } = (await answer.json()) as Figures
    expect(over.length, query).toBeLessThanOrEqual(400)
  }
})

test("the model is examined step by step, one time at once, and what it breaks off for is told", async () => {
  const ask = asking()
  const text = await (await ask("/connections/examine", json({ tries: 1 }))).text()
  expect(text).toBe('event: step\ndata: "Trying 1 times"\n\nevent: found\ndata: {"usable":true}\n\n')
  expect(await (await ask("/connections/examine", json({ tries: 2 }))).text()).toContain('"message":"it went away"')
  for (const tries of [0, 21, 1.5, "3", null])
    expect((await ask("/connections/examine", json({ tries }))).status, String(tries)).toBe(422)
  const slow = asking({ connections: { ...connections, examine: () => new Promise(() => {}) } })
  const first = slow("/connections/examine", json({}))
  expect((await slow("/connections/examine", json({}))).status).toBe(429)
  await (await first).body?.cancel()
})

const ROUTES: readonly [path: string, init: RequestInit][] = [
  ["/figures", {}],
  ["/connections", {}],
  ["/connections/examine", json({})],
]

test.each(ROUTES)("%s needs a whole token, and is not for pages of elsewhere", async (path, init) => {
  const tokens = [{ token: "whole-token" }, { token: "narrow-token", tags: ["reading"] }]
  const ask = asking({ tokens })
  const as = (headers: Record<string, string>) =>
    ask(path, { ...init, headers: { ...(init.headers as Record<string, string>), ...headers } })
  expect((await as({})).status).toBe(401)
  expect((await as({ authorization: "Bearer another" })).status).toBe(401)
  expect((await as({ authorization: "Bearer narrow-token" })).status).toBe(403)
  expect((await as({ authorization: "Bearer whole-token", origin: "https://evil.example" })).status).toBe(403)
  expect((await as({ authorization: "Bearer whole-token", host: "evil.example" })).status).toBe(403)
  if (init.method === "POST")
    expect((await as({ authorization: "Bearer whole-token", "content-type": "text/plain" })).status).toBe(415)
  expect((await as({ authorization: "Bearer whole-token" })).status).toBe(200)
})
