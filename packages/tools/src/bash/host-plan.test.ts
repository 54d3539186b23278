import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { createWorkspace } from "@toolwright/host/paths"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { createProcessTools } from "../process-tools.ts"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()

/** Some thousands of files and one thousand more, as links of each other: a file of its own costs five times as much. */
function fillWith(thousands: number, folder: string): void {
  const script = 'mkdir many; cd many; mkdir 0; cd 0; seq 1000 | xargs touch; cd ..; seq "$0" | xargs -n1 cp -al 0'
  execFileSync("sh", ["-ec", script, String(thousands)], { cwd: folder })
}

describe.skipIf(program === undefined)("commands keep to the workspace's own rules", () => {
  test("secrets that tools may not read are hidden", async () => {
    using fixture = workspaceFixture({
      ".env": "TOKEN=SECRET-1",
      "deep/key.pem": "SECRET-2",
      ".env.example": "TOKEN=",
      "a.txt": "plain",
    })
    const result = await callTool(fixture.tools.get("bash")!, {
      command: "cat a.txt .env.example .env deep/key.pem; cp .env copy; cat copy",
    })
    expect(result.output).toContain("plainTOKEN=")
    expect(JSON.stringify(result)).not.toContain("SECRET-")
    expect(result.output).toMatch(/\.env: Permission denied/u)
  })

  test("secrets are hidden in large workspaces, build outputs and further roots too", async () => {
    using fixture = workspaceFixture({ ".env": "SECRET-1", "dist/.env": "SECRET-2", "more/a.txt": "plain" })
    mkdirSync(join(fixture.root, "../second"))
    writeFileSync(join(fixture.root, "../second/id_rsa"), "SECRET-3")
    fillWith(20, join(fixture.root, "more"))
    const workspace = createWorkspace({
      roots: [{ path: fixture.root, access: "read-write" }, { path: join(fixture.root, "../second") }],
      stateDirectory: join(fixture.root, "../state"),
    })
    const bash = createProcessTools(workspace).find((tool) => tool.name === "bash")!
    const result = await callTool(bash, {
      command: "cat more/a.txt .env dist/.env ../second/id_rsa; cp .env copy; cat copy",
    })
    expect(result.output).toContain("plain")
    expect(JSON.stringify(result)).not.toContain("SECRET-")
  })

  test("beyond 200,000 files (2,000 here) a warning says that some secrets may be read", async () => {
    using fixture = workspaceFixture({ "a.txt": "plain" })
    const policy = { ...fixture.workspace.policy, mostEntries: 2000 }
    const bash = createProcessTools({ ...fixture.workspace, policy }).find((tool) => tool.name === "bash")!
    expect((await callTool(bash, { command: "cat a.txt" })).output).not.toContain("WARNING")
    fillWith(2, fixture.root)
    const { output } = await callTool(bash, { command: "cat a.txt" })
    expect(output).toContain("WARNING: the workspace holds too many files to find all secrets in it")
  })

  test("a read-only workspace stays as it is, by shell and by git", async () => {
    using fixture = workspaceFixture({ "a.txt": "before\n" })
    fixture.gits(["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=Begin"])
    writeFileSync(join(fixture.root, "a.txt"), "changed\n")
    const workspace = createWorkspace({
      roots: [{ path: fixture.root, access: "read-only" }],
      stateDirectory: join(fixture.root, "../state"),
    })
    const tools = new Map(createProcessTools(workspace).map((tool) => [tool.name, tool]))
    const shell = await callTool(tools.get("bash")!, {
      command: "cat a.txt; echo x > a.txt; touch b.txt; echo x > .git/HEAD",
    })
    expect(shell.output).toMatch(/^changed[\s\S]*Read-only file system/u)
    expect(readFileSync(join(fixture.root, "a.txt"), "utf8")).toBe("changed\n")
    expect(existsSync(join(fixture.root, "b.txt"))).toBe(false)
    expect((await callTool(tools.get("git")!, { action: "status" })).data).toMatchObject({
      unstaged: [{ path: "a.txt" }],
    })
    expect(await callTool(tools.get("git")!, { action: "commit", message: "x" })).toMatchObject({
      success: false,
      error: { code: "READ_ONLY" },
    })
    expect(await callTool(tools.get("workspace")!, { action: "create_dir", path: "new" })).toMatchObject({
      success: false,
      error: { code: "READ_ONLY" },
    })
  })

  test("further roots are there with their own access", async () => {
    using fixture = workspaceFixture()
    const [other, library] = [join(fixture.root, "../other"), join(fixture.root, "../library")]
    for (const folder of [other, library]) mkdirSync(folder)
    const roots = [
      { path: fixture.root, access: "read-write" as const },
      { path: other, access: "read-write" as const },
      { path: library },
    ]
    const workspace = createWorkspace({ roots, stateDirectory: join(fixture.root, "../state") })
    const bash = createProcessTools(workspace).find((tool) => tool.name === "bash")!
    await callTool(bash, { command: `touch ${other}/a ${library}/b` })
    expect([existsSync(join(other, "a")), existsSync(join(library, "b"))]).toEqual([true, false])
  })
})

