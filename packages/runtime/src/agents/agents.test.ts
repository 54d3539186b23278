import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import { expect, onTestFinished, test } from "vitest"
import { createToolwright } from "../toolwright.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

function folder(files: Record<string, string> = {}): string {
  const cwd = mkdtempSync(join(tmpdir(), "agents-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  return cwd
}

async function assembled(cwd: string, steps: Steps = [], more: object = {}) {
  const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
  const toolwright = await createToolwright({ cwd, workspace: { roots: [cwd] }, backend, ...more })
  onTestFinished(() => toolwright.close())
  return { toolwright, backend }
}

const write = (path: string) => ({ calls: [{ name: "write_file", arguments: { path, content: "x = 1\n" } }] })

test("an agent that was made owns its files in every run: it writes these and no others, and is done only then", async () => {
  const cwd = folder()
  const { toolwright } = await assembled(cwd, [
    { reply: write("other.py") },
    { expect: { success: false, result: "other.py is not owned by this agent" }, reply: "Done. TASK_COMPLETE" },
    { expect: { result: "mine.py, second.py has not been written yet" }, reply: write("second.py") },
    { expect: { success: true }, reply: "Written. TASK_COMPLETE" },
  ])
  await toolwright.agents.create({
    name: "Mine",
    from: "assistant",
    files: ["mine.py", "./src/../second.py"],
    tools: { only: ["write_file"] },
    done: { signal: "TASK_COMPLETE" },
  })
  const summary = await toolwright.complete("write it", { agent: "Mine" })
  expect({ mine: existsSync(join(cwd, "mine.py")), other: existsSync(join(cwd, "other.py")) }).toEqual({
    mine: false,
    other: false,
  })
  expect(readFileSync(join(cwd, "second.py"), "utf8")).toBe("x = 1\n")
  expect(summary.message).toBe("Written.")
  expect(summary.modifiedFiles).toEqual([join(cwd, "second.py")])
  expect(await toolwright.runs()).toMatchObject([{ agent: "Mine" }])
  await expect(toolwright.complete("x", { agent: "Mine", files: ["other.py"] })).rejects.toMatchObject({
    code: "FILES_NOT_OWNED",
  })
})

test("a second name for an owned file is no second file", async () => {
  const cwd = folder({ "src/area.py": "" })
  symlinkSync(join(cwd, "src"), join(cwd, "lib"))
  const { toolwright } = await assembled(cwd)
  await toolwright.agents.create({ name: "Area", files: ["lib/area.py"] })
  expect((await toolwright.agents.find("Area")).files).toEqual(["src/area.py"])
  for (const file of ["src/area.py", "./src//area.py", join(cwd, "src/area.py")])
    await expect(toolwright.agents.create({ name: "Other", files: [file] })).rejects.toMatchObject({
      code: "FILE_OWNED",
    })
  for (const file of ["../area.py", "/etc/passwd", ".", "src/"])
    await expect(toolwright.agents.create({ name: "Other", files: [file] })).rejects.toMatchObject({
      code: "INVALID_AGENT",
    })
})

test("spellings that some systems take for one file, and hard links, give it no second owner", async () => {
  const cwd = folder({ "src/caf\u00e9.py": "", "one.py": "", "plain.py": "" })
  linkSync(join(cwd, "one.py"), join(cwd, "two.py"))
  const define = { described: { from: "file-owner", files: ["docs/Notes.md"] } }
  const { toolwright } = await assembled(cwd, [], { agents: { define } })
  await toolwright.agents.create({ name: "Area", files: ["src/caf\u00e9.py"] })
  for (const file of ["src/cafe\u0301.py", "SRC/Caf\u00c9.py", "docs/NOTES.md"])
    await expect(toolwright.agents.create({ name: "Other", files: [file] })).rejects.toMatchObject({
      code: "FILE_OWNED",
    })
  for (const file of ["one.py", "two.py"])
    await expect(toolwright.agents.create({ name: "Other", files: [file] })).rejects.toMatchObject({
      code: "INVALID_AGENT",
      message: expect.stringContaining("hard link"),
    })
})

test("a file with an owner is given to no other agent for a task", async () => {
  const cwd = folder()
  const define = { described: { from: "file-owner", files: ["docs/notes.md"] } }
  const { toolwright } = await assembled(cwd, [], { agents: { define } })
  await toolwright.agents.create({ name: "Area", files: ["src/area.py"] })
  for (const file of ["src/area.py", "src/Area.py", "./docs//notes.md"]) {
    const refused = { code: "FILE_OWNED" }
    await expect(toolwright.complete("x", { agent: "file-owner", files: [file] })).rejects.toMatchObject(refused)
    await expect(toolwright.fileOwner("me", [file])).rejects.toMatchObject(refused)
  }
})

test("an owned name that has come to lead elsewhere is not written through", async () => {
  const cwd = folder({ "other/area.py": "theirs\n", "copy.py": "theirs\n" })
  const tried = ["src/area.py", join(cwd, "src/area.py"), "own.py", "src\\plain.py", "src/plain.py"]
  const { toolwright } = await assembled(cwd, [
    ...tried.map((path) => ({ reply: write(path) })),
    { reply: "Written. TASK_COMPLETE", repeat: "always" as const },
  ])
  const files = ["src/area.py", "own.py", "src/plain.py"]
  await toolwright.agents.create({
    name: "Mine",
    from: "assistant",
    files,
    tools: { only: ["write_file"] },
    done: { signal: "TASK_COMPLETE" },
  })
  symlinkSync(join(cwd, "other"), join(cwd, "src"))
  linkSync(join(cwd, "copy.py"), join(cwd, "own.py"))
  const refused: unknown[] = []
  for await (const event of toolwright.run("write it", { agent: "Mine" }))
    if (event.type === "tool-end") refused.push(event.result.error?.code)
  expect(refused).toEqual(Array(5).fill("NOT_OWNED"))
  expect(readdirSync(cwd).sort()).toEqual([".toolwright", "copy.py", "other", "own.py", "src"])
  for (const path of ["other/area.py", "copy.py"]) expect(readFileSync(join(cwd, path), "utf8")).toBe("theirs\n")
})

test("what is a folder, a link to nothing, or a name that steers a terminal is nobody's", async () => {
  const cwd = folder({ "src/area.py": "" })
  symlinkSync("later.py", join(cwd, "src/link.py"))
  const { toolwright } = await assembled(cwd)
  for (const file of ["src", "src/link.py", "a\u001B[2J.py", "a\u0000.py"])
    await expect(toolwright.agents.create({ name: "Other", files: [file] })).rejects.toMatchObject({
      code: "INVALID_AGENT",
      message: expect.not.stringContaining("\u001B"),
    })
  expect((await toolwright.agents.list()).filter(({ kind }) => kind === "made")).toEqual([])
})

test("a file that an agent of the configuration owns is not given to a second one", async () => {
  const owns = (file: string) => ({ from: "file-owner", files: [file] })
  const define = { one: owns("src/z.py"), two: owns("./src//z.py"), three: owns("src/own.py"), four: { from: "three" } }
  const { toolwright } = await assembled(folder({ "src/area.py": "" }), [], { agents: { define } })
  const refused = { code: "FILE_OWNED" }
  await expect(toolwright.agents.create({ name: "Made", files: ["src/z.py"] })).rejects.toMatchObject(refused)
  for (const name of ["one", "two"]) await expect(toolwright.agents.find(name)).rejects.toMatchObject(refused)
  for (const name of ["three", "four"]) expect((await toolwright.agents.find(name)).files).toEqual(["src/own.py"])
})

test("an agent whose base is described no more is listed, and can be removed", async () => {
  const cwd = folder()
  const { toolwright } = await assembled(cwd, [], { agents: { define: { base: { from: "builder" } } } })
  await toolwright.agents.create({ name: "Mine", from: "base" })
  const { toolwright: later } = await assembled(cwd)
  expect((await later.agents.list()).at(-1)).toMatchObject({ name: "Mine", from: "base" })
  await expect(later.agents.find("Mine")).rejects.toMatchObject({ code: "UNKNOWN_AGENT" })
  expect(await later.agents.remove("Mine")).toMatchObject({ name: "Mine" })
  expect((await later.agents.list()).filter(({ kind }) => kind === "made")).toEqual([])
})

test("an agent in YAML starts from another one, in layers, and what it may do is what it says", async () => {
  const cwd = folder({
    "agents/notes.yaml": [
      "description: Writes release notes",
      "from: reviewer",
      "prompt:",
      "  identity: You write release notes.",
      "  skills: [Group them by kind.]",
      "  output: Markdown.",
      "tools: { only: [read_text_file, write_file] }",
      "limits: { rounds: 3 }",
    ].join("\n"),
    "agents/short.yaml": "name: shorter\nfrom: notes\nprompt: { output: One line. }\n",
  })
  const { toolwright, backend } = await assembled(
    cwd,
    [
      { reply: write("a.py") },
      { expect: { success: false, result: "where nothing may be changed" }, reply: "…" },
      { reply: "…", repeat: "always" },
    ],
    { agents: { files: ["./agents"] } },
  )
  expect((await toolwright.agents.list()).filter(({ kind }) => kind === "own")).toMatchObject([
    { name: "notes", changesWorkspace: false },
    { name: "shorter", changesWorkspace: false, description: "Writes release notes" },
  ])
  expect((await toolwright.agents.find("shorter")).systemPrompt).toBe(
    "You write release notes.\n\nGroup them by kind.\n\nYour answer:\nOne line.",
  )
  const summary = await toolwright.complete("go", { agent: "notes" })
  expect(summary).toMatchObject({ success: false, rounds: 3 })
  expect(existsSync(join(cwd, "a.py"))).toBe(false)
  expect(backend.requests[0]!.tools!.map((tool) => tool.function.name)).toEqual(["read_text_file"])
})

test("an agent that only reads is offered nothing that it may not do, and one that writes what its base may not", async () => {
  const cwd = folder({
    "agents/looker.yaml": "from: assistant\nmode: reads\ntools: { sets: [reading] }\n",
    "agents/mender.yaml": "from: reviewer\nmode: writes\n",
  })
  const { toolwright } = await assembled(cwd, [], { agents: { files: ["./agents"] } })
  const offered = async (name: string) => toolwright.toolsFor(await toolwright.agents.find(name)).list()
  const looker = await offered("looker")
  expect(looker.length).toBeGreaterThan(5)
  expect(looker.filter(({ effects }) => effects?.readOnly !== true)).toEqual([])
  expect((await offered("mender")).some(({ effects }) => effects?.readOnly !== true)).toBe(true)
})

test("a limit of tokens ends a run before its next round, and says so", async () => {
  const usage = { inputTokens: 60, outputTokens: 10 }
  const look = { calls: [{ name: "list_directory", arguments: { path: "." } }], usage }
  const { toolwright } = await assembled(folder(), [{ reply: look, repeat: "always" }], {
    agents: { define: { frugal: { limits: { tokens: 100 } } } },
  })
  expect(await toolwright.complete("look", { agent: "frugal" })).toMatchObject({
    success: false,
    rounds: 2,
    message: "its limit of 100 tokens is used up (140)",
  })
})

test.each([
  [{ a: { tols: {} } }, "tols"],
  [{ a: { limits: { rounds: 0 } } }, "limits.rounds"],
  [{ a: { mode: "all" } }, "mode"],
  [{ a: { from: "buildr" } }, "starts from 'buildr'"],
  [{ a: { from: "b" }, b: { from: "a" } }, "a → b → a"],
  [{ builder: {} }, "taken by a shipped agent"],
  [{ "a b": {} }, "cannot be the name"],
])("a definition that says %j is refused, with what is wrong", async (define, said) => {
  await expect(assembled(folder(), [], { agents: { define } })).rejects.toThrow(said)
})

const PHASED = `description: Finds a fault, then mends it
from: assistant
prompt: You mend files.
phases:
  - name: look
    prompt: Find the file.
    mode: reads
    tools: { only: [file_read, write_file] }
    rounds: 4
    done: { toolUse: true }
    handsOver:
      artifact: finding
      schema:
        type: object
        properties: { file: { type: string }, fault: { type: string } }
        required: [file, fault]
        additionalProperties: false
  - name: mend
    tools: { only: [write_file] }
    rounds: 2
    done: { change: true }
`

test("an agent of one's own works in phases: tools, rounds and conditions of each, and the artifact between them", async () => {
  const cwd = folder({ "a.txt": "teh", "agents/mender.yaml": PHASED })
  const reply = (name: string, args: Record<string, unknown>) => ({ calls: [{ name, arguments: args }] })
  const { toolwright, backend } = await assembled(
    cwd,
    [
      { reply: reply("write_file", { path: "a.txt", content: "too early" }) },
      { expect: { success: false, result: "only reads" }, reply: reply("hand_over", { file: "a.txt", fault: "teh" }) },
      { expect: { success: false, result: "no tool has succeeded" }, reply: reply("file_read", { path: "a.txt" }) },
      { expect: { success: true }, reply: reply("hand_over", { file: "a.txt", fault: "'teh' for 'the'" }) },
      { reply: reply("write_file", { path: "a.txt", content: "the" }) },
      { expect: { success: true }, reply: "Mended." },
    ],
    { agents: { files: ["./agents"] } },
  )
  const summary = await toolwright.complete("mend it", { agent: "mender", maxRounds: 9 })
  expect(summary).toMatchObject({ message: "Mended.", artifacts: { finding: { file: "a.txt" } }, rounds: 6 })
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("the")
  const last = backend.requests.at(-1)!
  expect(JSON.stringify(last.messages)).toContain("'teh' for 'the'")
  expect(last.tools!.map((tool) => tool.function.name)).toEqual(["write_file", "read_result"])
  const { events } = await toolwright.readRun("latest")
  expect(events.filter(({ type }) => type === "phase-end")).toMatchObject([
    { phase: "look", artifact: { name: "finding", value: { file: "a.txt", fault: "'teh' for 'the'" } } },
    { phase: "mend" },
  ])
})

test("what is wrong with phases is told with all other mistakes, and where", async () => {
  const wrong = {
    phases: [
      { name: "a", handsOver: { schema: { type: "string" } } },
      { name: "a", handsOver: { schema: { type: "object", properties: 3 } } },
    ],
  }
  const failing = createToolwright({ cwd: folder(), agents: { define: { wrong } } })
  await expect(failing).rejects.toMatchObject({ code: "INVALID_AGENT" })
  await expect(failing).rejects.toThrow(
    /phases\[0\]\.handsOver\.schema: its type must be object[^]*phases\[1\]: another phase/,
  )
  const misspelt = createToolwright({
    cwd: folder(),
    agents: { define: { wrong: { phases: [{ name: "a", round: 3 }] } } },
  })
  await expect(misspelt).rejects.toThrow(/round/)
})
