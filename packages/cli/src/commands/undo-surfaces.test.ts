import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { HttpMCPClient, StdioMCPClient } from "@toolwright/mcp"
import { changeHistory, createToolwright, loadConfiguration } from "@toolwright/runtime"
import { expect, onTestFinished, test } from "vitest"
import { BUILT, folderWith, startCli, stateOfTests } from "../testing/run-cli.ts"
import { serveToolwright } from "../service/serve-toolwright.ts"
import { here } from "../testing/run-here.ts"

const context = { signal: new AbortController().signal, progress: () => {} }
const TOKEN = "t-123456"
const textOf = (cwd: string, path: string): string => readFileSync(join(cwd, path), "utf8")

interface Listed {
  readonly id: string
  readonly calls: readonly { readonly id: string; readonly tool: string }[]
}

test("the calls of every caller are taken back one by one, and no other's with them", async () => {
  const files = ["rest", "mcp-http", "mcp-stdio", "by-hand"]
  const cwd = folderWith(Object.fromEntries(files.map((name) => [`${name}.txt`, "before\n"])))
  const write = (name: string) => ({ path: `${name}.txt`, content: `${name}\n` })
  const server = startCli(["serve", "--mcp", "--port", "0", "--quiet", "--token", TOKEN], { cwd })
  onTestFinished(async () => {
    server.child.kill("SIGTERM")
    await server.finished
  })
  const [, url] = await server.until(/(http:\S+)\/mcp +for MCP hosts/)
  const authorization = `Bearer ${TOKEN}`
  await fetch(`${url}/tools/write_file`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: JSON.stringify(write("rest")),
  })
  const http = await HttpMCPClient.create({ name: "http", url: `${url}/mcp`, headers: { authorization } })
  await http.callTool("write_file", write("mcp-http"), context)
  await http.close()
  // Longer than a busy machine takes to start it.
  const args = [BUILT, "mcp"]
  const command = { command: process.execPath, args, cwd, env: stateOfTests(), connectTimeoutMs: 120_000 }
  await using stdio = await StdioMCPClient.create({ name: "stdio", ...command })
  await stdio.callTool("write_file", write("mcp-stdio"), context)
  await here(["tools", "call", "write_file", "--args", JSON.stringify(write("by-hand"))], { cwd })

  const contents = () => files.map((name) => textOf(cwd, `${name}.txt`).trim())
  expect(contents()).toEqual(files)
  const items = JSON.parse((await here(["undo", "list", "--json"], { cwd })).stdout) as Listed[]
  expect(items.map(({ calls }) => calls.map(({ tool }) => tool))).toEqual(files.map(() => ["write_file"]))
  const inTurn = items.toReversed()
  for (const at of [1, 3, 0, 2]) {
    const before = contents()
    expect((await here(["undo", inTurn[at]!.id, "--yes"], { cwd })).code).toBe(0)
    expect(contents()).toEqual(before.with(at, "before"))
  }
})

test("what was taken back stands in the log: who did it, what, and what came of it, and it is undone in turn", async () => {
  const cwd = folderWith({ "a.txt": "one\n", "b.txt": "one\n" })
  const call = (name: string, args: object) => here(["tools", "call", name, "--args", JSON.stringify(args)], { cwd })
  const runs = async () =>
    JSON.parse((await here(["runs", "--calls", "--json"], { cwd })).stdout) as Record<string, string>[]
  await call("bash", { command: "echo two > a.txt; echo two > b.txt" })
  const [made] = await runs()
  expect((await here(["runs", "show", made!.runId!], { cwd })).stdout).toContain(`toolwright undo ${made!.runId}`)
  await call("write_file", { path: "b.txt", content: "three\n" })

  const done = await here(["undo", made!.runId!, "--yes"], { cwd })
  expect(done.code).toBe(1)
  expect([textOf(cwd, "a.txt"), textOf(cwd, "b.txt")]).toEqual(["one\n", "three\n"])
  const [record] = await runs()
  expect(record).toMatchObject({ surface: "undo", task: `undo ${made!.runId}`, status: "completed-with-failures" })
  const events = (await here(["runs", "show", record!.runId!, "--json"], { cwd })).stdout.trim().split("\n")
  expect(events.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { type: "undo-start", of: made!.runId, by: userInfo().username, paths: [join(cwd, "a.txt")] },
    {
      type: "undo-end",
      restored: [join(cwd, "a.txt")],
      refused: [{ path: join(cwd, "b.txt"), reason: expect.stringContaining("changed it since") as string }],
    },
    { type: "run-end" },
  ])
  const shown = (await here(["runs", "show", made!.runId!], { cwd })).stdout
  expect(shown).toMatch(new RegExp(`taken back by \\S+ at \\S+ \\(completed-with-failures\\): .*show ${record!.runId}`))
  expect(shown).not.toContain("take it back with")

  const again = await here(["undo", record!.runId!, "--yes"], { cwd })
  expect(again).toMatchObject({ code: 0 })
  expect([textOf(cwd, "a.txt"), textOf(cwd, "b.txt")]).toEqual(["two\n", "three\n"])
  expect((await here(["runs", "show", record!.runId!], { cwd })).stdout).toContain("taken back by")
  expect(await here(["audit", "verify"], { cwd })).toMatchObject({ code: 0 })
})

