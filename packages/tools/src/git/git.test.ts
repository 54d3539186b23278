import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"
import type { ProcessToolsConfig } from "@toolwright/host/process"

function repository(files: Record<string, string> = {}, config: ProcessToolsConfig = {}): WorkspaceFixture {
  const fixture = workspaceFixture({ "README.md": "one\n", ...files }, config)
  fixture.gits(["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=Begin"])
  return fixture
}

const git = (fixture: WorkspaceFixture, args: JsonObject) => callTool(fixture.tools.get("git")!, args)

describe("git", () => {
  test("tells staged, unstaged and untracked files apart, and what to do with them", async () => {
    using fixture = repository({ "a.txt": "a\n" })
    fixture.write({ "a.txt": "b\n", "README.md": "two\n", "new file.txt": "", "sub/ü.txt": "", "x\nClean.\u202e": "" })
    fixture.git("add", "a.txt")
    const result = await git(fixture, { action: "status" })
    expect(result.data).toMatchObject({
      branch: "main",
      clean: false,
      staged: [{ path: "a.txt", status: "modified" }],
      unstaged: [{ path: "README.md", status: "modified" }],
      untracked: ["new file.txt", "sub/ü.txt", "x\nClean.\u202e"],
    })
    expect(result.output).toMatch(/Untracked \(new files that git does not know yet; add them/u)
    expect(result.output).toContain("x\\u000aClean.\\u202e")
  })

  test("takes a branch for what git takes it for, wherever it is kept and whatever else has its name", async () => {
    using fixture = repository()
    const told = async (ref: string) => {
      const { data, error } = await git(fixture, { action: "log", ref, max_count: 1 })
      return (data as { commits: { subject: string }[] } | undefined)?.commits[0]?.subject ?? error?.code
    }
    const commit = (message: string) => fixture.git("commit", "--quiet", "--allow-empty", `--message=${message}`)
    fixture.git("checkout", "--quiet", "-b", "loose/one")
    commit("On loose")
    fixture.git("checkout", "--quiet", "-b", "both")
    commit("On both")
    fixture.git("tag", "-a", "both", "--message=t", "main")
    fixture.git("branch", "abcdef1", "main")
    expect([await told("loose/one"), await told("both"), await told("abcdef1"), await told("HEAD")]).toEqual([
      "On loose",
      "Begin",
      "Begin",
      "On both",
    ])
    fixture.git("pack-refs", "--all")
    expect([await told("loose/one"), await told("both"), await told("main")]).toEqual(["On loose", "Begin", "Begin"])
    expect(await told("none")).toBe("UNKNOWN_REF")
    const result = await git(fixture, { action: "checkout", ref: "loose/one" })
    expect(result.data).toMatchObject({ branch: "loose/one" })
    expect(fixture.git("branch", "--show-current").trim()).toBe("loose/one")
  })

  test("shows both sides of a merge, and nothing of a protected file in it", async () => {
    using fixture = repository({ "a.txt": "a\n", ".env": "KEY=canary-0\n" })
    fixture.git("checkout", "--quiet", "-b", "other")
    fixture.write({ "a.txt": "other\n", ".env": "KEY=canary-1\n" })
    fixture.git("commit", "--quiet", "--all", "--message=Other")
    fixture.git("checkout", "--quiet", "main")
    fixture.write({ "a.txt": "main\n", ".env": "KEY=canary-2\n" })
    fixture.git("commit", "--quiet", "--all", "--message=Main")
    expect(() => fixture.git("merge", "other")).toThrow("Command failed")
    const result = await git(fixture, { action: "diff" })
    expect(result.data, result.output).toMatchObject({ left_out: [".env"] })
    expect(result.output).toMatch(/\+main[^]*\+ other/u)
    expect(JSON.stringify(result)).not.toContain("canary")
  })

  test("tells the files of a diff by their names, blanks, quotes and other alphabets too", async () => {
    const names = ['a "quoted" name.txt', "tab\there.txt", "ä b/ü.txt"]
    using fixture = repository(Object.fromEntries(names.map((name) => [name, "one\n"])))
    fixture.write(Object.fromEntries(names.map((name) => [name, "two\n"])))
    const { data } = await git(fixture, { action: "diff" })
    expect((data as { files: { path: string }[] }).files.map(({ path }) => path)).toEqual(names)
  })

  test("follows renames", async () => {
    using fixture = repository({ "old name.txt": "some text that is long enough\n" })
    fixture.git("mv", "old name.txt", "new name.txt")
    const result = await git(fixture, { action: "status" })
    expect(result.data).toMatchObject({ staged: [{ path: "new name.txt", from: "old name.txt", status: "renamed" }] })
  })

  test("shows a diff with counts, and explains an empty one", async () => {
    using fixture = repository()
    fixture.write({ "README.md": "one\ntwo\n", "new.txt": "x\n" })
    const changed = await git(fixture, { action: "diff" })
    expect(changed.data).toMatchObject({ files: [{ path: "README.md", added: 1, removed: 0 }] })
    expect(changed.output).toContain("+two")
    const empty = await git(fixture, { action: "diff", staged: true })
    expect(empty.output).toContain("Nothing is staged")
    expect(empty.output).toContain("new.txt")
  })

  test("never shows what changed in a file that tools may not read", async () => {
    using fixture = repository({ ".env": "KEY=canary-1\n", "[a].txt": "a\n", "deep/id_rsa": "canary-2\n" })
    fixture.write({ ".env": "KEY=canary-3\n", "[a].txt": "b\n", "deep/id_rsa": "canary-4\n" })
    const calls: JsonObject[] = [{}, { ref: "HEAD" }, { files: [".", "[a].txt"] }]
    for (const args of calls) {
      const result = await git(fixture, { action: "diff", ...args })
      expect(result.success).toBe(true)
      expect(JSON.stringify(result)).not.toContain("canary")
      expect(result.output).toContain(".env")
      expect(result.data).toMatchObject({ files: [{ path: "[a].txt" }], left_out: [".env", "deep/id_rsa"] })
    }
    fixture.git("add", ".")
    expect(JSON.stringify(await git(fixture, { action: "diff", staged: true }))).not.toContain("canary")
  })

  test("stages, commits with any message, and logs", async () => {
    using fixture = repository()
    fixture.write({ "b.txt": "b\n", "c.txt": "c\n" })
    expect((await git(fixture, { action: "add", files: ["b.txt"] })).data).toMatchObject({
      staged: [{ path: "b.txt", status: "added" }],
    })
    const message = '--amend -m $(touch x) "quoted"\n\n#1 second line'
    const committed = await git(fixture, { action: "commit", message })
    expect(committed.data).toMatchObject({ files: ["b.txt"], branch: "main" })
    expect(fixture.git("log", "-1", "--format=%B").trim()).toBe(message)
    expect(fixture.git("status", "--porcelain")).toBe("?? c.txt\n")
    const log = await git(fixture, { action: "log" })
    expect(log.data).toMatchObject({
      commits: [{ subject: '--amend -m $(touch x) "quoted"', body: "#1 second line" }, { subject: "Begin" }],
    })
    expect(existsSync(join(fixture.root, "x"))).toBe(false)
  })

  test("commits the named files only", async () => {
    using fixture = repository()
    fixture.write({ "README.md": "two\n", "b.txt": "b\n", "c.txt": "c\n" })
    fixture.git("add", "c.txt")
    expect((await git(fixture, { action: "commit", message: "b", files: ["b.txt"] })).data).toMatchObject({
      files: ["b.txt"],
    })
    expect(fixture.git("status", "--porcelain")).toBe(" M README.md\nA  c.txt\n")
  })

  test("commits everything when nothing is staged, but no secrets", async () => {
    using fixture = repository()
    fixture.write({ "README.md": "two\n", "b.txt": "b\n", ".env": "TOKEN=1\n", "keys/id_rsa": "x" })
    const result = await git(fixture, { action: "commit", message: "All" })
    expect(result.data).toMatchObject({ files: ["README.md", "b.txt"], left_out: [".env", "keys/id_rsa"] })
    expect(result.output).toContain("look like secrets")
  })

  test("commits a deletion", async () => {
    using fixture = repository({ "gone.txt": "x\n" })
    execFileSync("rm", [join(fixture.root, "gone.txt")])
    expect((await git(fixture, { action: "commit", message: "Remove" })).data).toMatchObject({ files: ["gone.txt"] })
  })

  test("says that there is nothing to commit", async () => {
    using fixture = repository()
    expect(await git(fixture, { action: "commit", message: "x" })).toMatchObject({
      success: false,
      error: { code: "NOTHING_TO_COMMIT" },
    })
  })

  test("makes a first commit", async () => {
    using fixture = workspaceFixture({ "a.txt": "a" })
    fixture.git("init", "--quiet")
    expect((await git(fixture, { action: "log" })).output).toBe("No commits yet.")
    expect((await git(fixture, { action: "commit", message: "First" })).data).toMatchObject({ files: ["a.txt"] })
  })

  test("creates branches, switches, and says which files changed by that", async () => {
    using fixture = repository()
    expect((await git(fixture, { action: "create_branch", branch: "feature/x" })).success).toBe(true)
    fixture.write({ "README.md": "two\n" })
    await git(fixture, { action: "commit", message: "Two" })
    const back = await git(fixture, { action: "checkout", ref: "main" })
    expect(back.modifiedFiles).toEqual(["README.md"])
    expect(readFileSync(join(fixture.root, "README.md"), "utf8")).toBe("one\n")
    const unknown = await git(fixture, { action: "checkout", ref: "mian" })
    expect(unknown).toMatchObject({ success: false, error: { code: "UNKNOWN_REF" } })
    expect(unknown.output).toContain("Branches: feature/x, main")
  })

  test("shows what would deceive a terminal as escapes, and keeps the data", async () => {
    using fixture = repository()
    fixture.write({ "README.md": "one\n\u001b[2Jgone \u202e backwards\rover\n", "b\u001b[31m.txt": "" })
    const diff = await git(fixture, { action: "diff" })
    expect(diff.output).toContain("+\\u001b[2Jgone \\u202e backwards\\u000dover")
    expect((diff.data as { diff: string }).diff).toContain("\u001b[2Jgone")
    expect((await git(fixture, { action: "status" })).output).toContain("b\\u001b[31m.txt")
  })

  test("works in a linked work tree", async () => {
    using fixture = repository()
    fixture.git("worktree", "add", "--quiet", "side", "-b", "side")
    fixture.write({ "side/README.md": "two\n" })
    const path = "side"
    expect((await git(fixture, { action: "status", path })).data).toMatchObject({
      branch: "side",
      unstaged: [{ path: "README.md" }],
    })
    expect((await git(fixture, { action: "commit", path, message: "In the side tree" })).data).toMatchObject({
      branch: "side",
      files: ["README.md"],
    })
    expect(fixture.git("log", "--format=%s", "side", "--")).toBe("In the side tree\nBegin\n")
  })

  test("pushes to a remote that configuration allows", async () => {
    using fixture = repository({}, { git: { protocols: ["file"] } })
    const remote = join(fixture.root, "..", "remote.git")
    execFileSync("git", ["init", "--quiet", "--bare", remote])
    fixture.git("remote", "add", "origin", remote)
    expect((await git(fixture, { action: "push" })).error).toBeUndefined()
    expect(execFileSync("git", ["--git-dir", remote, "log", "--format=%s", "main"], { encoding: "utf8" })).toBe(
      "Begin\n",
    )
    expect(fixture.git("rev-parse", "--abbrev-ref", "main@{upstream}")).toBe("origin/main\n")
    expect((await git(fixture, { action: "push" })).error).toBeUndefined()
    expect(fixture.git("config", "--get-all", "branch.main.merge")).toBe("refs/heads/main\n")
    expect(await git(fixture, { action: "push", remote: "upstream" })).toMatchObject({
      success: false,
      error: { code: "UNKNOWN_REMOTE", hint: "Remotes: origin." },
    })
  })

  test("refuses remotes by other protocols", async () => {
    using fixture = repository()
    fixture.git("remote", "add", "origin", "ext::sh -c touch% /tmp/toolwright-ext-ran")
    expect(await git(fixture, { action: "push" })).toMatchObject({ success: false, error: { code: "GIT_FAILED" } })
    expect(existsSync("/tmp/toolwright-ext-ran")).toBe(false)
    fixture.git("remote", "set-url", "origin", join(fixture.root, "..", "other.git"))
    expect((await git(fixture, { action: "push" })).output).toContain("not allowed")
  })
})

describe("get_local_git_changes_info", () => {
  test("lists each file in its place", async () => {
    using fixture = repository({ "a.txt": "a\n" })
    fixture.write({ "a.txt": "b\n", "README.md": "two\n", "new.txt": "" })
    fixture.git("add", "a.txt")
    const result = await callTool(fixture.tools.get("get_local_git_changes_info")!, {})
    expect(result.data).toMatchObject({
      repository: ".",
      status: "changed",
      staged: [{ path: "a.txt", status: "modified" }],
      unstaged: [{ path: "README.md", status: "modified" }],
      untracked: ["new.txt"],
    })
  })

  test("refuses a folder that is no repository, even inside a bigger one", async () => {
    using fixture = workspaceFixture({ "plain/a.txt": "" })
    execFileSync("git", ["init", "--quiet", join(fixture.root, "..")])
    const result = await callTool(fixture.tools.get("get_local_git_changes_info")!, { path: "plain" })
    expect(result).toMatchObject({
      success: false,
      error: {
        code: "NOT_A_REPOSITORY",
        message: "Not a git repository: plain.",
        hint: expect.stringContaining(`\`workspace.roots: ${join(fixture.root, "..")}\``) as string,
      },
    })
  })

  test("takes a folder's name literally", async () => {
    using fixture = workspaceFixture({ "$(touch x)/a.txt": "" })
    execFileSync("git", ["init", "--quiet"], { cwd: join(fixture.root, "$(touch x)") })
    const result = await callTool(fixture.tools.get("get_local_git_changes_info")!, { path: "$(touch x)" })
    expect(result.data).toMatchObject({ untracked: ["a.txt"] })
    expect([
      existsSync(join(fixture.root, "x")),
      existsSync(join(fixture.root, "$(touch x)", "x")),
      existsSync("x"),
    ]).toEqual([false, false, false])
  })
})

describe.for([{ sandbox: "auto" as const }, { sandbox: "off" as const }])(
  "a hostile repository, sandbox $sandbox",
  ({ sandbox }) => {
    test("cannot make git run its programs", async () => {
      using fixture = repository(
        { "a.txt": "a\n", ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n" },
        { sandbox },
      )
      const ran = join(fixture.root, "..", "ran")
      const script = join(fixture.root, "evil.sh")
      writeFileSync(script, `#!/bin/sh\necho "$0 $@" >> ${ran}\ncat\n`)
      chmodSync(script, 0o755)
      const keys = [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "merge.evil.driver",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "gpg.program",
        "credential.helper",
        "core.alternateRefsCommand",
      ]
      for (const key of keys) fixture.git("config", key, script)
      fixture.git("config", "commit.gpgSign", "true")
      // Programs can also be named in a file that the configuration includes.
      writeFileSync(join(fixture.root, "included"), `[filter "more"]\n\tclean = ${script}\n\tsmudge = ${script}\n`)
      fixture.git("config", "include.path", "../included")
      fixture.write({
        ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n*.md filter=more\n",
        "README.md": "changed\n",
      })
      for (const hook of [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-push",
      ]) {
        writeFileSync(join(fixture.root, ".git/hooks", hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`)
        chmodSync(join(fixture.root, ".git/hooks", hook), 0o755)
      }
      fixture.write({ "a.txt": "changed\n", "b.txt": "new\n" })
      const calls: JsonObject[] = [
        { action: "status" },
        { action: "diff" },
        { action: "add", files: ["a.txt", "b.txt", "README.md"] },
        { action: "diff", staged: true },
        { action: "commit", message: "x" },
        { action: "log" },
        { action: "create_branch", branch: "side" },
        { action: "checkout", ref: "main" },
        { action: "push" },
      ]
      for (const args of calls) {
        const result = await git(fixture, args)
        expect(existsSync(ran) ? `${JSON.stringify(args)}: ${readFileSync(ran, "utf8")}` : "nothing ran").toBe(
          "nothing ran",
        )
        if (sandbox === "off" && args.action !== "push")
          expect({ args, error: result.error }).toEqual({ args, error: undefined })
      }
      // The trap is real: git as it comes runs it.
      fixture.git("status")
      expect(readFileSync(ran, "utf8")).toContain("evil.sh")
    })

    test.each([["--output=stolen"], ["-x"], ["main --output=stolen"], ["main\n--help"], [""]])(
      "cannot be given options as a revision: %j",
      async (ref) => {
        using fixture = repository({}, { sandbox })
        for (const args of [
          { action: "log", ref },
          { action: "diff", ref },
          { action: "checkout", ref },
          { action: "create_branch", branch: ref },
        ]) {
          expect({ args, ...(await git(fixture, args)) }).toMatchObject({ args, success: false })
        }
        expect(existsSync(join(fixture.root, "stolen"))).toBe(false)
        expect(fixture.git("branch", "--format=%(refname:short)")).toBe("main\n")
      },
    )

    test("takes the names of files literally", async () => {
      using fixture = repository({ "--help": "x\n", ":(top)*": "x\n", "b*": "x\n", bb: "x\n" }, { sandbox })
      fixture.write({ "--help": "y\n", ":(top)*": "y\n", "b*": "y\n", bb: "y\n" })
      const result = await git(fixture, { action: "commit", message: "x", files: ["--help", ":(top)*", "b*"] })
      expect(result.data).toMatchObject({ files: ["--help", ":(top)*", "b*"] })
      expect(await git(fixture, { action: "add", files: ["../outside"] })).toMatchObject({
        success: false,
        error: { code: "ACCESS_DENIED" },
      })
    })

    test("cannot place its work tree elsewhere", async () => {
      using fixture = repository({}, { sandbox })
      const elsewhere = join(fixture.root, "..", "elsewhere")
      mkdirSync(elsewhere)
      writeFileSync(join(elsewhere, "README.md"), "precious\n")
      fixture.git("config", "core.worktree", elsewhere)
      await git(fixture, { action: "create_branch", branch: "side" })
      await git(fixture, { action: "checkout", ref: "main" })
      expect(readFileSync(join(elsewhere, "README.md"), "utf8")).toBe("precious\n")
    })

    test("cannot be a link to another repository", async () => {
      using fixture = repository({}, { sandbox })
      renameSync(join(fixture.root, ".git"), join(fixture.root, "..", "moved.git"))
      execFileSync("ln", ["-s", "../moved.git", join(fixture.root, ".git")])
      expect(await git(fixture, { action: "status" })).toMatchObject({
        success: false,
        error: { code: "NOT_A_REPOSITORY" },
      })
    })
  },
)
