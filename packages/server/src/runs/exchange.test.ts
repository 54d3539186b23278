import { openDatabase, runLog, type RunLog } from "@toolwright/store"
import { expect, test } from "vitest"
import { createApp, exportedRun, importRun, type ExportedRun, type RunList } from "../index.ts"
import { ToolRegistry } from "@toolwright/toolbox"

const TOKENS = [{ token: "whole-token" }, { token: "narrow-token", tags: ["x"] }]

/** A log in memory and a server over it. */
async function place(tokens: typeof TOKENS | [] = TOKENS) {
  const database = await openDatabase(":memory:")
  const log = runLog(database)
  const page = {
    file: () => Promise.resolve(undefined),
    run: ({ run }: ExportedRun) => Promise.resolve(`<!doctype html>${run.id}`),
  }
  const runs = { look: () => Promise.resolve(log), open: () => Promise.resolve(log) }
  const app = createApp({ tools: new ToolRegistry(), runs, tokens, page })
  const ask = (path: string, { body, token = "whole-token" }: { body?: unknown; token?: string } = {}) =>
    app.request(`http://127.0.0.1${path}`, {
      ...(body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
      headers: { host: "127.0.0.1", "content-type": "application/json", authorization: `Bearer ${token}` },
    })
  return { database, log, ask }
}

async function recorded(log: RunLog, id: string, askedBy?: string): Promise<void> {
  const head = { agent: "assistant", model: "m", title: `Task of ${id}`, surface: "run", holder: "h", time: 1000 }
  const asked = askedBy === undefined ? {} : { askedBy: { run: askedBy, call: "c1", key: `k-${id}` } }
  const writer = await log.begin({ id, ...head, ...asked })
  const prompt = writer.keep(JSON.stringify({ role: "user", content: `What ${id} is asked. ${"long ".repeat(300)}` }))
  await writer.append([
    { type: "run-start", body: `{"task":"Task of ${id}"}`, time: 1000 },
    { type: "request", body: JSON.stringify({ round: 1, prompt: { keep: 0, add: [prompt] } }), time: 1001 },
  ])
  await writer.end([{ type: "run-end", body: "{}", time: 1002 }], { outcome: "completed", summary: "{}", time: 1002 })
}

/** Three runs: one asked for the second, that for the third. */
async function nested() {
  const here = await place()
  await recorded(here.log, "top")
  await recorded(here.log, "middle", "top")
  await recorded(here.log, "bottom", "middle")
  return here
}

test("a run is taken out over HTTP with those that it asked for, and into another log as it was", async () => {
  const [here, there] = [await nested(), await place()]
  const answer = await here.ask("/runs/top/export")
  expect(answer.headers.get("content-disposition")).toBe('attachment; filename="top.json"')
  const text = await answer.text()
  const taken = await there.ask("/runs/import", { body: text })
  expect([taken.status, await taken.json()]).toEqual([201, { id: "top" }])
  const bare = (run: ExportedRun): object => ({
    title: run.run.title,
    bodies: run.bodies,
    events: run.events.map(({ digest, body }) => [digest, body]),
    below: run.below?.map(bare),
  })
  expect(bare(await exportedRun(there.log, "top"))).toEqual(bare(JSON.parse(text) as ExportedRun))
  expect((await there.ask("/runs/import", { body: text })).status).toBe(409)

  const list = (await (await there.ask("/runs")).json()) as RunList
  expect(list.runs.map(({ id, surface, asks }) => [id, surface, asks])).toEqual([["top", "import", 1]])
  const below = (await (await there.ask("/runs?askedBy=top")).json()) as RunList
  expect(below.runs).toMatchObject([{ id: "middle", asks: 1, askedBy: { run: "top", call: "c1" } }])
  expect((await (await there.ask("/runs?askedBy=middle")).json()) as RunList).toMatchObject({
    runs: [{ id: "bottom" }],
  })
})

test("as a page it is a file to keep, and no page of the server", async () => {
  const { ask } = await nested()
  const answer = await ask("/runs/top/export?as=html")
  expect(await answer.text()).toBe("<!doctype html>top")
  expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="top\.html"$/)
  expect(answer.headers.get("content-security-policy")).toBe("sandbox")
  expect((await ask("/runs/top/export?as=exe")).status).toBe(422)
  expect((await ask("/runs/nope/export")).status).toBe(404)
})

