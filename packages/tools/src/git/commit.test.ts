import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { ExecuteOptions, JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()

function repository(files: Record<string, string> = {}, sandbox: "auto" | "off" = "auto"): WorkspaceFixture {
  const fixture = workspaceFixture({ "README.md": "one\n", ...files }, { sandbox })
  fixture.gits(
    ["init", "--quiet"],
    ["config", "user.name", "Test"],
    ["config", "user.email", "test@localhost"],
    ["add", "README.md"],
    ["commit", "--quiet", "--message=Begin"],
  )
  return fixture
}

function hook(fixture: WorkspaceFixture, name: string, script: string, folder = ".git/hooks"): void {
  mkdirSync(join(fixture.root, folder), { recursive: true })
  writeFileSync(join(fixture.root, folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(fixture.root, folder, name), 0o755)
}

const git = (fixture: WorkspaceFixture, args: JsonObject, options: ExecuteOptions = {}) =>
  callTool(fixture.tools.get("git")!, args, options)
const tracked = (fixture: WorkspaceFixture) => fixture.git("ls-files").trim().split("\n")

describe.for(["auto", "off"] as const)("files that tools may not read, sandbox %s", (sandbox) => {
  const secrets = { ".env": "CANARY\n", "deep/.env.local": "CANARY\n", "deep/key.pem": "CANARY\n", "deep/a.txt": "a\n" }

  test("are not staged by a folder's name", async () => {
    using fixture = repository(secrets, sandbox)
    for (const files of [["."], ["deep"], ["./deep/", "README.md"], [fixture.root]]) {
      const result = await git(fixture, { action: "add", files })
      expect(result).toMatchObject({ success: true })
      expect(result.data).toMatchObject({ left_out: expect.arrayContaining(["deep/key.pem"]) })
    }
    expect(tracked(fixture)).toEqual(["README.md", "deep/a.txt"])
    expect(await git(fixture, { action: "add", files: [".env"] })).toMatchObject({ error: { code: "ACCESS_DENIED" } })
  })

  test("are not committed by a folder's name, nor as changes of what is tracked", async () => {
    using fixture = repository(secrets, sandbox)
    fixture.gits(["add", "-f", ".env"], ["commit", "--quiet", "--message=By a person"])
    fixture.write({ ".env": "CHANGED\n", "README.md": "two\n" })
    const all = await git(fixture, { action: "commit", message: "All" })
    expect(all.data).toMatchObject({ files: ["README.md", "deep/a.txt"] })
    fixture.write({ "README.md": "three\n" })
    const named = await git(fixture, { action: "commit", message: "Named", files: ["."] })
    expect(named.data).toMatchObject({ files: ["README.md"], left_out: expect.arrayContaining([".env"]) })
    expect(fixture.git("show", "HEAD:.env")).toBe("CANARY\n")
  })

  test("stop a commit when somebody staged them", async () => {
    using fixture = repository(secrets, sandbox)
    fixture.git("add", "-f", ".env")
    expect(await git(fixture, { action: "commit", message: "x" })).toMatchObject({
      error: { code: "PROTECTED_STAGED" },
    })
    fixture.write({ "README.md": "two\n" })
    const named = await git(fixture, { action: "commit", message: "x", files: ["README.md"] })
    expect(named.data).toMatchObject({ files: ["README.md"] })
  })

  test("a file that only a filter could store is left to a person", async () => {
    using fixture = repository({ ".gitattributes": "*.bin filter=lfs\n", "big.bin": "raw\n", "a.txt": "a\n" }, sandbox)
    fixture.gits(["config", "filter.lfs.required", "true"], ["config", "filter.lfs.clean", "git-lfs clean -- %f"])
    expect((await git(fixture, { action: "add", files: ["."] })).data).toMatchObject({ left_out: ["big.bin"] })
    const named = await git(fixture, { action: "add", files: ["big.bin"] })
    expect(named).toMatchObject({ error: { code: "FILTER_NEEDED" } })
    expect(tracked(fixture)).toEqual([".gitattributes", "README.md", "a.txt"])
  })

  test("another branch's configuration of these tools is not switched to", async () => {
    using fixture = repository({ "toolwright.yaml": "agent: {}\n" }, sandbox)
    fixture.gits(
      ["checkout", "--quiet", "-b", "other"],
      ["add", "."],
      ["commit", "--quiet", "--message=Configure"],
      ["checkout", "--quiet", "main"],
    )
    for (const args of [
      { action: "checkout", ref: "other" },
      { action: "create_branch", branch: "x", from: "other" },
    ])
      expect(await git(fixture, args)).toMatchObject({ error: { code: "CONFIGURATION_KEPT" } })
    expect(existsSync(join(fixture.root, "toolwright.yaml"))).toBe(false)
  })
})

describe.skipIf(program === undefined)("hooks of a repository, where there is a sandbox", () => {
  test("run on a commit, may refuse it, and their words are told", async () => {
    using fixture = repository()
    hook(fixture, "pre-commit", "if grep -q bad *.txt; then echo 'no bad words' >&2; exit 1; fi")
    fixture.write({ "a.txt": "bad\n" })
    const refused = await git(fixture, { action: "commit", message: "x" })
    expect(refused).toMatchObject({ success: false, error: { code: "GIT_FAILED" } })
    expect(refused.output).toContain("no bad words")
    expect(fixture.git("log", "--format=%s")).toBe("Begin\n")
    fixture.write({ "a.txt": "good\n" })
    const made = await git(fixture, { action: "commit", message: "Good", files: ["a.txt"] })
    expect(made.output).toContain("hooks ran: pre-commit")
    expect(fixture.git("log", "--format=%s")).toBe("Good\nBegin\n")
  })

  test("lie where the repository says, and may correct message and files", async () => {
    using fixture = repository()
    fixture.git("config", "core.hooksPath", ".husky")
    hook(fixture, "commit-msg", 'echo "$(cat "$1") (checked)" > "$1"', ".husky")
    hook(fixture, "pre-commit", "echo formatted > a.txt", ".husky")
    fixture.write({ "a.txt": "raw\n" })
    const made = await git(fixture, { action: "commit", message: "Work", files: ["a.txt"] })
    expect(fixture.git("log", "-1", "--format=%s")).toBe("Work (checked)\n")
    expect(made.modifiedFiles).toEqual(["a.txt"])
  })

  test("see no secret, no network, no variable of ours, and change neither configuration nor hooks", async () => {
    process.env.TOOLWRIGHT_CANARY_KEY = "CANARY-ENVIRONMENT"
    try {
      using fixture = repository({ ".env": "CANARY-FILE\n", ".gitignore": ".env\nseen\n" })
      const outside = join(fixture.root, "../planted")
      hook(
        fixture,
        "pre-commit",
        `{ cat .env; env; cat /proc/*/environ; echo; cat /proc/net/dev; } > seen 2>&1
         echo x > ${outside}; echo '[core]' >> .git/config; echo x > .git/hooks/post-commit; git config core.pager x; exit 0`,
      )
      fixture.write({ "a.txt": "a\n" })
      const before = execFileSync("cat", [join(fixture.root, ".git/config")], { encoding: "utf8" })
      expect(await git(fixture, { action: "commit", message: "x" })).toMatchObject({ success: true })
      const seen = execFileSync("cat", [join(fixture.root, "seen")], { encoding: "utf8" })
      expect(seen).not.toContain("CANARY")
      const interfaces = [...seen.matchAll(/^ *([\w.-]+): +\d+ +\d+/gmu)].map(([, name]) => name)
      expect(interfaces).toEqual(["lo"])
      expect(existsSync(outside)).toBe(false)
      expect(existsSync(join(fixture.root, ".git/hooks/post-commit"))).toBe(false)
      expect(execFileSync("cat", [join(fixture.root, ".git/config")], { encoding: "utf8" })).toBe(before)
    } finally {
      delete process.env.TOOLWRIGHT_CANARY_KEY
    }
  })

  test("that hang leave no lock behind when they are ended, and another's lock stays", async () => {
    using fixture = repository()
    hook(fixture, "pre-commit", "touch began; sleep 600")
    fixture.write({ "a.txt": "a\n" })
    const stop = new AbortController()
    const ended = git(fixture, { action: "commit", message: "x", files: ["a.txt"] }, { signal: stop.signal })
    while (!existsSync(join(fixture.root, "began"))) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    expect((await ended).success).toBe(false)
    const locks = () => readdirSync(join(fixture.root, ".git")).filter((name) => name.endsWith(".lock"))
    // The answer to a cancelled call does not wait for its program's end.
    while (locks().length > 0) await new Promise((resolve) => setImmediate(resolve))
    hook(fixture, "pre-commit", "exit 0")
    expect(await git(fixture, { action: "commit", message: "x", files: ["a.txt"] })).toMatchObject({ success: true })
    fixture.write({ ".git/index.lock": "", "a.txt": "b\n" })
    expect((await git(fixture, { action: "commit", message: "y", files: ["a.txt"] })).success).toBe(false)
    expect(existsSync(join(fixture.root, ".git/index.lock"))).toBe(true)
  })

  test("that lie outside the workspace do not run", async () => {
    using fixture = repository()
    hook(fixture, "pre-commit", "exit 1", "../hooks")
    fixture.git("config", "core.hooksPath", join(fixture.root, "../hooks"))
    fixture.write({ "a.txt": "a\n" })
    expect(await git(fixture, { action: "commit", message: "x" })).toMatchObject({ success: true })
  })
})

test("hooks do not run where nothing contains them, and the answer says so", async () => {
  using fixture = repository({}, "off")
  hook(fixture, "pre-commit", "touch ran; exit 1")
  fixture.write({ "a.txt": "a\n" })
  const made = await git(fixture, { action: "commit", message: "x" })
  expect(made.output).toContain("hooks did NOT run (pre-commit)")
  expect(existsSync(join(fixture.root, "ran"))).toBe(false)
})
