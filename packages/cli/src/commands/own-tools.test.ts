import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { StdioMCPClient } from "@toolwright/mcp"
import { describe, expect, test, vi } from "vitest"
import { BUILT, cli, cliFromSource, folderWith, stateOfTests } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const COUNT = `import { defineTool } from "toolwright"
import { words } from "./words.ts"

export const countWords = defineTool({
  name: "count_words",
  description: "Counts the words of a text file",
  effects: { readOnly: true, reads: ["path"] },
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: async ({ path }, { files }) => ({ words: words(await files.read(String(path))) }),
})
`
const WORDS = "export const words = (text: string): number => text.split(/\\s+/).filter(Boolean).length\n"
const FILES = { "tools/count.ts": COUNT, "tools/words.ts": WORDS, "a.txt": "one two three\n" }
/** A folder is taken file by file; what is no tool belongs elsewhere. */
const PROJECT = { "my-tools.ts": COUNT, "words.ts": WORDS, "a.txt": "one two three\n" }

/** Tools that try what only some may. */
const RULED = `import { defineTool } from "toolwright"
const parameters = { type: "object" as const, properties: { path: { type: "string" as const } } }
const tool = (name: string, execute: Parameters<typeof defineTool>[0]["execute"]) =>
  defineTool({ name, description: name, parameters, execute })
export default [
  tool("leave", async ({ path }, { files }) => files.read(String(path))),
  tool("ask_here", async (_args, { fetch }) => fetch("http://127.0.0.1:8099/")),
  tool("variables", async (_args, { runProgram }) => runProgram(["env"])),
  tool("make", async (_args, { files, idempotencyKey }) => {
    await files.write("new/made.txt", idempotencyKey)
    return files.list("new")
  }),
]
`

/** A project in which our packages are installed. */
function projectWith(files: Readonly<Record<string, string>>): string {
  const path = folderWith(files)
  mkdirSync(join(path, "node_modules"), { recursive: true })
  symlinkSync(join(import.meta.dirname, "../.."), join(path, "node_modules/toolwright"), "junction")
  return path
}

