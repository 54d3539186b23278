import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { preparedFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()
let cases = 0
afterAll(() => console.log(`kept history: ${cases} ways of a command to destroy a repository`))

/** Two commits and a tag on `main`, a branch of its own, packed and loose, and a repository in a folder. */
function workspace(packed: boolean): WorkspaceFixture {
  return preparedFixture(packed ? "packed" : "loose", (fixture) => {
    fixture.write({ "a.txt": "one\n", "sub/b.txt": "b\n", "sub/.gitignore": "" })
    fixture.gits(
      ["init", "--quiet"],
      ["add", "a.txt"],
      ["commit", "--quiet", "--message=One"],
      ["tag", "first"],
      ["branch", "other"],
    )
    fixture.write({ "a.txt": "two\n" })
    fixture.git("commit", "--quiet", "--all", "--message=Two")
    if (packed) fixture.git("gc", "--quiet")
    fixture.gits(
      ["init", "--quiet", "sub"],
      ["-C", "sub", "add", "."],
      ["-C", "sub", "commit", "--quiet", "--message=Sub"],
    )
  })
}

/** Commands that name git, and take from a repository what it holds. */
const DESTROYING: Readonly<Record<string, string>> = {
  "all of it": "rm -rf .git",
  "what lies in it": "rm -rf .git/* .git/.[a-z]*",
  "its objects": "rm -rf .git/objects",
  "its objects one by one": "find .git/objects -type f -exec rm -f {} +",
  "the contents of its objects": "find .git/objects -type f -exec chmod u+w {} + -exec sh -c ': > \"$0\"' {} \\;",
  "its objects by a move": "mv .git/objects o; mkdir .git/objects",
  "its objects by a link": "rm -rf .git/objects; ln -s /tmp .git/objects",
  "where its objects are shown": "rm -rf /run/toolwright .git/toolwright-objects-*",
  "where new objects go, for a link":
    "cd .git; mv toolwright-objects-* x; ln -s ../sub $(basename toolwright-objects-*)",
  "its refs": "rm -rf .git/refs .git/packed-refs",
  "its refs, for a link elsewhere": "rm -rf .git/refs; ln -s ../../outside .git/refs; rm -f .git/packed-refs",
  "its refs' values": "printf x > .git/refs/heads/main; rm -f .git/packed-refs",
  "its HEAD": "rm -f .git/HEAD",
  "its HEAD's value": "echo nothing > .git/HEAD",
  "its index and logs": "rm -rf .git/index .git/logs",
  "what its branches lead to":
    "git update-ref -d refs/heads/main; git update-ref -d refs/heads/other; git tag -d first; git reflog expire " +
    "--expire=now --all; git gc --quiet --prune=now",
  "what stands before a commit of its own": "echo x > a.txt; git commit -qam Three; rm -rf .git/objects/* .git/refs/*",
  "what lies in the folder's": "rm -rf sub/.git/objects sub/.git/refs sub/.git/HEAD",
}

describe.skipIf(program === undefined)("a sandboxed command that names git", () => {
  test.for(Object.keys(DESTROYING).flatMap((way) => [[way, "loose"] as const, [way, "packed"] as const]))(
    "cannot take from a repository %s (%s)",
    { timeout: 30_000 },
    async ([way, kind]) => {
      using fixture = workspace(kind === "packed")
      cases++
      const tip = fixture.git("rev-parse", "main").trim()
      const outside = join(fixture.root, "../outside")
      mkdirSync(outside)
      const result = await callTool(fixture.tools.get("bash")!, { command: `git --version; ${DESTROYING[way]}` })
      const [log, earlier, , below, branches, tags, other, main] = fixture.gits(
        ["log", "--format=%s", tip],
        ["show", `${tip}~1:a.txt`],
        ["fsck", "--full", "--strict"],
        ["-C", "sub", "log", "--format=%s"],
        ["branch", "--format=%(refname:short)"],
        ["tag"],
        ["log", "-1", "--format=%s", "other"],
        ["log", "--format=%s", "main"],
      )
      expect(log).toBe("Two\nOne\n")
      expect(earlier).toBe("one\n")
      expect(below).toBe("Sub\n")
      expect(branches).toBe("main\nother\n")
      expect(tags).toBe("first\n")
      expect(other).toBe("One\n")
      expect(main!.trim()).toMatch(/^(?:Three\n)?Two\nOne$/u)
      if (way.startsWith("its refs") || way === "its HEAD")
        expect(result.output).toMatch(/were put back|stands at .* again/u)
      expect(readdirSync(outside)).toEqual([])
      expect(readdirSync(join(fixture.root, ".git")).filter((name) => name.startsWith("toolwright"))).toEqual([])
    },
  )

  test("commits, branches, stashes, packs and clones as ever, and leaves nothing of ours", async () => {
    using fixture = workspace(false)
    const bash = fixture.tools.get("bash")!
    const command = `export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
      echo three > a.txt && git commit -qam Three && git checkout -qb new && echo four > a.txt && git commit -qam Four &&
      echo five > a.txt && git stash -q && git stash pop -q && git checkout -q a.txt && git checkout -q main &&
      git merge -q new && git branch -qd new && git clone -q . copy && git gc -q`
    const result = await callTool(bash, { command })
    expect(result).toMatchObject({ success: true })
    expect(result.output).not.toContain("WARNING")
    expect(fixture.git("log", "--format=%s")).toBe("Four\nThree\nTwo\nOne\n")
    expect(fixture.git("-C", "copy", "log", "--format=%s")).toBe("Four\nThree\nTwo\nOne\n")
    fixture.gits(["fsck", "--full"], ["-C", "copy", "fsck", "--full"])
    expect(existsSync(join(fixture.root, ".git/objects/info/alternates"))).toBe(false)
    expect(readdirSync(join(fixture.root, ".git")).filter((name) => name.startsWith("toolwright"))).toEqual([])
  })

  test("is told what no branch leads to any more, and how to keep it", async () => {
    using fixture = workspace(false)
    const tip = fixture.git("rev-parse", "main").trim()
    const bash = fixture.tools.get("bash")!
    const result = await callTool(bash, { command: "git reset -q --hard HEAD~1" })
    expect(result.output).toContain(`set back main: it stood at ${tip}`)
    expect((await callTool(bash, { command: "git branch -D other" })).output).not.toContain("stood at")
    fixture.git("branch", "kept", tip)
    const removed = await callTool(bash, { command: "git branch -D kept" })
    expect(removed.output).toContain("kept")
    expect(removed.output).toContain(`stood at ${tip}`)
    fixture.git("branch", "kept", tip)
    expect(fixture.git("log", "--format=%s", "kept")).toBe("Two\nOne\n")
  })

  test("loses nothing of what it stored where the process above it is killed", async () => {
    using fixture = workspace(false)
    const script = join(fixture.root, "../killed.ts")
    const source = (path: string) => JSON.stringify(join(import.meta.dirname, path))
    writeFileSync(
      script,
      `import { createBuiltinTools } from ${source("../builtin.ts")}
      const tools = createBuiltinTools({ roots: [{ path: process.argv[2], access: "read-write" }] })
      const bash = tools.find(({ name }) => name === "bash")
      const command = "echo x > a.txt; git -c user.name=t -c user.email=t@localhost commit -qam Three; touch done; sleep 60"
      setInterval(() => { if (require("node:fs").existsSync(process.argv[2] + "/done")) process.kill(process.pid, "SIGKILL") }, 20)
      bash.handler({ command }, { signal: new AbortController().signal, progress() {}, callId: "c" })`
        .replace('require("node:fs").existsSync', "existsSync")
        .replace(/^/u, 'import { existsSync } from "node:fs"\n'),
    )
    const args = ["--conditions=toolwright-source", script, fixture.root]
    const { signal, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 })
    expect(signal, stderr).toBe("SIGKILL")
    expect(existsSync(join(fixture.root, "done"))).toBe(true)
    expect(fixture.git("log", "--format=%s")).toBe("Three\nTwo\nOne\n")
    fixture.git("fsck", "--full")
    await callTool(fixture.tools.get("bash")!, { command: "git status" })
    expect(readdirSync(join(fixture.root, ".git")).filter((name) => name.startsWith("toolwright"))).toEqual([])
    expect(fixture.git("log", "--format=%s")).toBe("Three\nTwo\nOne\n")
    expect(readFileSync(join(fixture.root, "a.txt"), "utf8")).toBe("x\n")
  })
})
