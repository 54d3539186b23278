import { existsSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const PLAY = { "play.yaml": "steps: [{ reply: Done., repeat: always }]\n" }

test.each<[string, string[], string]>([
  ["run", ["run", "hi", "--screenplay", "play.yaml"], ""],
  ["chat", ["chat", "--screenplay", "play.yaml"], "hi\n"],
  ["tools", ["tools", "call", "echo", "--message", "hi"], ""],
])("%s keeps a record, and none with --no-record", async (_, args, stdin) => {
  for (const [more, kept] of [
    [["--no-record"], false],
    [[], true],
  ] as const) {
    const cwd = folderWith(PLAY)
    expect(await here([...args, ...more], { cwd, stdin })).toMatchObject({ code: 0 })
    expect(existsSync(join(cwd, ".toolwright/state.sqlite"))).toBe(kept)
  }
})

test("run --no-tools offers the model no tool", async () => {
  const cwd = folderWith()
  const backend = createScriptedBackend({
    model: "m",
    abilities: { nativeTools: true },
    steps: [{ repeat: "always", reply: "Done." }],
  })
  await using model = await serveBackend(backend)
  const line = ["run", "hi", "--model", "m", "--base-url", model.baseUrl]
  for (const [more, offered] of [
    [["--no-tools"], false],
    [[], true],
  ] as const) {
    expect((await here([...line, ...more], { cwd })).code).toBe(0)
    const sent = backend.requests.at(-1)!
    expect((sent.tools ?? []).length > 0).toBe(offered)
  }
})

test("tools of a kind are all there is, or all but some, or none", async () => {
  const cwd = folderWith()
  const names = async (...args: string[]) => {
    const { stdout } = await here(["tools", "list", "--json", ...args], { cwd })
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
  }
  const all = await names()
  expect(await names("--only-tools", "echo", "--only-tools", "bash")).toEqual(
    all.filter((name) => name === "echo" || name === "bash"),
  )
  expect(await names("--without-tools", "echo")).toEqual(all.filter((name) => name !== "echo"))
  expect(await names("--no-builtins")).toEqual([])
})

test("tasks lists those of an agent, a parent, a state or a plan alone, and with --watch goes on until all have ended", async () => {
  const cwd = folderWith({
    ...PLAY,
    "plan.yaml": "name: p\ntasks: { one: { agent: assistant, task: say so } }\n",
  })
  const line = ["--screenplay", "play.yaml"]
  const add = async (...args: string[]) =>
    (await here(["tasks", "add", ...args], { cwd })).stdout.trim().split(/\s/)[0]!
  const parent = await add("ask", "--agent", "reviewer")
  const child = await add("be asked", "--parent", parent)
  const cancelled = await add("no")
  await here(["tasks", "cancel", cancelled], { cwd })
  await here(["plan", "run", "plan.yaml", ...line], { cwd })
  const listed = async (...args: string[]) =>
    (JSON.parse((await here(["tasks", "--json", ...args], { cwd })).stdout) as { id: string; plan?: string }[]).map(
      ({ id, plan }) => (plan === undefined ? id : plan),
    )
  const all = await listed()
  expect(all).toHaveLength(4)
  const plan = all.find((id) => ![parent, child, cancelled].includes(id))!
  expect(await listed("--agent", "reviewer")).toEqual([parent])
  expect(await listed("--parent", parent)).toEqual([child])
  expect(await listed("--state", "cancelled")).toEqual([cancelled])
  expect(await listed("--plan", plan)).toEqual([plan])
  const watching = startCli(["tasks", "--watch"], { cwd })
  await watching.until(/queued/)
  await here(["work", "--once", ...line], { cwd })
  expect((await watching.finished).stdout).toMatch(/queued[^]*done/)
})

test("serve takes any free port, makes its token's file, and writes a line for each request unless it is quiet", async () => {
  const cwd = folderWith()
  for (const [more, lines] of [
    [[], 2],
    [["--quiet"], 0],
  ] as const) {
    const { until, stop } = startHere(["serve", "--port", "0", "--token-file", "token", ...more], { cwd })
    const [, url] = await until(/Serving \d+ tools at (http:\S+:[1-9]\d*)/)
    const token = readFileSync(join(cwd, "token"), "utf8").trim()
    expect(token.length).toBeGreaterThan(20)
    expect(statSync(join(cwd, "token")).mode & 0o077).toBe(0)
    const headers = { authorization: `Bearer ${token}` }
    expect([(await fetch(`${url}/tools`)).status, (await fetch(`${url}/tools`, { headers })).status]).toEqual([
      401, 200,
    ])
    const { stderr } = await stop()
    expect(stderr.split("\n").filter((line) => line.includes('"path":"/tools"'))).toHaveLength(lines)
  }
})

test("serve listens on port 8001 unless told otherwise", async () => {
  const other = createServer()
  // Where somebody else holds it already, that is as well.
  await new Promise<void>((resolve) => other.once("error", () => resolve()).listen(8001, "127.0.0.1", () => resolve()))
  onTestFinished(() => void other.close())
  const { code, stderr } = await here(["serve"], { cwd: folderWith() })
  expect({ code, stderr }).toEqual({ code: expect.any(Number), stderr: expect.stringContaining("8001") })
  expect(code).not.toBe(0)
})
