import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createScriptedBackend, serveBackend, type ScreenplayStep } from "@toolwright/backends"
import type { RunEvent } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test } from "vitest"
import { cli, folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const GREP = `model: qwen2.5
abilities: { nativeTools: false }
steps:
  - expect: { user: "{{TASK}}" }
    reply:
      text: |-
        I look.
        <tool_call>
        {"name": "search_grep", "arguments": {"pattern": "TODO"}}
        </tool_call>
      interpolate: false
  - expect: { result: a.txt }
    reply: There is one in a.txt.
`
const play = (task: string) => GREP.replace("{{TASK}}", task)
const files = { "a.txt": "TODO: tidy\n", "play.yaml": play("where") }

/** Events of the lines that --json prints. */
const eventsOf = (stdout: string): RunEvent[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEvent)

async function serve(steps: ScreenplayStep[], options: { apiKey?: string } = {}): Promise<string> {
  const server = await serveBackend(createScriptedBackend({ model: "m", steps }), options)
  onTestFinished(server.close)
  return server.baseUrl
}

describe("toolwright run", () => {
  test.each([[["--read-only", "."]], [["--database", "else where.sqlite"]]])(
    "names a command that shows its record, wherever that lies: %s",
    async (options) => {
      const cwd = folderWith(files)
      const env = { XDG_STATE_HOME: join(cwd, "state") }
      const { stdout } = await here(["run", "where is a TODO?", "--screenplay", "play.yaml", ...options], { cwd, env })
      const [, id = "", file = ""] = /toolwright runs show (\S+) --database (.+)$/m.exec(stdout) ?? []
      const shown = await here(["runs", "show", id, "--database", file.replace(/^'|'$/g, "")], { cwd, env })
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("There is one in a.txt") as string })
    },
  )

  test("shows rounds, calls, answer and summary as plain lines, and leaves a record", async () => {
    const cwd = folderWith(files)
    const { code, stdout, stderr } = await cli(["run", "where is a TODO?", "--screenplay", "play.yaml"], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).not.toContain("\u001b")
    expect(stdout).toMatch(
      /^assistant with qwen2.5 [^]*round 1\/20\n {2}I look\.\n {2}ok {5}search_grep pattern=TODO[^]*round 2\/20\n {2}There is one in a\.txt\.\ndone\n2 rounds, 1 call, /,
    )
    const [, id] = /^record: toolwright runs show ([\w-]+)$/m.exec(stdout)!
    const list = await here(["runs"], { cwd })
    expect(list.stdout).toMatch(new RegExp(`^${id} {2}completed .* assistant: where is a TODO\\?\n$`))
    const shown = await here(["runs", "show", id!.slice(0, 18)], { cwd })
    expect(shown.stdout).toMatch(/^ +2 {2}round 1\/20\n +\d+ {4}I look\.\n +\d+ {4}ok {5}search_grep pattern=TODO/m)
    const written = await here(["runs", "files", id!], { cwd })
    expect(readdirSync(written.stdout.trim()).slice(0, 3)).toEqual([
      "001-prompt.md",
      "002-response.md",
      "003-tool-calls.json",
    ])
    expect((await here(["runs", "show", "latest", "--full"], { cwd })).stdout).toContain("── 003-tool-calls.json")
    expect(eventsOf((await here(["runs", "show", "latest", "--json"], { cwd })).stdout).at(-1)).toMatchObject({
      type: "run-end",
    })
    expect(JSON.parse((await here(["runs", "--json"], { cwd })).stdout)).toMatchObject([
      { runId: id, status: "completed" },
    ])
    expect(await here(["runs", "show", "nope"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no run 'nope'"),
    })
  })

  test("takes the task from an option or from standard input, and prints events as JSON lines", async () => {
    const cwd = folderWith(files)
    const [option, input] = await Promise.all([
      here(["run", "--description", "where?", "--screenplay", "play.yaml", "--json", "--no-record"], { cwd }),
      cli(["run", "-", "--screenplay", "play.yaml", "--json", "--no-record", "--agent", "triager"], {
        cwd: folderWith(files),
        stdin: "where?\n",
      }),
    ])
    expect(option.code).toBe(0)
    const events = eventsOf(option.stdout)
    expect(events[0]).toMatchObject({ type: "run-start", task: "where?", agent: "assistant" })
    expect(events.find((event) => event.type === "request")).not.toHaveProperty("messages")
    expect(events.at(-1)).toMatchObject({ type: "run-end", summary: { success: true } })
    expect(eventsOf(input.stdout)[0]).toMatchObject({ task: "where?", agent: "triager" })
    expect((await here(["runs"], { cwd })).stdout).toContain("No runs are recorded")
  })

  test("leaves nothing behind where it only looks", async () => {
    const cwd = folderWith({ "a.txt": "TODO\n" })
    for (const args of [["runs"], ["tools"], ["config"]]) expect((await here(args, { cwd })).code).toBe(0)
    expect(readdirSync(cwd)).toEqual(["a.txt"])
  })

  test("saves what the model said as a screenplay that plays the same run again", async () => {
    const cwd = folderWith(files)
    await here(["run", "where?", "--screenplay", "play.yaml", "--save-screenplay", "saved.yaml"], { cwd })
    expect(readFileSync(join(cwd, "saved.yaml"), "utf8")).toContain("name: where?")
    const again = await here(["run", "where?", "--screenplay", "saved.yaml"], { cwd })
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("  There is one in a.txt.\ndone\n") })
  })

  test("ends with 1 when the task was not done, and says why", async () => {
    const cwd = folderWith({ "play.yaml": 'steps: [{ reply: "Sure.", repeat: always }]\n' })
    const { code, stdout } = await here(["build", "--description", "fix add()", "--screenplay", "play.yaml"], { cwd })
    expect(code).toBe(1)
    expect(stdout).toContain("LLM did not use tools as expected")
  })

  test.each([
    ["Change the minus into a plus.", 0, "answered without doing anything: no tool was called, no file changed\n"],
    ["I fixed src/add.js.", 1, "completed-with-failures\n"],
  ])("is not told as done where the model only answered: %s", async (said, exit, title) => {
    const cwd = folderWith({ "play.yaml": `steps: [{ reply: "${said}", repeat: always }]\n` })
    const { code, stdout } = await here(["run", "make the failing test pass", "--screenplay", "play.yaml"], { cwd })
    expect(code).toBe(exit)
    expect(stdout).toContain(`  ${said}\n${title}`)
    expect(stdout).not.toMatch(/^done/m)
    expect((await here(["runs", "show", "latest"], { cwd })).stdout).toContain(title)
  })

  test("ends with 1 where a call failed and was never put right, and notes it", async () => {
    const write = "{ name: file, arguments: { action: write, path: ../outside.txt, content: x } }"
    const cwd = folderWith({ "play.yaml": `steps:\n  - reply: { calls: [${write}] }\n  - reply: Done.\n` })
    const { code, stdout } = await here(["run", "write", "--screenplay", "play.yaml", "--json"], { cwd })
    expect(code).toBe(1)
    expect(eventsOf(stdout).at(-1)).toMatchObject({
      summary: {
        outcome: "completed-with-failures",
        success: false,
        notes: [{ code: "ACCESS_DENIED", message: expect.stringContaining("was not put right") as string }],
      },
    })
    expect(existsSync(join(cwd, "../outside.txt"))).toBe(false)
    const [recorded] = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as { status: string }[]
    expect(recorded!.status).toBe("completed-with-failures")
  })

  test("names the agent that there is", async () => {
    const cwd = folderWith(files)
    const { code, stderr } = await here(["run", "x", "--agent", "bilder", "--screenplay", "play.yaml"], { cwd })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean 'builder'?") })
  })
})

