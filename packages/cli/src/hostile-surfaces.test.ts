import { rmSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import type { JsonObject } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { FOLDERS } from "./testing/hostile-folders.ts"
import { inPlace, leftIn, type Place } from "./testing/hostile-place.ts"
import { startCli } from "./testing/run-cli.ts"
import { here, startHere } from "./testing/run-here.ts"

const { program: sandbox } = await probeBubblewrap()

type Call = readonly [name: string, args: JsonObject]
const LOOK: readonly Call[] = [["list_directory", { path: "." }]]

/** The calls by which the folder is tried at the command line; where there are none its files are listed. */
function callsOf({ commands }: (typeof FOLDERS)[number]): readonly Call[] {
  const calls = commands.flatMap(([command, what, name, , args]) =>
    command === "tools" && what === "call" ? [[name!, JSON.parse(args!) as JsonObject] as const] : [],
  )
  return calls.length === 0 ? LOOK : calls
}

const text = (value: unknown): string => JSON.stringify(value)
const request = (id: number, method: string, params: object): object => ({ jsonrpc: "2.0", id, method, params })

/** The folder served over REST and MCP, looked at as by an overview, asked for all of that, and stopped. */
async function served({ cwd, env }: Place, calls: readonly Call[]): Promise<string> {
  const { stop, until } = startHere(["serve", "--mcp", "--port", "0"], { cwd, env })
  const [, url] = await until(/at (http:\/\/127\.0\.0\.1:\d+)\s/)
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  const ask = async (path: string, body: object): Promise<string> =>
    (await fetch(`${url}${path}`, { method: "POST", headers, body: text(body) })).text()
  const answers: string[] = []
  for (const path of ["/tools", "/openapi.json", "/runs", "/config", "/agents", "/prompts", "/tasks"])
    answers.push(await (await fetch(`${url}${path}`)).text())
  for (const [name, args] of calls) {
    answers.push(await ask(`/tools/${name}`, args))
    answers.push(await ask("/mcp", request(1, "tools/call", { name, arguments: args })))
  }
  expect(answers.join("\n")).toContain("list_directory")
  const { stdout, stderr } = await stop()
  return [...answers, stdout, stderr].join("\n")
}

/** The folder in the console, as far as its page asks by itself. */
async function shown({ cwd, env }: Place): Promise<string> {
  const { stop, until } = startHere(["ui", "--port", "0", "--no-open"], { cwd, env })
  const [, url, code] = await until(/(http:\/\/127\.0\.0\.1:\d+)\/#code=([\w-]+)/)
  const sent = { method: "POST", headers: { "content-type": "application/json" }, body: text({ code }) }
  const { token } = (await (await fetch(`${url}/session`, sent)).json()) as { token: string }
  const headers = { authorization: `Bearer ${token}` }
  const paths = ["/ui/", "/tools", "/runs", "/config", "/agents", "/prompts", "/tasks", "/plans", "/approvals"]
  const pages = await Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`, { headers })).text()))
  expect(pages.join("\n")).toContain("list_directory")
  const { stdout, stderr } = await stop()
  return [...pages, stdout, stderr].join("\n")
}

const SUITE = 'name: s\nagent: assistant\ntasks: { t: { task: Look., graders: [called: { tool: "*" }] } }\n'

/** The commands that start agents there; each comes to some of the folders, and every folder to one of them. */
const WORK: readonly (readonly (readonly string[])[])[] = [
  [["build", "Look around."]],
  [
    ["tasks", "add", "Look around.", "--agent", "assistant"],
    ["work", "--once"],
  ],
  [
    ["run", "Look around."],
    ["undo", "--yes"],
  ],
  [["eval", "run", "../suite.yaml"]],
]
const ASKING_A_MODEL = new Set(["build", "work", "run", "eval"])

/** Agents that are given something to do there, and whose model calls all of that. */
async function worked(place: Place, calls: readonly Call[], commands: readonly (readonly string[])[]): Promise<string> {
  const backend = createScriptedBackend({
    steps: [
      { reply: { calls: calls.map(([name, args]) => ({ name, arguments: args })) } },
      // Whoever asks once more is told that it is done.
      { repeat: "always" as const, reply: "Done. TASK_COMPLETE" },
    ],
    abilities: { nativeTools: true },
  })
  const server = await serveBackend(backend)
  const model = ["--base-url", server.baseUrl, "--model", "m", "--max-rounds", "8"]
  place.put({ "../suite.yaml": SUITE })
  const said: string[] = []
  try {
    for (const args of commands) {
      const more = ASKING_A_MODEL.has(args[0]!) ? model : []
      const { stdout, stderr } = await here([...args, ...more], { cwd: place.cwd, env: place.env })
      expect(stderr, args.join(" ")).not.toMatch(/Unknown option|is no command/)
      said.push(stdout, stderr)
    }
  } finally {
    await server.close()
  }
  expect(backend.requests.length, said.join("\n")).toBeGreaterThan(0)
  return said.join("\n")
}

/** The folder as a host of MCP starts it over standard input and output. */
async function hosted({ cwd, env }: Place, calls: readonly Call[]): Promise<string> {
  const who = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "host", version: "1" } }
  const lines = [
    request(1, "initialize", who),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    request(2, "tools/list", {}),
    ...calls.map(([name, args], at) => request(at + 3, "tools/call", { name, arguments: args })),
  ]
  const stdin = lines.map((line) => `${text(line)}\n`).join("")
  const { child, finished, until } = startCli(["mcp"], { cwd, env, stdin, keepOpen: true })
  for (const line of lines) if ("id" in line) await until(new RegExp(`"id":${String(line.id)}[,}]`))
  child.stdin!.end()
  const { stdout, stderr } = await finished
  return stdout + stderr
}

/** Each is a process of its own: folders that would do their harm at its start, or hold it up. */
const HOSTED = /server of tools|module of tools|links in the places of state|pipes and devices/

describe.skipIf(process.platform === "win32")("a folder from elsewhere", () => {
  test.each(FOLDERS.map((folder, at) => [folder.name, folder, WORK[at % WORK.length]!] as const))(
    "with %s gets nothing from those who serve it, show it and work in it",
    async (_, folder, commands) => {
      if (folder.needs === "sandbox" && sandbox === undefined) return
      const calls = callsOf(folder)
      const uses: readonly ((place: Place) => Promise<string>)[] = [
        (place) => served(place, calls),
        shown,
        (place) => worked(place, calls, commands),
        ...(HOSTED.test(folder.name) ? [(place: Place) => hosted(place, calls)] : []),
      ]
      await inPlace(folder, async (place) => {
        // One that no command reads lets none of them begin: of that folder the rest is tried.
        if (folder.name.includes("YAML")) rmSync(join(place.cwd, "toolwright.yaml"))
        for (const use of uses) {
          const words = await use(place)
          expect(folder.caught(place, words), words).toBe(false)
          expect(words).not.toMatch(/^ +at .*:\d+:\d+/m)
        }
        await expect.poll(() => leftIn(place), { timeout: 5000 }).toEqual([])
      })
    },
  )
})
