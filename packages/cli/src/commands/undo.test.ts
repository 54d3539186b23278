import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { inflateRawSync } from "node:zlib"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const call = (cwd: string, name: string, ...args: string[]) => here(["tools", "call", name, ...args], { cwd })
const textOf = (cwd: string, path: string): string => readFileSync(join(cwd, path), "utf8")

test("lists what calls changed, shows the difference, needs --yes where nobody can be asked, and takes it back", async () => {
  const cwd = folderWith({ "a.txt": "one\ntwo\n" })
  expect((await here(["undo", "list"], { cwd })).stdout).toBe("Nothing that was changed here is on record.\n")
  expect(existsSync(join(cwd, ".toolwright"))).toBe(false)
  await call(cwd, "write_file", "--path", "a.txt", "--content", "other\n")
  await call(cwd, "create_directory", "--path", "new/deep")
  const listed = await here(["undo", "list"], { cwd })
  expect(listed.stdout).toMatch(/^\S+ +in effect +2 paths {2}create_directory\n\S+ +in effect +1 path {2}write_file\n$/)
  const looked = await here(["undo", "--dry-run"], { cwd })
  expect(looked).toMatchObject({ code: 0, stdout: expect.stringContaining(`remove folder ${join(cwd, "new/deep")}`) })
  expect(await here(["undo"], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") })
  expect(existsSync(join(cwd, "new/deep"))).toBe(true)
  expect((await here(["undo", "--yes"], { cwd })).code).toBe(0)
  expect(existsSync(join(cwd, "new"))).toBe(false)
  const [, , written] = (await here(["undo", "list"], { cwd })).stdout.split("\n")
  const done = await here(["undo", written!.split(" ")[0]!, "--yes"], { cwd })
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/-other\n[^]*\+one\n[^]*Took back 1 path\./) })
  expect(textOf(cwd, "a.txt")).toBe("one\ntwo\n")
  const again = /undo (\S+)'/.exec(done.stdout)![1]!
  expect((await here(["undo", again, "--yes"], { cwd })).code).toBe(0)
  expect(textOf(cwd, "a.txt")).toBe("other\n")
})

test("leaves alone what was changed since, says so, and fails", async () => {
  const cwd = folderWith({ "a.txt": "a\n", "b.txt": "b\n" })
  await call(cwd, "bash", "--command", "echo x > a.txt; echo x > b.txt; chmod 755 b.txt")
  await call(cwd, "file", "--action", "append", "--path", "a.txt", "--content", "more\n")
  const [, first] = (await here(["undo", "list"], { cwd })).stdout.split("\n")
  const done = await here(["undo", first!.split(" ")[0]!, "--yes"], { cwd })
  expect(done.code).toBe(1)
  expect(done.stderr).toContain(`Not taken back: ${join(cwd, "a.txt")}: file has changed it since`)
  expect([textOf(cwd, "a.txt"), textOf(cwd, "b.txt")]).toEqual(["x\nmore\n", "b\n"])
  expect(lstatSync(join(cwd, "b.txt")).mode & 0o111).toBe(0)
})

test("the record of earlier contents is read by no tool, and written nowhere but here", async () => {
  const cwd = folderWith({ "a.txt": "canary-then\n" })
  await call(cwd, "write_file", "--path", "a.txt", "--content", "now\n")
  const files = readdirSync(join(cwd, ".toolwright/undo"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const objects = files.filter((entry) => entry.parentPath.includes("/objects/"))
  const contents = objects.map((entry) => inflateRawSync(readFileSync(join(entry.parentPath, entry.name))).toString())
  expect(contents).toContain("canary-then\n")
  expect(files.some((entry) => textOf(entry.parentPath, entry.name).includes("canary-then"))).toBe(false)
  const found = await call(cwd, "search_grep", "--pattern", "canary-then", "--include_ignored", "true")
  expect(found.stdout).not.toContain("canary-then\n")
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name)
    expect((await call(cwd, "read_text_file", "--path", path)).code).toBe(1)
  }
  const kept = join(objects[0]!.parentPath, objects[0]!.name)
  const was = readFileSync(kept)
  for (const name of ["write_file", "append_file"])
    expect((await call(cwd, name, "--path", kept, "--content", "x")).code).toBe(1)
  expect(readFileSync(kept)).toEqual(was)
  expect((await call(cwd, "bash", "--command", "find .toolwright/undo -type f | wc -l")).stdout).toMatch(/^0$/m)
})