describe("what fails, fails well:", () => {
  test("an unknown model server", async () => {
    const { code, stdout } = await here(["run", "x", "--model", "m", "--base-url", "http://no-such-host.invalid/v1"], {
      cwd: folderWith(),
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /No model server answers at http:\/\/no-such-host\.invalid\/v1[^]*--base-url \(or TOOLWRIGHT_BASE_URL\)/,
    )
  })

  test("a wrong key: the setting is named, the key is not", async () => {
    const baseUrl = await serve([{ reply: "hi" }], { apiKey: "right" })
    const { code, stdout, stderr } = await here(["run", "x", "--model", "m", "--base-url", baseUrl], {
      cwd: folderWith(),
      env: { TOOLWRIGHT_API_KEY: "wrong-key-4711" },
    })
    expect(code).toBe(1)
    expect(stdout).toContain("TOOLWRIGHT_API_KEY")
    expect(stdout + stderr).not.toContain("wrong-key-4711")
  })

  test("a reply that is not UTF-8", async () => {
    const server = createServer(
      (_, response) =>
        void response.writeHead(200, { "content-type": "text/event-stream" }).end(Buffer.from([0x64, 0xff, 0xfe])),
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const { code, stdout } = await here(
      ["run", "x", "--model", "m", "--base-url", `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`],
      { cwd: folderWith() },
    )
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining("not UTF-8") })
  })

  test("a misspelt setting", async () => {
    const cwd = folderWith({ "toolwright.yaml": "model:\n  bseUrl: http://localhost\n" })
    expect(await here(["run", "x"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/line 2: [^]*Did you mean 'model.baseUrl'\?/),
    })
  })

  test("a broken screenplay", async () => {
    const cwd = folderWith({ "play.yaml": "steps:\n  - replay: a\n" })
    expect(await here(["run", "x", "--screenplay", "play.yaml"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/play\.yaml:2:\d+: unknown key 'replay'[^]*did you mean 'reply'/),
    })
  })

  test("a read-only workspace", async () => {
    const cwd = folderWith({ "play.yaml": "steps: [{ reply: hi, repeat: always }]\n" })
    const { code, stdout, stderr } = await here(["build", "x", "--read-only", ".", "--screenplay", "play.yaml"], {
      cwd,
    })
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain("read-only")
  })

  test("two runs in one workspace at once", async () => {
    const cwd = folderWith({ "play.yaml": "steps: [{ reply: { text: wait, hang: true } }]\n" })
    const first = startCli(["run", "x", "--screenplay", "play.yaml", "--json"], { cwd })
    await first.until(/"text-delta"/)
    const second = await here(["run", "x", "--screenplay", "play.yaml"], { cwd })
    expect(second.code).toBe(1)
    expect(second.stderr).toContain("Another run works in this workspace")
    first.child.kill("SIGINT")
    expect((await first.finished).code).toBe(130)
    expect((await here(["tools", "list"], { cwd })).code).toBe(0)
  })
})

