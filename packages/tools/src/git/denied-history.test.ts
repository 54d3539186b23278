import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { workspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()

/** Ways to have a file's content from a repository. */
const WAYS = [
  "git show HEAD:.env",
  "git show :.env",
  "git diff HEAD~1 HEAD",
  "git log -p",
  "git log --all -p",
  "git grep -i canary HEAD",
  "git stash show -p",
  "git cat-file -p HEAD:.env",
  "git cat-file --batch-all-objects --batch",
  "git blame .env",
  "git archive HEAD | tar xO",
  "git worktree add ../x HEAD && cat ../x/.env; git worktree add x HEAD && cat x/.env",
  "git checkout HEAD -- .env; cp .env y; cat y",
  "git restore --source=HEAD --worktree .env && cat .env",
  "git format-patch --stdout --root HEAD",
  "git bundle create - --all",
  "git fast-export --all",
  "git clone -q . ../c && cat ../c/.env; git clone -q . c && cat c/.env",
  "cp -r .git g && git --git-dir=g show HEAD:.env",
  "GIT_OBJECT_DIRECTORY=$PWD/.git/objects git show HEAD:.env",
  "g=gi; h=t; $g$h show HEAD:.env",
  `python3 -c "import glob,zlib; [print(zlib.decompress(open(f,'rb').read())) for f in ` +
    `glob.glob('.git/objects/??/*')]"`,
  "cat .git/objects/*/* | tr -d '\\0'",
  "git rev-parse --git-path objects | xargs ls -R | wc -l; git unpack-objects < /dev/null; git show HEAD:deep/b.key",
]

describe.skipIf(program === undefined)("what a repository keeps of files that tools may not read", () => {
  test("is told by no command", async () => {
    using fixture = workspaceFixture({ "a.txt": "a\n", ".env": "CANARY-1\n", "deep/b.key": "CANARY-2\n" })
    fixture.gits(
      ["init", "--quiet"],
      ["add", "a.txt"],
      ["commit", "--quiet", "--message=Begin"],
      ["add", "-f", ".env", "deep/b.key"],
      ["commit", "--quiet", "--message=By a person"],
    )
    fixture.write({ "a.txt": "b\n", ".env": "CANARY-3\n" })
    fixture.git("stash", "--quiet")
    for (const command of WAYS) {
      const result = await callTool(fixture.tools.get("bash")!, { command })
      expect({ command, told: JSON.stringify(result).includes("CANARY") }).toEqual({ command, told: false })
    }
    const said = await callTool(fixture.tools.get("bash")!, { command: "git log" })
    expect(said.output).toContain("protected files (")
    // The tool works all the same, and shows the rest.
    const log = await callTool(fixture.tools.get("git")!, { action: "log" })
    expect(log.output).toContain("By a person")
    const diff = await callTool(fixture.tools.get("git")!, { action: "diff", ref: "HEAD~1" })
    expect(JSON.stringify(diff)).not.toContain("CANARY")
  })

  test("counts once it was removed, staged only, or only in a log of refs", async () => {
    using fixture = workspaceFixture({ "a.txt": "a\n" })
    fixture.gits(["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=Begin"])
    const bash = fixture.tools.get("bash")!
    expect((await callTool(bash, { command: "git log --format=%s" })).output).toMatch(/^Begin\n/u)
    writeFileSync(join(fixture.root, ".env"), "CANARY-4\n")
    fixture.git("add", "-f", ".env")
    expect((await callTool(bash, { command: "git show :.env" })).output).not.toContain("CANARY")
    fixture.gits(
      ["commit", "--quiet", "--message=Added"],
      ["rm", "--quiet", "--cached", ".env"],
      ["commit", "--quiet", "--message=Removed"],
    )
    expect((await callTool(bash, { command: "git show HEAD~1:.env" })).output).not.toContain("CANARY")
    fixture.git("reset", "--quiet", "--hard", "HEAD~2")
    expect((await callTool(bash, { command: "git show HEAD@{1}~1:.env" })).output).not.toContain("CANARY")
  })
})