test("what was too large to be kept is named by the call, by the list, and by what takes back the rest", async () => {
  const cwd = folderWith({ "a.txt": "one\n", "large.txt": "x".repeat(16 * 1024 * 1024 + 1) })
  const told = await call(cwd, "bash", "--command", "echo two > a.txt; echo y >> large.txt")
  expect(told.stdout).toContain(`Cannot be taken back by undo: ${join(cwd, "large.txt")}`)
  expect((await here(["undo", "list"], { cwd })).stdout).toMatch(/1 path, 1 not kept/)
  const { stdout } = await here(["undo", "--yes"], { cwd })
  expect(stdout).toContain(`lost ${join(cwd, "large.txt")}`)
  expect([textOf(cwd, "a.txt"), lstatSync(join(cwd, "large.txt")).size]).toEqual(["one\n", 16 * 1024 * 1024 + 3])
})

test("earlier contents are kept once each, in files for this user only", async () => {
  const cwd = folderWith({ "a.txt": "same\n", "b.txt": "same\n" })
  for (const path of ["a.txt", "b.txt"]) await call(cwd, "write_file", "--path", path, "--content", "now\n")
  const kept = readdirSync(join(cwd, ".toolwright/undo"), { recursive: true, withFileTypes: true })
  const files = kept.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = files.filter((path) => path.includes("/objects/")).map((path) => inflateRawSync(readFileSync(path)))
  expect(texts.filter((text) => text.toString() === "same\n")).toHaveLength(1)
  for (const path of files) expect([path, lstatSync(path).mode & 0o077]).toEqual([path, 0])
})

test("a link that was committed in place of the folder leads nowhere", async () => {
  const cwd = folderWith({ "a.txt": "a\n" })
  const elsewhere = folderWith({})
  symlinkSync(elsewhere, join(cwd, ".toolwright"))
  const env = { XDG_STATE_HOME: folderWith({}) }
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "b\n"], { cwd, env })
  expect(readdirSync(elsewhere)).toEqual([])
  expect((await here(["undo", "--yes"], { cwd, env })).code).toBe(0)
  expect(textOf(cwd, "a.txt")).toBe("a\n")
})

// Who may write everything, as root may, has no folder that cannot be written.
test.skipIf(process.getuid?.() === 0)(
  "what is kept where the workspace cannot be written lies in the user's folder",
  async () => {
    const cwd = folderWith({ "a.txt": "a\n" })
    const other = folderWith({ "b.txt": "b\n" })
    chmodSync(cwd, 0o555)
    const [where, env] = [["--root", cwd, "--root", other], { XDG_STATE_HOME: folderWith({}) }]
    const path = join(other, "b.txt")
    const made = await here(["tools", "call", "write_file", "--path", path, "--content", "x\n", ...where], { cwd, env })
    expect([made.code, textOf(other, "b.txt")]).toEqual([0, "x\n"])
    expect([readdirSync(cwd), readdirSync(other)]).toEqual([["a.txt"], ["b.txt"]])
    expect((await here(["undo", "--yes", ...where], { cwd, env })).code).toBe(0)
    expect(textOf(other, "b.txt")).toBe("b\n")
  },
)

test("what a program changed is known although its end was seen by nobody", async () => {
  const cwd = folderWith({ "a.txt": "a\n", "d/b.txt": "b\n" })
  const command = "echo x > a.txt; rm d/b.txt; echo done > marker; sleep 60"
  const running = startCli(["tools", "call", "bash", "--command", command], { cwd })
  while (!existsSync(join(cwd, "marker"))) await new Promise((resolve) => setImmediate(resolve))
  running.child.kill("SIGKILL")
  await running.finished
  const listed = await here(["undo", "list"], { cwd })
  expect(listed.stdout).toMatch(/in effect +3 paths {2}bash/)
  expect((await here(["undo", "--yes"], { cwd })).code).toBe(0)
  expect([textOf(cwd, "a.txt"), textOf(cwd, "d/b.txt"), existsSync(join(cwd, "marker"))]).toEqual(["a\n", "b\n", false])
})