test("over HTTP whoever has a token takes back what a run changed, by name, and nobody without one", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  await using toolwright = await createToolwright({ cwd, withBuiltins: true })
  await toolwright.executeCall("tools")(toolwright.registry, {
    name: "write_file",
    arguments: { path: "a.txt", content: "two\n" },
  })
  const [{ runId } = { runId: "" }] = await toolwright.runs()
  const answers = async (tokens: { token: string; name?: string }[], init: RequestInit) => {
    const served = await serveToolwright(toolwright, { port: 0, ...(tokens.length === 0 ? {} : { tokens }) })
    onTestFinished(() => served.close())
    const answer = await fetch(`${served.url}/runs/${runId}/undo`, { method: "POST", ...init })
    const detail = await fetch(
      `${served.url}/runs/${runId}`,
      init.headers === undefined ? {} : { headers: init.headers },
    )
    const list = await fetch(`${served.url}/runs`, init.headers === undefined ? {} : { headers: init.headers })
    return {
      status: answer.status,
      body: (await answer.json()) as unknown,
      detail: (await detail.json()) as unknown,
      list: (await list.json()) as unknown,
    }
  }
  expect((await answers([], {})).status).toBe(401)
  expect(textOf(cwd, "a.txt")).toBe("two\n")
  const asked = await answers([{ token: "long-enough" }], { headers: { authorization: "Bearer long-enough" } })
  expect(asked).toMatchObject({ status: 200, body: { restored: [join(cwd, "a.txt")], refused: [] } })
  expect(asked.list).toMatchObject({ runs: [{ about: runId }, { id: runId }] })
  expect(asked.detail).toMatchObject({ undone: [{ status: "completed" }], changed: 1 })
  expect(textOf(cwd, "a.txt")).toBe("one\n")
  await expect(toolwright.undo(runId)).resolves.toMatchObject({ restored: [] })
  await expect(toolwright.undo("nothing")).rejects.toMatchObject({
    code: "UNKNOWN_CHANGE",
    hint: expect.stringContaining("What was committed stays: git takes that back") as string,
  })
})

test("changes are taken back also where no record of it can be left, and that is said", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "two\n"], { cwd })
  writeFileSync(join(cwd, ".toolwright/state.sqlite"), "this is no database, as after a disk that failed")
  const done = await here(["undo", "--yes"], { cwd })
  expect(textOf(cwd, "a.txt")).toBe("one\n")
  expect(done.stderr).toContain("No record of this could be left")
})

test("a program gets the same history: it lists, shows and takes back", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "two\n"], { cwd })
  const { configuration } = await loadConfiguration({ cwd, env: process.env })
  const history = (await changeHistory(configuration, cwd))!
  const [item] = await history.list()
  expect(item).toMatchObject({ tools: ["write_file"], state: "in effect" })
  expect((await history.plan(item!.id)).described[0]!.diff).toContain("+one")
  expect(textOf(cwd, "a.txt")).toBe("two\n")
  await history.undo(item!.id)
  expect(textOf(cwd, "a.txt")).toBe("one\n")
})

test("where it is switched off nothing is kept", async () => {
  const cwd = folderWith({ "a.txt": "one\n", "toolwright.yaml": "undo: { enabled: false }\n" })
  const env = { TOOLWRIGHT_TRUST: "1" }
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "two\n"], { cwd, env })
  await here(["tools", "call", "bash", "--command", "echo three > a.txt"], { cwd, env })
  expect(textOf(cwd, "a.txt")).toBe("three\n")
  const kept = join(cwd, ".toolwright/undo")
  expect(existsSync(kept) ? readdirSync(kept) : []).toEqual([])
  expect(await here(["undo", "--yes"], { cwd, env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("undo.enabled") as string,
  })
  expect(textOf(cwd, "a.txt")).toBe("three\n")
})
