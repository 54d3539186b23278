import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AgentProfile } from "@toolwright/agents"
import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, type RunEvent } from "@toolwright/toolbox"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createToolwright, type ToolwrightOptions } from "../toolwright.ts"

let folder: string
const servers: Server[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "failing-"))
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

async function run(options: ToolwrightOptions, agent = "assistant"): Promise<RunEvent[]> {
  await using toolwright = await createToolwright({ cwd: folder, workspace: { roots: [folder] }, ...options })
  const events: RunEvent[] = []
  for await (const event of toolwright.run("Do it", { agent })) events.push(event)
  return events
}

const ended = (events: RunEvent[]) => {
  const end = events.at(-1)
  if (end?.type !== "run-end") throw new Error("no end")
  return { ...end.summary, code: end.error?.code, text: `${end.error?.message ?? ""} ${end.error?.hint ?? ""}` }
}

/** A server that answers every request the same way. */
async function answering(status: number, body: string | Uint8Array, type = "application/json"): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { "content-type": type }).end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

test("a wrong key names its setting and never the key", async () => {
  const baseUrl = await answering(401, '{"error":{"message":"Incorrect API key provided: sk-secret-key-1234"}}')
  const end = ended(await run({ model: { name: "m", baseUrl, apiKey: "sk-secret-key-1234" } }))
  expect(end).toMatchObject({ outcome: "failed", code: "MODEL_UNAUTHORIZED" })
  expect(end.text).toContain("TOOLWRIGHT_API_KEY")
  expect(end.text).not.toContain("sk-secret-key-1234")
})

test("a reply that is not UTF-8 is an error and not a guess", async () => {
  const baseUrl = await answering(200, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))
  expect(ended(await run({ model: { name: "m", baseUrl } }))).toMatchObject({
    outcome: "failed",
    code: "MODEL_BAD_REPLY",
  })
})

test("a tool that never returns is stopped at its limit, and the run goes on", async () => {
  const hang = defineTool({
    name: "hang",
    description: "",
    parameters: { type: "object" },
    timeoutMs: 30,
    execute: () => new Promise(() => {}),
  })
  const backend = createScriptedBackend({
    abilities: { nativeTools: true },
    steps: [
      { reply: { calls: [{ name: "hang", arguments: {} }] } },
      { expect: { result: "did not answer within 30 ms" }, reply: "done" },
    ],
  })
  expect(ended(await run({ backend, tools: [hang] }))).toMatchObject({ outcome: "completed-with-failures" })
})