test("what such a program changed comes back too where the run went on and changed the same again", async () => {
  const steps = [
    "steps:",
    "  - reply: { calls: [{ name: bash, arguments: { command: 'echo x > log; echo y > a.txt; rm b.txt; sleep " +
      "60' } }] }",
    "  - reply: { calls: [{ name: file_append, arguments: { path: log, content: z } }] }",
    "  - reply: { calls: [{ name: file_write, arguments: { path: b.txt, content: new } }] }",
    "  - reply: Done.",
  ]
  const cwd = folderWith({ "a.txt": "a\n", "b.txt": "b\n", "play.yaml": steps.join("\n") })
  const rest = [steps[0], ...steps.slice(2)].join("\n")
  const running = startCli(["run", "x", "--screenplay", "play.yaml"], { cwd })
  while (!existsSync(join(cwd, "log")) || existsSync(join(cwd, "b.txt")))
    await new Promise((resolve) => setImmediate(resolve))
  running.child.kill("SIGKILL")
  await running.finished
  writeFileSync(join(cwd, "play.yaml"), rest)
  await here(["resume", "--screenplay", "play.yaml"], { cwd })
  expect([textOf(cwd, "log"), textOf(cwd, "b.txt")]).toEqual(["x\nz", "new"])
  expect((await here(["undo", "--yes"], { cwd })).code).toBe(0)
  expect([textOf(cwd, "a.txt"), textOf(cwd, "b.txt"), existsSync(join(cwd, "log"))]).toEqual(["a\n", "b\n", false])
})

test("what could not be kept counts as in effect, and nothing else is taken back in its place", async () => {
  const cwd = folderWith({ "a.txt": "a\n", "node_modules/x/y.js": "y\n" })
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "b\n"], { cwd })
  await here(["tools", "call", "bash", "--command", "echo z > node_modules/x/y.js"], { cwd })
  const { stdout } = await here(["undo", "list"], { cwd })
  expect(stdout).toMatch(/in effect +0 paths, 1 not kept {2}bash\n.*in effect +1 path {2}write_file/)
})

test("a run is taken back as a whole, or one of its calls", async () => {
  const cwd = folderWith({
    "a.txt": "one\ntwo\n",
    "play.yaml": [
      "steps:",
      "  - reply: { calls: [{ name: file_write, arguments: { path: a.txt, content: other } }] }",
      '  - reply: { calls: [{ name: bash, arguments: { command: "mkdir z; echo hi > z/q; ln -s z/q l; chmod 600 ' +
        'a.txt" } }] }',
      "  - reply: Done.",
    ].join("\n"),
  })
  const mode = lstatSync(join(cwd, "a.txt")).mode
  const run = await here(["run", "write", "--screenplay", "play.yaml", "--json"], { cwd })
  const { runId } = JSON.parse(run.stdout.split("\n")[0]!) as { runId: string }
  const items = JSON.parse((await here(["undo", "list", "--json"], { cwd })).stdout) as {
    id: string
    calls: { id: string; tool: string }[]
  }[]
  expect(items.map(({ id, calls }) => [id, calls.map(({ tool }) => tool)])).toEqual([[runId, ["file", "bash"]]])
  const [write, bash] = items[0]!.calls
  expect((await here(["undo", write!.id, "--yes"], { cwd })).code).toBe(1)
  expect(textOf(cwd, "a.txt")).toBe("other")
  expect((await here(["undo", bash!.id, "--yes"], { cwd })).code).toBe(0)
  expect([existsSync(join(cwd, "z")), existsSync(join(cwd, "l")), textOf(cwd, "a.txt")]).toEqual([
    false,
    false,
    "other",
  ])
  expect((await here(["undo", runId, "--yes"], { cwd })).code).toBe(0)
  expect([textOf(cwd, "a.txt"), lstatSync(join(cwd, "a.txt")).mode]).toEqual(["one\ntwo\n", mode])
})

