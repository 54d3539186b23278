import { openDatabase, putQuestion, runLog } from "@toolwright/store"
import { ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { approvalRoutes, createApp, openApiDocument } from "../index.ts"

test("questions are listed and answered once, by whoever holds a token for everything", async () => {
  await using database = await openDatabase(":memory:")
  const log = runLog(database)
  for (const [run, id] of [
    ["r1", "aaaa"],
    ["r2", "bbbb"],
    ["r3", "cccc"],
  ] as const) {
    const head = { agent: "a", model: "m", title: "t", surface: "run", holder: "h", time: 1 }
    const askedBy = run === "r2" ? { askedBy: { run: "r1", call: "c", key: "k" } } : {}
    const writer = await log.begin({ id: run, ...head, ...askedBy })
    const time = Date.now()
    await putQuestion(database.execute, {
      id,
      run,
      callIndex: 1,
      tool: "bash",
      argumentsHash: "h",
      policy: "p",
      arguments: '{"command":"ls"}',
      question: "May it?",
      time: id === "bbbb" ? 1 : time,
      expiresAt: id === "bbbb" ? 2 : time + 60_000,
    })
    if (run === "r3") await writer.end([], { outcome: "cancelled", summary: "{}", time })
  }
  const tools = new ToolRegistry()
  const app = createApp(
    { tools, tokens: [{ token: "whole-token" }, { token: "narrow-token", tags: ["x"] }] },
    (application) => approvalRoutes(application, async () => database),
  )
  const ask = async (method: string, path: string, body?: object, token = "whole-token") => {
    const headers = { host: "localhost", "content-type": "application/json", authorization: `Bearer ${token}` }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await app.request(`http://localhost${path}`, { method, headers, ...sent })
    return { status: response.status, json: (await response.json()) as unknown }
  }
  expect((await ask("GET", "/approvals", undefined, "wrong")).status).toBe(401)
  expect((await ask("POST", "/approvals/aaaa", { allow: true }, "narrow-token")).status).toBe(403)
  expect((await ask("GET", "/approvals")).json).toMatchObject([
    { id: "aaaa", run: "r1", tool: "bash", arguments: { command: "ls" }, state: "pending" },
  ])
  expect((await ask("POST", "/approvals/aaaa", { allow: "yes" })).status).toBe(422)
  expect((await ask("POST", "/approvals/zzzz", { allow: true })).status).toBe(404)
  expect((await ask("POST", "/approvals/aaaa", { allow: false, note: "no" })).json).toMatchObject({
    state: "denied",
    note: "no",
  })
  for (const id of ["aaaa", "bbbb", "cccc"])
    expect((await ask("POST", `/approvals/${id}`, { allow: true })).status).toBe(409)
  const states = ((await ask("GET", "/approvals?state=all")).json as { id: string; state: string }[]).map(
    ({ id, state }) => `${id} ${state}`,
  )
  const above = ((await ask("GET", "/approvals?state=all")).json as { id: string; above: string[] }[]).map(
    ({ id, above: runs }) => [id, ...runs],
  )
  expect(above.toSorted()).toEqual([["aaaa"], ["bbbb", "r1"], ["cccc"]])
  expect(states.toSorted()).toEqual(["aaaa denied", "bbbb expired", "cccc cancelled"])
  // A host makes a tool of each operation: a model must not permit its own calls.
  expect(JSON.stringify(openApiDocument([], { url: "http://x", secured: true }))).not.toContain("approvals")
})
