import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { preparedFixture, workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()
let cases = 0
afterAll(() => console.log(`planted: ${cases} ways of a sandboxed command to leave something for git outside`))

/** A workspace with a repository, one in a folder of it, and a submodule-like one that is pointed to. */
function workspace(): WorkspaceFixture {
  return preparedFixture("two repositories", (fixture) => {
    fixture.write({ "a.txt": "a\n", "sub/b.txt": "b\n" })
    for (const [folder, file] of [
      [".", "a.txt"],
      ["sub", "b.txt"],
    ] as const)
      fixture.gits(
        ["-C", folder, "init", "--quiet"],
        ["-C", folder, "add", file],
        ["-C", folder, "commit", "--quiet", "--message=Begin"],
      )
  })
}

/** How a command may try to put `$EVIL`, lines of configuration, or a hook, where git outside would obey them. */
const PLANTING: Readonly<Record<string, string>> = {
  "into the configuration": `printf "$EVIL" >> .git/config`,
  "by git itself": "git config core.fsmonitor $TRAP; git config --add core.hooksPath $PWD/planted",
  "into a hook": "mkdir -p .git/hooks; cp $TRAP .git/hooks/post-index-change; cp $TRAP .git/hooks/pre-commit",
  "in a folder for hooks put in place of theirs": "mv .git/hooks h; mkdir .git/hooks; cp $TRAP .git/hooks/pre-commit",
  "after moving .git away": `mv .git g; cp -r g .git; printf "$EVIL" >> .git/config`,
  "after copying .git": `cp -r .git g; rm -rf .git; mv g .git; printf "$EVIL" >> .git/config`,
  "by a link in place of .git": `cp -r .git g; printf "$EVIL" >> g/config; mv .git old; ln -s g .git`,
  "by a file in place of .git": `cp -r .git g; printf "$EVIL" >> g/config; mv .git old; echo "gitdir: g" > .git`,
  "by a shared folder elsewhere": `cp -r .git g; printf "$EVIL" >> g/config; echo ../g > .git/commondir`,
  "by a link as shared folder": `cp -r .git g; printf "$EVIL" >> g/config; echo ../g > c; ln -s ../c .git/commondir`,
  "by a folder as shared one": `mkdir .git/commondir; printf "$EVIL" >> .git/commondir/config`,
  "in the working tree's own configuration": `git config extensions.worktreeConfig true; printf "$EVIL" > .git/config.worktree`,
  "over a temporary name": `printf "$EVIL" > .git/config.lock; mv .git/config.lock .git/config`,
  "by a hard link": `ln .git/config c; printf "$EVIL" >> c`,
  "by a link to the configuration": `ln -s .git/config c; printf "$EVIL" >> c`,
  "by removing the configuration": `rm -f .git/config; printf "[core]\\n$EVIL" > .git/config`,
  "by mounting over it": `unshare -rm sh -c 'mount --bind / /mnt' ; printf "$EVIL" >> .git/config`,
  "by remounting it": `mount -o remount,rw .git/config; umount .git/config; umount -l .git; printf "$EVIL" >> .git/config`,
  "from a process left behind": `(setsid sh -c 'sleep 1; printf "$EVIL" >> .git/config' &) `,
  "in the folder's repository": `printf "$EVIL" >> sub/.git/config; cp $TRAP sub/.git/hooks/pre-commit`,
  "after moving the folder away": `mv sub s; cp -r s sub; printf "$EVIL" >> sub/.git/config`,
  "by a shared folder of the folder's": `cp -r sub/.git g; printf "$EVIL" >> g/config; echo ../../g > sub/.git/commondir`,
  "in a repository of a folder that it makes": `mkdir made/; mkdir made/.git; cp -r .git/* made/.git; printf "$EVIL" >> made/.git/config`,
  "in a repository without a work tree": `mkdir made; cp -r .git/* made; printf "[core]\\nbare=false\\nworktree=.\\n$EVIL" >> made/config`,
  "in the folder of a work tree, with a shared one elsewhere":
    "mkdir -p made .git/worktrees/x g; cp -r .git/HEAD .git/refs .git/objects g; printf " +
    `"[core]\\nrepositoryformatversion=0\\n$EVIL" > g/config; cp .git/HEAD .git/worktrees/x; echo ../../../g > ` +
    `.git/worktrees/x/commondir; echo $PWD/made/.git > .git/worktrees/x/gitdir; echo "gitdir: ` +
    `../.git/worktrees/x" > made/.git`,
  "in the folder of a work tree, by its own configuration":
    `git worktree add -q made; git config extensions.worktreeConfig true; printf "[core]\\n$EVIL" > ` +
    ".git/worktrees/made/config.worktree",
  "in the folder of a submodule":
    "mkdir -p made .git/modules/x; cp -r .git/HEAD .git/refs .git/objects .git/modules/x; printf " +
    `"[core]\\nrepositoryformatversion=0\\nworktree=../../../made\\n$EVIL" > .git/modules/x/config; echo "gitdir: ` +
    `../.git/modules/x" > made/.git`,
  "in a build output": `mkdir -p dist; cp -r .git dist/.git; printf "$EVIL" >> dist/.git/config`,
  "by a file that points to another folder": `mkdir -p made x; cp -r .git/* x; echo "gitdir: ../x" > made/.git; printf "$EVIL" >> x/config`,
}

describe.skipIf(program === undefined)("a sandboxed command leaves nothing for git outside to start", () => {
  test.for(Object.keys(PLANTING).flatMap((way) => [[way, "git --version; "] as const, [way, ""] as const]))(
    "%s (%s)",
    { timeout: 30_000 },
    async ([way, before]) => {
      using fixture = workspace()
      cases++
      const ran = join(fixture.root, "../ran")
      const trap = join(fixture.root, "trap.sh")
      writeFileSync(trap, `#!/bin/sh\necho ran >> ${ran}\n`)
      chmodSync(trap, 0o755)
      mkdirSync(join(fixture.root, "planted"))
      const evil = `[core]\\n\\tfsmonitor = ${trap}\\n\\tpager = ${trap}\\n`
      await callTool(fixture.tools.get("bash")!, {
        command: `export TRAP=${trap} EVIL='${evil}'; ${before}${PLANTING[way]}`,
      })
      const folders = ["", "sub", "made", "x", "dist"].map((name) => join(fixture.root, name)).filter(existsSync)
      const ident = "-c user.name=T -c user.email=t@localhost"
      const asUser = `git status; git log -1; git add -u; git ${ident} commit --allow-empty -m x`
      execFileSync("sh", ["-c", `for folder; do (cd "$folder" && { ${asUser}; }); done; true`, "sh", ...folders], {
        stdio: "ignore",
        env: { ...process.env, GIT_CEILING_DIRECTORIES: fixture.root },
      })
      expect(existsSync(ran)).toBe(false)
    },
  )

  test("a repository that a command makes keeps what it may say, and the answer tells the rest", async () => {
    using fixture = workspaceFixture({ "a.txt": "a\n" })
    const ran = join(fixture.root, "../ran")
    const command = `git init --quiet . && git config core.fsmonitor 'touch ${ran}' && git config user.name Ann &&
      printf '#!/bin/sh\\ntouch ${ran}\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`
    const result = await callTool(fixture.tools.get("bash")!, { command })
    expect(result.output).toContain("core.fsmonitor")
    expect(result.output).toContain("pre-commit")
    expect(fixture.git("config", "user.name")).toBe("Test\n")
    expect(readFileSync(join(fixture.root, ".git/config"), "utf8")).toContain("Ann")
    fixture.gits(["add", "."], ["commit", "--quiet", "--message=x"])
    expect(existsSync(ran)).toBe(false)
  })

  test("a repository made the usual way is left alone, and works", async () => {
    using fixture = workspaceFixture({ "a.txt": "a\n" })
    const command =
      "git init --quiet . && git config user.name Ann && git config user.email ann@localhost && git add . && git " +
      "commit -qm One"
    const result = await callTool(fixture.tools.get("bash")!, { command })
    expect(result).toMatchObject({ success: true })
    expect(result.output).not.toContain("WARNING")
    expect(fixture.git("log", "--format=%an %s")).toBe("Ann One\n")
  })

  test("a working tree that a command adds is left alone, and works", async () => {
    using fixture = workspace()
    const result = await callTool(fixture.tools.get("bash")!, { command: "git worktree add -q tree" })
    expect(result.output).not.toContain("WARNING")
    expect(fixture.git("-C", "tree", "status", "--porcelain")).toBe("")
  })

  test("no command writes the configuration of these tools", async () => {
    using fixture = workspaceFixture({ "deep/toolwright.yaml": "agent: {}\n", "deep/.toolwright/x": "1" })
    const bash = fixture.tools.get("bash")!
    const evil = "mcp: {servers: {x: {command: evil}}}"
    const made = await callTool(bash, { command: `echo '${evil}' > toolwright.yaml` })
    expect(made.output).toContain("toolwright.yaml.refused")
    for (const command of [
      `echo '${evil}' > deep/toolwright.yaml`,
      `echo '${evil}' > x; mv x deep/toolwright.yaml`,
      `mv deep d; mkdir deep; echo '${evil}' > deep/toolwright.yaml`,
      `rm -rf deep/.toolwright; ln -s /tmp deep/.toolwright`,
      `ln -s deep/toolwright.yaml x; echo '${evil}' > x`,
      `ln -s deep/toolwright.yaml toolwright.yaml`,
    ]) {
      cases++
      await callTool(bash, { command })
      expect(readFileSync(join(fixture.root, "deep/toolwright.yaml"), "utf8")).toBe("agent: {}\n")
      expect(readFileSync(join(fixture.root, "deep/.toolwright/x"), "utf8")).toBe("1")
      expect(existsSync(join(fixture.root, "toolwright.yaml"))).toBe(false)
    }
  })
})

describe.skipIf(program === undefined)("a repository's own folder", () => {
  test("is read-only as a whole where the command does not name git", async () => {
    using fixture = workspace()
    const bash = fixture.tools.get("bash")!
    const write = "echo x > .git/made; echo x > sub/.git/made; echo x > .git/HEAD"
    expect((await callTool(bash, { command: write })).output).toMatch(/Read-only file system/u)
    expect([".git/made", "sub/.git/made"].filter((path) => existsSync(join(fixture.root, path)))).toEqual([])
    await callTool(bash, { command: "git --version; echo x > .git/made" })
    expect(existsSync(join(fixture.root, ".git/made"))).toBe(true)
    expect(fixture.git("log", "--format=%s")).toBe("Begin\n")
  })

  test.each(["", "git --version; "])("stays in its place, and so do the folders above it (%j)", async (before) => {
    using fixture = workspace()
    mkdirSync(join(fixture.root, "above"))
    execFileSync("mv", ["sub", "above/sub"], { cwd: fixture.root })
    const paths = [".git", ".git/config", "above", "above/sub", "above/sub/.git", "above/sub/.git/config"]
    const nodes = () => paths.map((path) => statSync(join(fixture.root, path), { throwIfNoEntry: false })?.ino)
    const were = nodes()
    await callTool(fixture.tools.get("bash")!, {
      command:
        `${before}mv .git g; mv above/sub/.git above/g; mv above/sub s; mv above a; rm -rf above; mkdir ` +
        "-p above/sub",
    })
    // A copy may have come of it; the repositories are where they were.
    expect(nodes()).toEqual(were)
  })
})

test.each(program === undefined ? (["off"] as const) : (["auto", "off"] as const))(
  "configuration that a command makes at a root's top is renamed, sandbox %s",
  async (sandbox) => {
    using fixture = workspaceFixture({ "a.txt": "a\n" }, { sandbox })
    const command = "echo 'mcp: {}' > toolwright.yaml"
    const { output } = await callTool(fixture.tools.get("bash")!, { command })
    expect(output).toContain("toolwright.yaml.refused")
    expect(existsSync(join(fixture.root, "toolwright.yaml"))).toBe(false)
    expect(readFileSync(join(fixture.root, "toolwright.yaml.refused"), "utf8")).toBe("mcp: {}\n")
  },
)

test.skipIf(program === undefined)(
  "no record of runs is planted where there is none yet, and nothing is left in its place",
  async () => {
    const fixture = workspaceFixture({ "a.txt": "a\n" })
    const bash = fixture.tools.get("bash")!
    await callTool(bash, {
      command: "mkdir -p .toolwright/runs/20260101-forged && echo '{}' > .toolwright/runs/20260101-forged/run.json",
    })
    expect(existsSync(join(fixture.root, ".toolwright/runs"))).toBe(false)
    await callTool(bash, { command: "mv .toolwright t; mkdir .toolwright; echo x > .toolwright/lock.json" })
    expect(existsSync(join(fixture.root, ".toolwright/lock.json"))).toBe(false)
  },
)
