import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, expect, onTestFinished, test, vi } from "vitest"
import { loadConfiguration } from "../configuration/load.ts"
import { createToolwright } from "../toolwright.ts"

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "sources-")))
  mkdirSync(join(home, "project/deep"), { recursive: true })
  return () => rmSync(home, { recursive: true, force: true })
})

/** What `./server` is started, where a command is given in the folder below; the server answers nobody. */
async function startedFrom(file: Record<string, string>, flags: Record<string, string[]> = {}): Promise<string> {
  const [project, deep] = [join(home, "project"), join(home, "project/deep")]
  for (const [name, text] of Object.entries(file)) writeFileSync(join(project, name), text)
  const marker = join(home, "started")
  for (const folder of [project, deep])
    writeFileSync(join(folder, "server"), `echo ${folder} > ${marker}\nexit 0\n`, { mode: 0o755 })
  const env = { PATH: process.env.PATH, XDG_STATE_HOME: join(home, "state"), TOOLWRIGHT_TRUST: "1" }
  const { configuration } = await loadConfiguration({ cwd: deep, env, flags })
  const made = createToolwright({ ...configuration, cwd: deep, env, log: () => {} })
  await made.then((toolwright) => toolwright.close()).catch(() => {})
  return existsSync(marker) ? readFileSync(marker, "utf8").trim() : "nothing"
}

test.each([
  ["mcp.connect", { "toolwright.yaml": "mcp: { connect: ['sh ./server'] }\n" }],
  ["mcp.servers", { "toolwright.yaml": "mcp: { servers: { a: { command: sh, args: [./server] } } }\n" }],
  [
    "mcp.file",
    {
      "toolwright.yaml": "mcp: { file: mcp.json }\n",
      "mcp.json": '{"mcpServers":{"a":{"command":"sh","args":["./server"]}}}',
    },
  ],
])(
  "a server of %s of a trusted file above starts in that file's folder, not in the one that nobody trusted",
  async (_, file) => {
    expect(await startedFrom(file)).toBe(join(home, "project"))
  },
)

test("a server of mcp.folder starts there, and one that a person names where they are", async () => {
  const folder = "mcp: { connect: ['sh ./server'], folder: deep }\n"
  expect(await startedFrom({ "toolwright.yaml": folder })).toBe(join(home, "project/deep"))
  expect(await startedFrom({ "toolwright.yaml": "" }, { "mcp-server": ["sh ./server"] })).toBe(
    join(home, "project/deep"),
  )
})

test.each([
  ["connect", { connect: ["sh ./server"] }],
  ["servers", { servers: { a: { command: "sh", args: ["./server"] } } }],
  ["servers, with a folder of its own", { servers: { a: { command: "sh", args: ["../server"], cwd: "deep" } } }],
])("a server of %s that code names starts below the folder that relative paths start from", async (_, mcp) => {
  const [project, marker] = [join(home, "project"), join(home, "started")]
  writeFileSync(join(project, "server"), `pwd > ${marker}\nexit 0\n`)
  const env = { PATH: process.env.PATH, XDG_STATE_HOME: join(home, "state") }
  await createToolwright({ cwd: project, mcp, env, log: () => {} })
    .then((toolwright) => toolwright.close())
    .catch(() => {})
  const { cwd: own = "." } = "servers" in mcp ? (mcp.servers.a as { cwd?: string }) : {}
  expect(readFileSync(marker, "utf8").trim()).toBe(join(project, own))
})

test("a service that was away at the start is called away no more once it answers", async () => {
  const tool = { name: "weather", description: "Says the weather", parameters: { type: "object" }, tags: [] }
  const service = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify([tool]))
  })
  const listen = async (port: number): Promise<number> => {
    await new Promise<void>((resolve) => service.listen(port, "127.0.0.1", resolve))
    return (service.address() as AddressInfo).port
  }
  const port = await listen(0)
  await new Promise((resolve) => service.close(resolve))
  await using toolwright = await createToolwright({
    cwd: home,
    sources: { rest: { weather: `http://127.0.0.1:${port}` } },
    env: { XDG_STATE_HOME: join(home, "state") },
  })
  expect(toolwright.unavailable).toEqual([{ name: "weather", reason: expect.stringContaining("does not answer") }])
  await listen(port)
  onTestFinished(() => void service.close())
  await vi.waitFor(() => expect(toolwright.registry.list().map(({ name }) => name)).toEqual(["weather"]), 20_000)
  expect(toolwright.unavailable).toEqual([])
})