describe("tools of one's own", () => {
  test("are listed, shown and called by hand, out of TypeScript without a build", async () => {
    const cwd = folderWith(PROJECT)
    const own = ["--tools", "./my-tools.ts"]
    expect((await cli(["tools", "list", ...own], { cwd })).stdout).toMatch(/^count_words +utility +Counts the words/m)
    // From the sources, as in a clone, they find our packages where those are.
    const shown = await cliFromSource(["tools", "show", "count_words", ...own], { cwd })
    expect(shown.stdout).toContain("Counts the words")
    const called = await cli(["tools", "call", "count_words", "--path", "a.txt", ...own], { cwd })
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('"words": 3') })
  })

  test("leave nothing that keeps a command which is done: it ends, with all that it said", async () => {
    const ticks = `import { defineTool } from "toolwright"
setInterval(() => {}, 1000)
export default defineTool({ name: "ticks", description: "Says much", parameters: { type: "object" }, execute: () => "tick ".repeat(10_000) })
`
    const cwd = projectWith({ "ticks.ts": ticks })
    const { code, stdout, stderr } = await cli(["tools", "call", "ticks", "--tools", "./ticks.ts"], { cwd })
    expect(code, stderr).toBe(0)
    expect(stdout.trim()).toHaveLength("tick ".length * 10_000 - 1)
  })

  test("stand in the configuration, wait for trust there, and are named from its folder", async () => {
    const cwd = projectWith({ ...PROJECT, "toolwright.yaml": "tools: [./my-tools.ts]\n", "below/b.txt": "one\n" })
    const env = { XDG_STATE_HOME: join(cwd, "state") }
    const call = (more: string[]) =>
      here(["tools", "call", "count_words", "--path", "b.txt", ...more], { cwd: join(cwd, "below"), env })
    const untrusted = await call([])
    expect(untrusted.code).toBe(2)
    expect(untrusted.stderr).toMatch(/is not trusted, so it may not: load the tools in .*my-tools\.ts/)
    expect(await call(["--trust"])).toMatchObject({ code: 0, stdout: expect.stringContaining('"words": 1') })
  })

  test("are called by a model's run, under the permissions and with a record", async () => {
    const cwd = projectWith(PROJECT)
    const steps = [
      { reply: { calls: [{ name: "count_words", arguments: { path: "a.txt" } }] } },
      { reply: "It has three words." },
    ]
    const run = async (more: string[]) => {
      await using model = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
      const line = ["run", "how long is a.txt?", "--tools", "./my-tools.ts", "--json", "--model", "m"]
      return await here([...line, "--base-url", model.baseUrl, ...more], { cwd })
    }
    const allowed = await run([])
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringMatching(/"tool-end".*"words":3/) })
    const denied = await run(["--deny-tool", "count_*"])
    expect(denied.stdout).toMatch(/"tool-end".*PERMISSION_DENIED/)
    expect(existsSync(join(cwd, ".toolwright/state.sqlite"))).toBe(true)
  })

  test("keep the rules of built-in tools: folders, the sandbox's environment, private addresses, undo", async () => {
    const cwd = projectWith({ "own.ts": RULED })
    const call = (name: string, more: string[] = []) =>
      here(["tools", "call", name, "--tools", "own.ts", ...more], { cwd })
    expect((await call("leave", ["--path", "/etc/passwd"])).stderr).toContain("ACCESS_DENIED")
    expect((await call("ask_here")).stderr).toContain("BLOCKED_ADDRESS")
    // A process of its own: the variables are those that it was started with.
    const { stdout } = await cli(["tools", "call", "variables", "--tools", "own.ts"], {
      cwd: folderWith({ "own.ts": RULED }),
      env: { A_SECRET_VARIABLE: "secret" },
    })
    expect(stdout).toContain("PATH=")
    expect(stdout).not.toContain("A_SECRET_VARIABLE")
    expect((await call("make")).stdout).toContain("made.txt")
    expect(readFileSync(join(cwd, "new/made.txt"), "utf8")).toMatch(/^[\w-]{20,}$/)
    expect((await call("make", ["--read-only", "."])).stderr).toContain("READ_ONLY")
    expect((await here(["undo", "--yes"], { cwd })).code).toBe(0)
    expect(existsSync(join(cwd, "new/made.txt"))).toBe(false)
  })

  test("come from an npm package too, found from the folder of who names it", async () => {
    const cwd = projectWith({
      "node_modules/@me/tools/package.json":
        '{"name":"@me/tools","type":"module","exports":{".":{"default":"./main.js"}}}',
      "node_modules/@me/tools/main.js": COUNT.replace("./words.ts", "./words.js"),
      "node_modules/@me/tools/words.js": "export const words = (text) => text.length\n",
    })
    expect((await here(["tools", "list", "--tools", "@me/tools"], { cwd })).stdout).toContain("count_words")
    const missing = await here(["tools", "list", "--tools", "@me/other"], { cwd })
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("npm install @me/other") })
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ["nothing.ts", {}, /not installed|There are no tools at/],
    ["empty.ts", { "empty.ts": "export const a = 1\n" }, /exports no tool, only: a/],
    ["broken.ts", { "broken.ts": "export const = 1\n" }, /cannot be loaded/],
    ["enum.ts", { "enum.ts": "export enum A { B }\n" }, /write no enum/],
    ["lost.ts", { "lost.ts": 'import "no-such-package"\n' }, /npm install/],
    ["own.ts", { "own.ts": COUNT.replace("count_words", "echo"), "words.ts": WORDS }, /--without-tools echo/],
  ])("that cannot be had stop the start and say what to do: %s", async (entry, files, said) => {
    const { code, stderr } = await here(["tools", "list", "--tools", entry], { cwd: projectWith(files) })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(said) })
  })
})

