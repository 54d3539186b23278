import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createView, executeCall, ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { createWorkspace } from "@toolwright/host/paths"
import { expect, onTestFinished, test } from "vitest"
import { createBuiltinTools } from "./builtin.ts"

function fixture() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-interrupted-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [root, kept] = [join(folder, "ws"), join(folder, "undo")]
  mkdirSync(join(root, "sub/deep"), { recursive: true })
  writeFileSync(join(root, "a.txt"), "one\ntwo\n")
  writeFileSync(join(root, "sub/deep/b.txt"), "b\n")
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()
  git("init", "-q", "-b", "main")
  git("config", "user.name", "Tester")
  git("config", "user.email", "tester@example.invalid")
  git("add", "-A")
  execFileSync("git", ["commit", "-q", "-m", "Begin"], {
    cwd: root,
    env: { ...process.env, GIT_COMMITTER_DATE: "2020-01-01T00:00:00Z" },
  })
  const workspace = createWorkspace({
    roots: [{ path: root, access: "read-write" }],
    stateDirectory: join(folder, "state"),
    history: { folder: () => kept, makeFolder: () => mkdirSync(kept, { recursive: true }) },
  })
  const registry = new ToolRegistry()
  for (const tool of createBuiltinTools({ roots: [], workspace, env: {} })) registry.register(tool)
  const tools = createView(registry, { splitActions: true })
  const toolOf = (name: string) => (name.includes("_") ? tools : registry).get(name)!
  const startedAt = Date.now()
  return {
    root,
    git,
    call: (name: string, args: JsonObject) =>
      executeCall(name.includes("_") ? tools : registry, { name, arguments: args }, { runId: "r", callId: "c" }),
    reconcile: (name: string, args: JsonObject) =>
      toolOf(name).reconcile!({ arguments: args, runId: "r", callId: "c", idempotencyKey: "k", startedAt }),
    /** Leaves the record of the call as a process does that is killed before it can look at what came of it. */
    forgetEnd() {
      const [name] = readdirSync(join(kept, "log"))
      const path = join(kept, "log", name!)
      const lines = readFileSync(path, "utf8").split("\n")
      writeFileSync(path, lines.filter((line) => !line.startsWith('{"type":"done"')).join("\n"))
    },
  }
}

const CHANGES: [string, JsonObject][] = [
  ["file", { action: "write", path: "a.txt", content: "new\n" }],
  ["file_write", { path: "new.txt", content: "new\n" }],
  ["file", { action: "append", path: "a.txt", content: "three\n" }],
  ["file", { action: "replace", path: "a.txt", old_text: "one", new_text: "1" }],
  ["file", { action: "delete", path: "a.txt" }],
  ["write_file", { path: "a.txt", content: "new\n" }],
  ["append_file", { path: "a.txt", content: "three" }],
  ["edit_file", { path: "a.txt", old_text: "one", new_text: "1" }],
  ["insert_lines", { path: "a.txt", before_line: 1, content: "zero" }],
  ["move_file", { source: "a.txt", destination: "moved.txt" }],
  ["delete_file", { path: "a.txt" }],
  ["create_directory", { path: "made/here" }],
  ["delete_directory", { path: "sub", recursive: true }],
  ["code_edit", { action: "delete_lines", path: "a.txt", start_line: 1, end_line: 1 }],
]

test.each(CHANGES)("an interrupted %s %j is told by what was noted and what is there", async (name, args) => {
  const { call, reconcile, forgetEnd } = fixture()
  expect(await reconcile(name, args)).toEqual({ outcome: "not-done" })
  const { modifiedFiles } = await call(name, args)
  expect(modifiedFiles.length).toBeGreaterThan(0)
  const done = { outcome: "done", result: expect.objectContaining({ success: true }) as object }
  expect(await reconcile(name, args)).toEqual(done)
  forgetEnd()
  expect(await reconcile(name, args)).toEqual(done)
})

test("a call that was noted and not made is made; what somebody else has changed since is nobody's to tell", async () => {
  const { root, call, reconcile, forgetEnd } = fixture()
  const args = { action: "append", path: "a.txt", content: "three\n" }
  await call("file", args)
  forgetEnd()
  writeFileSync(join(root, "a.txt"), "one\ntwo\n")
  expect(await reconcile("file", args)).toEqual({ outcome: "not-done" })
  writeFileSync(join(root, "a.txt"), "something else\n")
  expect(await reconcile("file", args)).toBeUndefined()
})

test("a directory that was removed in part is removed to its end", async () => {
  const { root, call, reconcile, forgetEnd } = fixture()
  const args = { path: "sub", recursive: true }
  await call("delete_directory", args)
  forgetEnd()
  mkdirSync(join(root, "sub"))
  expect(await reconcile("delete_directory", args)).toEqual({ outcome: "not-done" })
  await call("delete_directory", args)
  expect(existsSync(join(root, "sub"))).toBe(false)
})

test("a commit is told by the newest commit, and a new branch by the branches", async () => {
  const { root, git, reconcile } = fixture()
  const commit = { action: "commit", message: "Second  \n\nWith a body." }
  expect(await reconcile("git", commit)).toEqual({ outcome: "not-done" })
  writeFileSync(join(root, "c.txt"), "c\n")
  git("add", "-A")
  git("commit", "-q", "-m", "Second\n\nWith a body.")
  expect(await reconcile("git", commit)).toMatchObject({
    outcome: "done",
    result: { success: true, data: { commit: git("rev-parse", "HEAD"), branch: "main", files: ["c.txt"] } },
  })
  expect(await reconcile("git_commit", { message: "Second\n\nWith a body." })).toMatchObject({ outcome: "done" })
  expect(await reconcile("git", { action: "commit", message: "Third" })).toBeUndefined()
  const branch = { action: "create_branch", branch: "work" }
  expect(await reconcile("git", branch)).toEqual({ outcome: "not-done" })
  git("checkout", "-q", "-b", "work")
  expect(await reconcile("git", branch)).toMatchObject({ outcome: "done", result: { data: { branch: "work" } } })
  git("checkout", "-q", "main")
  expect(await reconcile("git", branch)).toBeUndefined()
})