test("a workspace that is read-only is refused to agents that change it, and open to those that read", async () => {
  const steps = [
    {
      expect: { tools: { include: ["file_read"], exclude: ["file_write", "bash"] } },
      reply: { calls: [{ name: "search_find_files", arguments: { pattern: "*" } }] },
    },
    { reply: "TASK_COMPLETE" },
  ]
  const options = {
    backend: createScriptedBackend({ abilities: { nativeTools: true }, steps }),
    workspace: { readOnly: [folder] },
    runs: { database: `${folder}-runs.sqlite` },
  }
  await expect(run(options, "builder")).rejects.toMatchObject({
    code: "WORKSPACE_READ_ONLY",
    hint: expect.stringContaining("review"),
  })
  expect(ended(await run(options, "reviewer"))).toMatchObject({ outcome: "completed" })
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${folder}-runs.sqlite${ending}`, { force: true })
})

test("two runs in one workspace at once: the second is refused, and may begin when the first has ended", async () => {
  const hanging = () => createScriptedBackend({ steps: [{ reply: { text: "a", hang: true } }] })
  await using first = await createToolwright({ cwd: folder, workspace: { roots: [folder] }, backend: hanging() })
  const running = first.run("x", { runId: "the-first" })
  await running.next()
  await expect(run({ backend: hanging() })).rejects.toMatchObject({
    code: "WORKSPACE_BUSY",
    message: expect.stringContaining("the-first"),
  })
  await running.return(undefined as never)
  const done = createScriptedBackend({ steps: [{ reply: "done" }] })
  expect(ended(await run({ backend: done }))).toMatchObject({ success: true })
})

test("a lock that a dead process left behind is taken over", async () => {
  mkdirSync(join(folder, ".toolwright"))
  writeFileSync(join(folder, ".toolwright", "lock.json"), JSON.stringify({ pid: 2 ** 22, runId: "dead" }))
  expect(ended(await run({ backend: createScriptedBackend({ steps: [{ reply: "done" }] }) })).success).toBe(true)
})

test("where there is no git, the tools that need it are not offered, and the prompt says why", async () => {
  const empty = join(folder, "bin")
  mkdirSync(empty)
  chmodSync(empty, 0o755)
  const backend = createScriptedBackend({
    abilities: { nativeTools: true },
    steps: [{ expect: { system: "Not available here: git", tools: { exclude: ["git_status"] } }, reply: "done" }],
  })
  const events = await run({ backend, env: { PATH: empty } })
  expect(events[0]).toMatchObject({ type: "run-start", unavailable: expect.arrayContaining(["git"]) })
  expect(ended(events).success).toBe(true)
})

test("a built-in tool that does not exist is answered with the one that was meant", async () => {
  await expect(run({ builtins: { only: ["serch"] } })).rejects.toMatchObject({
    code: "INVALID_CONFIGURATION",
    hint: "Did you mean 'search'?",
  })
})

test("tools and artifacts that the configuration requires must have been there before a run is completed", async () => {
  const draft = defineTool({
    name: "draft",
    description: "",
    parameters: { type: "object" },
    produces: ["draft"],
    execute: () => "x",
  })
  const steps = [
    { reply: { calls: [{ name: "other", arguments: {} }] } },
    { reply: "done" },
    { reply: { calls: [{ name: "draft", arguments: {} }] } },
    { reply: "done" },
  ]
  const other = defineTool({ name: "other", description: "", parameters: { type: "object" }, execute: () => "x" })
  const events = await run({
    backend: createScriptedBackend({ abilities: { nativeTools: true }, steps }),
    tools: [draft, other],
    agent: { requiredTools: ["draft"], requiredArtifacts: ["draft"] },
  })
  expect(events.find(({ type }) => type === "completion-refused")).toMatchObject({
    reasons: ["the required tool 'draft' has not succeeded yet", "the artifact 'draft' has not been produced yet"],
  })
  expect(ended(events)).toMatchObject({ outcome: "completed" })
})

test.each([
  ["builder", { builtins: { only: ["file"] } }, ["to check its work", "to commit"]],
  ["builder", { builtins: { without: ["git", "bash"] } }, ["to commit"]],
  ["builder", { env: { PATH: "/nowhere" } }, ["to commit", "git (install git)"]],
  ["debugger", { builtins: { only: ["file"] } }, ["to check its work"]],
  ["file-owner", { builtins: { without: ["validation"] } }, ["to check its work"]],
] as const)(
  "a %s that has lost the tools for its work says so and ends, before a model is asked",
  async (name, given, lacks) => {
    const backend = createScriptedBackend({ steps: [] })
    const options = { backend, ...structuredClone(given) } as ToolwrightOptions
    await using toolwright = await createToolwright({ cwd: folder, workspace: { roots: [folder] }, ...options })
    const files = name === "file-owner" ? { files: ["a.py"] } : {}
    const summary = await toolwright.complete("Do it", { agent: name, ...files })
    expect(summary).toMatchObject({ outcome: "failed", success: false, rounds: 0 })
    for (const what of lacks) expect(summary.message).toContain(what)
  },
)

test("tools that an agent names and nobody has registered are said at once, with those that were meant", async () => {
  const agent = (only: string[]): AgentProfile => ({
    name: "own",
    description: "",
    systemPrompt: "",
    tools: { only },
    completion: {},
    changesWorkspace: false,
  })
  const backend = createScriptedBackend({ steps: [{ reply: "done" }, { reply: "done" }] })
  await using toolwright = await createToolwright({
    cwd: folder,
    workspace: { roots: [folder] },
    backend,
    env: { PATH: "/nowhere" },
  })
  await expect(toolwright.complete("Do it", { agent: agent(["file", "serch"]) })).rejects.toMatchObject({
    code: "UNKNOWN_TOOL",
    message: expect.stringContaining(
      "'own' takes only tools that it names, and of these no tool is registered: serch.",
    ),
    hint: "Did you mean search?",
  })
  // One that is there and cannot run is not a mistake: the run says that it is away.
  expect(await toolwright.complete("Do it", { agent: agent(["file", "git"]) })).toMatchObject({ success: true })
  expect(await toolwright.complete("Do it", { agent: agent(["file", "search_grep"]) })).toMatchObject({ success: true })
})

test("permissions.careful asks about what deletes, publishes or runs programs, and a rule may still allow it", async () => {
  writeFileSync(join(folder, "a.txt"), "kept")
  const removed = async (permissions: NonNullable<ToolwrightOptions["permissions"]>): Promise<boolean> => {
    writeFileSync(join(folder, "a.txt"), "kept")
    const steps = [
      { reply: { calls: [{ name: "delete_file", arguments: { path: "a.txt" } }] } },
      { reply: { calls: [{ name: "file_create", arguments: { path: `${Math.random()}.txt`, content: "" } }] } },
      { reply: "done" },
    ]
    const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
    await run({ backend, permissions, builtins: { bash: { sandbox: "auto" } } })
    return !existsSync(join(folder, "a.txt"))
  }
  expect(await removed({})).toBe(true)
  expect(await removed({ careful: true })).toBe(false)
  expect(await removed({ careful: true, allow: ["delete_file"] })).toBe(true)
})