describe("a server", () => {
  test("serves them, and loads them again when they change: the module, what it imports, a new one in the folder", async () => {
    const cwd = projectWith(FILES)
    writeFileSync(join(cwd, "tools/words.ts"), WORDS)
    mkdirSync(join(cwd, "only"))
    writeFileSync(join(cwd, "only/count.ts"), COUNT.replace("./words.ts", "../tools/words.ts"))
    const { stop, until } = startHere(
      ["serve", "--port", "0", "--quiet", "--tools", "./only", "--only-tools", "read_text_file", "--read-only", "."],
      { cwd },
    )
    const [, url] = await until(/at (http:\/\/127\.0\.0\.1:\d+)\s/)
    const call = async (): Promise<unknown> => {
      const body = JSON.stringify({ path: "a.txt" })
      const headers = { "content-type": "application/json", "cache-control": "no-cache" }
      const answer = await fetch(`${url}/tools/count_words`, { method: "POST", headers, body })
      return ((await answer.json()) as { result: { words: number } }).result.words
    }
    const names = async (): Promise<string[]> =>
      ((await (await fetch(`${url}/tools/`)).json()) as { name: string }[]).map(({ name }) => name)
    expect(await call()).toBe(3)
    writeFileSync(join(cwd, "tools/words.ts"), "export const words = (text: string): number => text.length\n")
    await vi.waitFor(async () => expect(await call()).toBe(14), 10_000)
    writeFileSync(
      join(cwd, "only/more.ts"),
      COUNT.replace("./words.ts", "../tools/words.ts").replace("count_words", "more"),
    )
    await vi.waitFor(async () => expect(await names()).toContain("more"), 10_000)
    const { stderr } = await stop()
    expect(stderr).toContain("Loaded again:")
  })

  test("keeps the tools as they were where a change cannot be loaded, and says so", async () => {
    const cwd = projectWith(PROJECT)
    const { until, said, stop } = startHere(["serve", "--port", "0", "--quiet", "--tools", "./my-tools.ts"], { cwd })
    const [, url] = await until(/at (http:\/\/127\.0\.0\.1:\d+)\s/)
    writeFileSync(join(cwd, "my-tools.ts"), "export const = 1\n")
    await vi.waitFor(() => expect(said.stderr).toContain("Its tools stay as they were."), 10_000)
    expect(await (await fetch(`${url}/tools/`)).text()).toContain("count_words")
    await stop()
  })
})

test("an MCP host is told when they change, and lists them anew", async () => {
  const cwd = folderWith(PROJECT)
  await using host = await StdioMCPClient.create({
    name: "toolwright",
    command: process.execPath,
    env: stateOfTests(),
    args: [BUILT, "mcp", "--read-only", ".", "--only-tools", "echo", "--tools", "./my-tools.ts"],
    cwd,
    // Longer than a busy machine takes to start it.
    connectTimeoutMs: 120_000,
  })
  const names = (): string[] => host.getTools().map((tool) => tool.function.name)
  expect(names()).toContain("count_words")
  writeFileSync(join(cwd, "my-tools.ts"), COUNT.replace("count_words", "count_all_words"))
  await vi.waitFor(() => expect(names()).toContain("count_all_words"))
  expect(names()).not.toContain("count_words")
})

test("a tool of one text takes it as it stands, from a file, or from standard input, and says where it leaves the grammar", async () => {
  const tool = `import { defineTool, grammar } from "toolwright"
export default defineTool({
  name: "add",
  description: "Adds numbers",
  input: grammar.lark(String.raw\`start: start "+" NUMBER | NUMBER
%import common.NUMBER\`),
  execute: (text) => text.split("+").reduce((sum, one) => sum + Number(one), 0),
})
`
  const cwd = projectWith({ "add.ts": tool, "sum.txt": "1+2+3" })
  const call = (given: string, stdin?: string) =>
    here(["tools", "call", "add", given, "--tools", "add.ts"], { cwd, ...(stdin === undefined ? {} : { stdin }) })
  for (const result of [await call("1+2+3"), await call("@sum.txt"), await call("-", "1+2+3")])
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("6") })
  const wrong = await call("1+x")
  expect(wrong.code).not.toBe(0)
  expect(wrong.stdout + wrong.stderr).toMatch(/leaves it at line 1, column 3, after "1\+", with "x"/)
})
