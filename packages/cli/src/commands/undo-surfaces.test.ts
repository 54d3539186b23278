import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { HttpMCPClient, StdioMCPClient } from "@toolwright/mcp"
import { changeHistory, loadConfiguration } from "@toolwright/runtime"
import { expect, onTestFinished, test } from "vitest"
import { BIN, folderWith, startCli } from "../testing/run-cli.ts"
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
  const command = { command: process.execPath, args: [BIN, "mcp"], cwd }
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