describe.skipIf(program === undefined)("git inside a command", () => {
  const commit =
    "git -c user.name=A -c user.email=a@localhost commit --quiet --allow-empty -m inside && git log " +
    "--format=%s | head -1"

  test("works, but cannot change the configuration, and the answer explains it", async () => {
    using fixture = workspaceFixture({ "a.txt": "" })
    fixture.git("init", "--quiet")
    const bash = fixture.tools.get("bash")!
    expect((await callTool(bash, { command: commit })).output).toMatch(/^inside\n/u)
    const refused = await callTool(bash, { command: "git config user.name x" })
    expect(refused).toMatchObject({ success: false })
    expect(refused.output).toContain("the repository is fine")
  })

  test("works in a linked work tree, whose repository lies elsewhere", async () => {
    using fixture = workspaceFixture({ "a.txt": "" })
    fixture.gits(["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=Begin"])
    const side = join(fixture.root, "../side")
    fixture.git("worktree", "add", "--quiet", side, "-b", "side")
    const workspace = createWorkspace({
      roots: [{ path: side, access: "read-write" }],
      stateDirectory: join(fixture.root, "../state"),
    })
    const bash = createProcessTools(workspace).find((tool) => tool.name === "bash")!
    expect((await callTool(bash, { command: commit })).output).toMatch(/^inside\n/u)
    expect(fixture.git("log", "-1", "--format=%s", "side", "--")).toBe("inside\n")
    const configuration = readFileSync(join(fixture.root, ".git/config"), "utf8")
    const plant =
      `git config user.name x; echo x >> ${fixture.root}/.git/config; mkdir -p ${fixture.root}/.git/hooks; echo x ` +
      `> ${fixture.root}/.git/hooks/pre-commit`
    expect((await callTool(bash, { command: `ls ${fixture.root}; ${plant}` })).output).not.toContain("a.txt")
    expect(readFileSync(join(fixture.root, ".git/config"), "utf8")).toBe(configuration)
    expect(existsSync(join(fixture.root, ".git/hooks/pre-commit"))).toBe(false)
  })

  test("a .git file that points at somebody else's folder opens nothing", async () => {
    using fixture = workspaceFixture({ "a.txt": "" })
    const elsewhere = join(fixture.root, "../elsewhere")
    mkdirSync(join(elsewhere, "worktrees/x"), { recursive: true })
    writeFileSync(join(elsewhere, "secret.txt"), "SECRET")
    writeFileSync(join(elsewhere, "worktrees/x/commondir"), "../..\n")
    writeFileSync(join(elsewhere, "worktrees/x/gitdir"), `${join(elsewhere, "secret.txt")}\n`)
    writeFileSync(join(fixture.root, ".git"), `gitdir: ${elsewhere}/worktrees/x\n`)
    const result = await callTool(fixture.tools.get("bash")!, {
      command: `cat ${elsewhere}/secret.txt; touch ${elsewhere}/planted`,
    })
    expect(JSON.stringify(result)).not.toContain("SECRET")
    expect(existsSync(join(elsewhere, "planted"))).toBe(false)
  })
})

test("a read-only workspace runs nothing uncontained, even with the sandbox switched off", async () => {
  using fixture = workspaceFixture({ "a.txt": "a\n" })
  fixture.git("init", "--quiet")
  const workspace = createWorkspace({
    roots: [{ path: fixture.root, access: "read-only" }],
    stateDirectory: join(fixture.root, "../state"),
  })
  const tools = createProcessTools(workspace, { sandbox: "off" })
  const result = await callTool(
    tools.find((tool) => tool.name === "bash")!,
    { command: "touch made" },
  )
  expect(result.success).toBe(false)
  expect(existsSync(join(fixture.root, "made"))).toBe(false)
  // Git's reading actions write nothing, and so they need none.
  const git = tools.find((tool) => tool.name === "git")!
  expect((await callTool(git, { action: "status" })).data).toMatchObject({ untracked: ["a.txt"] })
  expect(await callTool(git, { action: "add", files: ["a.txt"] })).toMatchObject({ success: false })
  expect(fixture.git("status", "--porcelain")).toBe("?? a.txt\n")
})
