import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { createScriptedBackend } from "@toolwright/backends"
import { createToolwright } from "@toolwright/runtime"
import { verifyRun } from "@toolwright/store"
import { expect, test } from "vitest"
import { serveToolwright } from "../service/serve-toolwright.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

test("every surface leaves a record: a run, calls by hand, over REST and over MCP, and a conversation", async () => {
  const cwd = folderWith({ "a.txt": "hello\n" })
  const env = { XDG_STATE_HOME: folderWith() }
  const steps = [{ reply: "Done." }, { reply: "Hello." }]
  const written = { path: "b.txt", content: "by hand" }
  expect(await here(["tools", "call", "write_file", "--args", JSON.stringify(written)], { cwd, env })).toMatchObject({
    code: 0,
  })
  await using toolwright = await createToolwright({
    backend: createScriptedBackend({ abilities: { nativeTools: true }, steps }),
    model: { name: "m", baseUrl: "http://127.0.0.1:9/v1" },
    builtins: {},
    workspace: { roots: [cwd] },
    cwd,
    env,
  })
  await toolwright.complete("Say done", { surface: "run" })
  await using served = await serveToolwright(toolwright, { port: 0, mcp: true })
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
    const response = await fetch(served.url + path, { method: "POST", headers, body: JSON.stringify(body) })
    return response.text()
  }
  expect(await post("/tools/read_text_file", { path: "a.txt" })).toContain("hello")
  expect(await post("/tools/read_text_file", { path: "nowhere.txt" })).toContain("nowhere.txt")
  const params = { name: "echo", arguments: { message: "over mcp" } }
  expect(await post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })).toContain("over mcp")
  await post("/v1/chat/completions", { model: "toolwright/assistant", messages: [{ role: "user", content: "hi" }] })

  const runs = (await toolwright.runs()).toReversed()
  expect(runs.map(({ surface, status }) => [surface, status])).toEqual([
    ["tools", "completed"],
    ["run", "completed"],
    ["http", "completed"],
    ["http", "failed"],
    ["mcp", "completed"],
    ["gateway", "completed"],
  ])
  expect((await toolwright.runs({ calls: false })).map(({ surface }) => surface)).toEqual(["gateway", "run"])
  const byHand = await toolwright.readRun(runs[0]!.runId)
  expect(byHand.events.map(({ type }) => type)).toEqual(["tool-start", "effect-start", "tool-end", "run-end"])
  expect(byHand.events[0]).toMatchObject({ name: "write_file", arguments: written })
  expect(byHand.events[2]).toMatchObject({
    result: { success: true, modifiedFiles: [expect.stringContaining("b.txt")] },
  })
  const overMcp = await toolwright.readRun(runs[4]!.runId)
  expect(overMcp.events[0]).toMatchObject({ arguments: { message: "over mcp" } })
  const { database } = await toolwright.log.open()
  for (const { runId } of runs) expect((await verifyRun(database, runId)).broken).toBeUndefined()
})

test("what is called where every folder is read-only is on record outside of it, and found by who names the same folders", async () => {
  const cwd = folderWith({ "a.txt": "hello\n" })
  const at = { cwd, env: { XDG_STATE_HOME: folderWith() } }
  expect(await here(["tools", "call", "echo", "--message", "hi", "--read-only", "."], at)).toMatchObject({ code: 0 })
  expect((await here(["runs", "--calls", "--read-only", "."], at)).stdout).toContain("call over tools: echo")
  expect((await here(["runs", "--calls"], at)).stdout).not.toContain("echo")
  expect((await here(["runs", "--agent", "nobody"], at)).stdout).toContain("No runs of 'nobody' are recorded in")
})

test("what an event holds is erased for good, and the record still proves that it was there", async () => {
  const cwd = folderWith({ "a.txt": "a secret\n" })
  const env = { XDG_STATE_HOME: folderWith() }
  const cli = (...args: string[]) => here(args, { cwd, env })
  await cli("tools", "call", "read_text_file", "--path", "a.txt")
  expect((await cli("runs", "show", "latest", "--json")).stdout).toContain("a secret")

  expect(await cli("audit", "erase", "latest")).toMatchObject({ code: 2 })
  expect(await cli("audit", "erase", "latest", "2")).toMatchObject({
    code: 0,
    stdout: "Erased from 1 event: it cannot be had back.\n",
  })

  expect((await cli("runs", "show", "latest", "--json")).stdout).not.toContain("a secret")
  expect((await cli("runs", "show", "latest")).stdout).toMatch(/^ +2 {2}tool-end: erased$/m)
  expect((await cli("db", "export")).stdout).not.toContain("a secret")
  expect((await cli("audit", "verify", "latest")).stdout).toContain("1 erased")
  expect(await cli("audit", "erase", "latest", "2")).toMatchObject({ code: 1 })
  const state = join(cwd, ".toolwright")
  for (const name of readdirSync(state).filter((each) => each.startsWith("state.sqlite")))
    expect(readFileSync(join(state, name)).includes("a secret"), name).toBe(false)
})

test("a record that was altered is found by its run, and among all of them, with the exit code 1", async () => {
  const cwd = folderWith({ "a.txt": "a\n" })
  const env = { XDG_STATE_HOME: folderWith() }
  const cli = (...args: string[]) => here(args, { cwd, env })
  const id = async (): Promise<string> => {
    await cli("tools", "call", "read_text_file", "--path", "a.txt")
    return (JSON.parse((await cli("runs", "--calls", "--json")).stdout) as { runId: string }[])[0]!.runId
  }
  const altered = await id()
  const whole = await id()
  expect(await cli("audit", "verify")).toMatchObject({ code: 0, stdout: "2 checked, 0 not as written.\n" })
  const database = new DatabaseSync(join(cwd, ".toolwright/state.sqlite"))
  database.prepare("UPDATE run_events SET salt = NULL, body = NULL WHERE run = ? AND seq = 2").run(altered)
  database.close()
  const all = await cli("audit", "verify")
  expect([all.code, all.stdout]).toEqual([1, expect.stringContaining(altered)])
  expect(all.stdout).not.toContain(whole)
  expect((await cli("audit", "verify", altered)).code).toBe(1)
  expect((await cli("audit", "verify", whole)).code).toBe(0)
})