test("a token for some tags takes nothing in or out, and a server without a token takes nothing in", async () => {
  const { ask } = await nested()
  expect((await ask("/runs/top/export", { token: "narrow-token" })).status).toBe(403)
  expect((await ask("/runs/import", { token: "narrow-token", body: {} })).status).toBe(403)
  expect((await ask("/runs/import", { token: "another", body: {} })).status).toBe(401)
  const open = await place([])
  await recorded(open.log, "top")
  expect((await open.ask("/runs/top/export")).status).toBe(200)
  expect((await open.ask("/runs/import", { body: {} })).status).toBe(401)
})

test("what is no run, is damaged, or is here in part, is refused whole", async () => {
  const here = await nested()
  const sound = await exportedRun(here.log, "top")
  const there = await place()
  const count = async (): Promise<number> => (await there.log.list()).length
  const changed = (change: (run: Record<string, unknown>) => void): unknown => {
    const copy = structuredClone(sound) as unknown as Record<string, unknown>
    change(copy)
    return copy
  }
  const many = Array.from({ length: 300 }, (_, index) => ({
    ...sound,
    run: { ...sound.run, id: `m${index}` },
    below: [],
  }))
  const damaged: unknown[] = [
    {},
    [],
    null,
    '"text"',
    7,
    { format: "toolwright-run", version: 2 },
    changed((run) => (run.run = null)),
    changed((run) => Object.assign(run.run as object, { id: "../../etc" })),
    changed((run) => Object.assign(run.run as object, { started: "now" })),
    changed((run) => Object.assign(run.run as object, { title: 7 })),
    // Moments that no date can tell, and an outcome that a terminal would obey.
    changed((run) => Object.assign(run.run as object, { started: 1e300 })),
    changed((run) => Object.assign(run.run as object, { ended: -9e15 })),
    changed((run) => Object.assign(run.run as object, { status: "\u001b[2J" })),
    changed((run) => (run.events = [{ digest: { type: "x", time: 1e300 }, body: "{}" }])),
    changed((run) => (run.events = [{ digest: { type: "\u001b[2J", time: 1 }, body: "{}" }])),
    changed((run) => (run.events = [{ digest: { type: "x", time: 1 }, body: "{" }])),
    changed((run) => (run.events = { length: 1 })),
    changed((run) => (run.bodies = { a: 1 })),
    changed((run) => (run.below = [null])),
    changed((run) => (run.below = [{ ...sound, below: [] }])),
    changed((run) => (run.below = many)),
    // What lists, figures or the database would stumble over later, for everybody.
    changed((run) => (run.bodies = null)),
    changed((run) => Object.assign(run.run as object, { id: ["top"] })),
    changed((run) => Object.assign(run.run as object, { started: 1e300 })),
    changed((run) => Object.assign(run.run as object, { ended: 0.5 })),
    changed((run) => Object.assign(run.run as object, { status: "\u001b[2J<b>" })),
    changed((run) => Object.assign(run.run as object, { status: "z".repeat(1_000_000) })),
    changed((run) => Object.assign(run.run as object, { model: "m".repeat(1_000_000) })),
    ...[1e300, 9e15, 0.5, null].map((time) =>
      changed((run) => (run.events = [{ digest: { type: "x", time }, body: "{}" }])),
    ),
    ...["\u001b[2J", "", "t".repeat(1_000)].map((type) =>
      changed((run) => (run.events = [{ digest: { type, time: 1 }, body: "{}" }])),
    ),
  ]
  for (const [index, body] of damaged.entries()) {
    const answer = await there.ask("/runs/import", { body: body as object })
    expect(answer.status, `${index}`).toBe(422)
    expect((await answer.json()) as object).toMatchObject({ error: { code: "RUN_UNREADABLE" } })
  }
  expect(await count()).toBe(0)
  await recorded(there.log, "bottom")
  await expect(importRun(there.log, sound)).rejects.toMatchObject({ code: "RUN_EXISTS" })
  expect(await count()).toBe(1)
})
