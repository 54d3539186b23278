import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ToolRegistry } from "@toolwright/toolbox"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createBuiltinTools } from "../builtin.ts"

let folder: string
const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hidden-commit-"))
  git("init", "-q")
  git("config", "user.name", "t")
  git("config", "user.email", "t@example.invalid")
  writeFileSync(join(folder, "a.txt"), "one\n")
  git("add", "-A")
  git("commit", "-qm", "Begin")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bash = async (command: string) => {
  const registry = new ToolRegistry()
  for (const tool of createBuiltinTools({ roots: [{ path: folder, access: "read-write" }] })) registry.register(tool)
  return registry.execute("bash", { command })
}

const sandboxed = (() => {
  try {
    execFileSync("bwrap", ["--ro-bind", "/", "/", "true"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!sandboxed)("a commit (skipped where there is no bubblewrap)", () => {
  test("cannot hide in a script that the command starts", async () => {
    await bash("printf 'g%s commit -qam x' it > c.sh; echo two > a.txt")
    const result = await bash("bash c.sh")
    expect(result.success).toBe(false)
    expect(git("log", "--format=%s")).toBe("Begin")
  })

  test("that stands in the command is git's own matter", async () => {
    expect((await bash("echo two > a.txt && git commit -qam 'Two'")).success).toBe(true)
    expect(git("log", "--format=%s")).toBe("Two\nBegin")
    expect((await bash("ls -a && cat .git/HEAD")).success).toBe(true)
  })
})
