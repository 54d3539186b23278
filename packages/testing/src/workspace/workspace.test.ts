import { execFileSync } from "node:child_process"
import { existsSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { scripted } from "../script/scripted.ts"
import { runAgent } from "../run/run-agent.ts"
import { workspace } from "./workspace.ts"

describe("workspace", () => {
  test("holds the files that it was given, and goes with them", () => {
    let path: string
    {
      using project = workspace({ files: { "a.txt": "a", "deep/b.bin": new Uint8Array([0, 255]) } })
      path = project.path
      expect(project.files()).toEqual(["a.txt", "deep/b.bin"])
      expect(project.read("a.txt")).toBe("a")
      expect(project.has("c.txt")).toBe(false)
    }
    expect(existsSync(path)).toBe(false)
  })

  test("is not taken for a path or settings, and the other way round", async () => {
    for (const wrong of ["/tmp", { roots: ["."] }]) {
      const given = { task: "Hi", workspace: wrong as never, backend: scripted(["Hello."]) }
      await expect(runAgent(given)).rejects.toMatchObject({
        code: "WORKSPACE_INVALID",
        hint: expect.stringContaining("followRun") as string,
      })
    }
  })

  test("leaves one listener to the process for all that stand, and none after them", () => {
    const before = process.listenerCount("exit")
    const all = Array.from({ length: 12 }, () => workspace())
    expect(process.listenerCount("exit") - before).toBeLessThanOrEqual(1)
    for (const each of all) each.remove()
    expect(process.listenerCount("exit")).toBe(before)
  })

  test("tells what changed since the beginning", () => {
    using project = workspace({ files: { "a.txt": "a", "b.txt": "b", "c.txt": "c" } })
    expect(project.changes()).toEqual({ created: [], changed: [], deleted: [] })
    project.write("a.txt", "A")
    project.write("c.txt", "c")
    project.write("new/d.txt", "d")
    project.write(".toolwright/runs/x.json", "{}")
    rmSync(join(project.path, "b.txt"))
    symlinkSync("a.txt", join(project.path, "link"))
    expect(project.changes()).toEqual({ created: ["link", "new/d.txt"], changed: ["a.txt"], deleted: ["b.txt"] })
  })

  test("is a repository with one commit where git is wanted, whatever the person and a hook that runs the tests have set", () => {
    vi.stubEnv("GIT_DIR", "/nowhere/.git")
    try {
      using project = workspace({ files: { "a.txt": "a" }, git: true })
      expect(project.git("log", "--format=%s %an")).toBe("Begin Test")
      expect(project.git("status", "--porcelain")).toBe("")
      expect(project.git("config", "commit.gpgsign")).toBe("false")
      expect(project.files()).toEqual(["a.txt"])
      expect(() => project.git("shwo")).toThrow(/^git shwo failed: git: 'shwo' is not a git command/)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test("says what is there when a file is missing, and lets no path out", () => {
    using project = workspace({ files: { "src/a.ts": "" } })
    expect(() => project.read("src/b.ts")).toThrow("The workspace has no file 'src/b.ts'. There are: src/a.ts.")
    for (const path of ["../x", "", "a/../../x"])
      expect(() => project.write(path, "")).toThrow("is no file in the workspace")
    expect(() => workspace({ files: { "../x": "" } })).toThrow("is no file in the workspace")
  })

  test("says so when it is gone before the run has ended", async () => {
    const begin = (): Promise<unknown> => {
      using project = workspace()
      return runAgent({ task: "Hi", workspace: project, backend: scripted(["Hello."]) })
    }
    await expect(begin()).rejects.toThrow("was removed already. Await the run before the block with 'using' ends.")
  })

  test("goes with the process where a test forgot it", () => {
    const code =
      `import { workspace } from ${JSON.stringify(join(import.meta.dirname, "workspace.ts"))}; ` +
      `console.log(workspace({ files: { a: "" } }).path); workspace().remove()`
    const path = execFileSync(
      process.execPath,
      ["--conditions=toolwright-source", "--input-type=module", "--eval", code],
      { encoding: "utf8", cwd: import.meta.dirname },
    ).trim()
    expect(path).toContain("toolwright-test-")
    expect(existsSync(path)).toBe(false)
  })
})

test("an agent works in it with the built-in tools, and the run tells what it changed", async () => {
  using project = workspace({ files: { "notes.txt": "one\n", "old.txt": "x" }, git: true })
  project.write("old.txt", "y")
  const run = await runAgent({
    task: "Note two",
    workspace: project,
    backend: scripted([
      { call: "file_read", arguments: { path: "notes.txt" } },
      { expect: { result: "one" }, call: "file_write", arguments: { path: "two.txt", content: "two\n" } },
      "Noted.",
    ]),
  })
  expect(
    run.calls.map(({ call, succeeded }) => [call, succeeded]),
    run.transcript,
  ).toEqual([
    ["file_read", true],
    ["file_write", true],
  ])
  expect(run.changed).toEqual(["two.txt"])
  expect(project.changes()).toEqual({ created: ["two.txt"], changed: ["old.txt"], deleted: [] })
  expect(project.read("two.txt")).toBe("two\n")
})