describe("an interrupt ends a run that would not end by itself", () => {
  const sleep =
    "abilities: { nativeTools: true }\nsteps: [{ reply: { calls: [{ name: bash, arguments: { command: sleep 60 " +
    "} }] } }]\n"

  test.each([
    ["SIGINT", "while the model writes", "steps: [{ reply: { text: wait, hang: true } }]\n", /"text-delta"/],
    ["SIGTERM", "while the model writes", "steps: [{ reply: { text: wait, hang: true } }]\n", /"text-delta"/],
    ["SIGINT", "while a tool runs", sleep, /"tool-start"/],
  ] as const)("%s %s", async (signal, _, screenplay, begun) => {
    const cwd = folderWith({ "play.yaml": screenplay })
    const run = startCli(["run", "x", "--screenplay", "play.yaml", "--json"], { cwd })
    await run.until(begun)
    // What is under way would never end by itself.
    run.child.kill(signal)
    const { code, stdout } = await run.finished
    expect(code).toBe(130)
    expect(eventsOf(stdout).at(-1)).toMatchObject({ type: "run-end", summary: { outcome: "cancelled" } })
    const recorded = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as object[]
    expect(recorded).toMatchObject([{ status: "cancelled" }])
    // The workspace is free again.
    const after = await here(["run", "x", "--screenplay", "play.yaml", "--max-rounds", "0"], { cwd })
    expect(after.stderr).not.toContain("Another run")
  })

  test("and so does a reader that goes away (`| head`)", async () => {
    const wait = '{ name: bash, arguments: { command: "until [ -e gone ]; do sleep 0.05; done" } }'
    const steps = `steps:\n  - reply: { calls: [${wait}] }\n  - reply: { text: wait, hang: true }\n`
    const cwd = folderWith({ "play.yaml": `abilities: { nativeTools: true }\n${steps}` })
    const run = startCli(["run", "x", "--screenplay", "play.yaml", "--json"], { cwd })
    await run.until(/"tool-start"/)
    run.child.stdout!.destroy()
    writeFileSync(join(cwd, "gone"), "")
    expect(await run.finished).toMatchObject({ code: 130, stderr: "" })
    const recorded = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as object[]
    expect(recorded).toMatchObject([{ status: "cancelled" }])
  })

  test("and a server sees its request end", async () => {
    let closed!: () => void
    const requestClosed = new Promise<void>((resolve) => (closed = resolve))
    let arrived!: () => void
    const requestArrived = new Promise<void>((resolve) => (arrived = resolve))
    const server = createServer((_, response) => {
      response.on("close", closed)
      arrived()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const run = startCli(
      ["run", "x", "--model", "m", "--base-url", `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`],
      { cwd: folderWith() },
    )
    await requestArrived
    run.child.kill("SIGINT")
    await requestClosed
    expect((await run.finished).code).toBe(130)
  })
})