test("entries that came with a folder are not this user's: left out, and said so", async () => {
  const theirs = folderWith({ "a.txt": "one\n" })
  const cwd = folderWith({ "a.txt": "two\n" })
  const env = { XDG_STATE_HOME: folderWith({}) }
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "two\n"], {
    cwd: theirs,
    env: { XDG_STATE_HOME: folderWith({}) },
  })
  cpSync(join(theirs, ".toolwright"), join(cwd, ".toolwright"), { recursive: true })
  const listed = await here(["undo", "list"], { cwd, env })
  expect(listed.stdout).toBe("Nothing that was changed here is on record.\n")
  expect(listed.stderr).toContain("1 entry that came with this folder")
  expect((await here(["undo", "--yes"], { cwd, env })).code).not.toBe(0)
  expect(textOf(cwd, "a.txt")).toBe("two\n")
  await here(["tools", "call", "write_file", "--path", "a.txt", "--content", "mine\n"], { cwd, env })
  expect((await here(["undo", "list"], { cwd, env })).stdout).toMatch(/^\S+ +in effect +1 path {2}write_file\n$/)
  expect((await here(["undo", "--yes"], { cwd, env })).code).toBe(0)
  expect(textOf(cwd, "a.txt")).toBe("two\n")
})

test("a run is shown with the lines that it changed, for as long as they are kept", async () => {
  const play = `abilities: { nativeTools: true }
steps:
  - reply: { calls: [{ name: file_replace, arguments: { path: a.txt, old_text: two, new_text: 2 } }] }
  - reply: { calls: [{ name: file_write, arguments: { path: new.txt, content: "made\\n" } }] }
  - reply: done
`
  const cwd = folderWith({ "a.txt": "one\ntwo\n", "play.yaml": play })
  expect((await here(["run", "x", "--screenplay", "play.yaml"], { cwd })).code).toBe(0)
  const shown = async (): Promise<string> => (await here(["runs", "show", "latest"], { cwd })).stdout
  expect(await shown()).toMatch(/changed \S*a\.txt[^]*\n-two\n\+2\n[^]*made \S*new\.txt[^]*\n\+made\n/)
  writeFileSync(join(cwd, "a.txt"), "by hand\n")
  // What the run left was kept when it was looked at.
  expect(await shown()).toMatch(/changed \S*a\.txt[^]*\n-two\n\+2\n/)
})

test("a run that changed files says how to take them back, and that does it", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const write = { name: "file", arguments: { action: "write", path: "a.txt", content: "two\n" } }
  const steps = [{ reply: { calls: [write] } }, { reply: "It is written." }]
  const backend = createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps })
  const server = await serveBackend(backend)
  onTestFinished(server.close)
  const run = await here(["run", "write", "--model", "m", "--base-url", server.baseUrl], { cwd })
  const [, id] = /^take it back with: toolwright undo (\S+)$/m.exec(run.stdout)!
  expect(textOf(cwd, "a.txt")).toBe("two\n")
  expect((await here(["undo", id!, "--yes"], { cwd })).code).toBe(0)
  expect(textOf(cwd, "a.txt")).toBe("one\n")
})

test("what a plan's tasks changed one after another is shown as what taking all of it back comes to", async () => {
  const step = (name: string, args: object) =>
    `  - reply: { calls: [{ name: ${name}, arguments: ${JSON.stringify(args)} }] }\n`
  const cwd = folderWith({
    "play.yaml":
      `steps:\n${step("file_write", { path: "a.txt", content: "one\n" })}  - reply: Written.\n` +
      `${step("file_replace", { path: "a.txt", old_text: "one", new_text: "two" })}  - reply: Written again.\n`,
    "plan.yaml":
      "name: twice\ntasks:\n  first: { agent: assistant, task: write }\n  again: { agent: assistant, task: " +
      "write, after: [first] }\n",
  })
  const { stdout } = await here(["plan", "run", "plan.yaml", "--screenplay", "play.yaml"], { cwd })
  const [plan] = /twice-\w+/.exec(stdout)!
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two\n")
  const dry = await here(["undo", plan, "--dry-run"], { cwd })
  expect(dry).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^twice-\w+ .*\n {2}remove .*a\.txt\n[^]*-two\n$/),
  })
  expect(dry.stdout).not.toContain("stays")
  expect((await here(["undo", plan, "--yes"], { cwd })).code).toBe(0)
  expect(existsSync(join(cwd, "a.txt"))).toBe(false)
})
