import { spawnSync } from "node:child_process"
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { resolveRepository, viewRepository } from "@toolwright/host/repository"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { afterAll, describe, expect, test } from "vitest"
import { preparedFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const STATES = (await probeBubblewrap()).program === undefined ? (["off"] as const) : (["auto", "off"] as const)
const SECRET = "whatTheDeniedFileSays"

/**
 * Files of git's own of which it says what they hold, or follows what they say, when they are not as it writes them.
 */
const PLACES = ["shallow", "packed-refs", "MERGE_HEAD", "HEAD", "info/grafts", "info/exclude"]

const CALLS: readonly JsonObject[] = [
  { action: "status" },
  { action: "log" },
  { action: "diff", staged: true },
  { action: "commit", message: "Take it all in" },
  { action: "create_branch", branch: "other" },
]

/** How something comes to be read in the place of another file. */
const KINDS: Readonly<Record<string, (to: string, at: string) => void>> = {
  "a link": (to, at) => symlinkSync(to, at),
  "a chain of links": (to, at) => {
    symlinkSync(to, `${at}.next`)
    symlinkSync(`${at}.next`, at)
  },
  "a hard link": (to, at) => linkSync(to, at),
}

function repository(sandbox: "auto" | "off"): WorkspaceFixture {
  const prepare = (fixture: WorkspaceFixture): void => {
    fixture.write({ "a.txt": "a\n", ".env": `KEY=${SECRET}\n` })
    fixture.gits(["init", "--quiet"], ["add", "a.txt"], ["commit", "--quiet", "--message=Begin"])
  }
  const fixture = preparedFixture("repository", prepare, { sandbox })
  writeFileSync(join(fixture.root, "a.txt"), "b\n")
  return fixture
}

function lay(fixture: WorkspaceFixture, kind: string, to: string, place: string): void {
  const at = join(fixture.root, ".git", place)
  mkdirSync(dirname(at), { recursive: true })
  rmSync(at, { force: true })
  KINDS[kind]!(join(fixture.root, to), at)
}

async function answers(fixture: WorkspaceFixture): Promise<string> {
  const all: string[] = []
  for (const call of CALLS) all.push(JSON.stringify(await callTool(fixture.tools.get("git")!, call)))
  return all.join("\n")
}

let tried = 0
afterAll(() => console.log(`files of git's own that lead to a denied one: ${tried} calls`))

test.skipIf(process.platform === "win32")("a link that is put there after the look leads git nowhere", async () => {
  using fixture = repository("off")
  writeFileSync(join(fixture.root, ".git/shallow"), "")
  const layout = (await resolveRepository(fixture.root, [fixture.root]))!
  await using view = await viewRepository(layout, true)
  lay(fixture, "a link", ".env", "shallow")
  const env = { ...process.env, ...view.env }
  const git = (...args: string[]) => spawnSync("git", args, { cwd: fixture.root, env, encoding: "utf8" })
  for (const args of [["status"], ["log"]]) {
    const { status, stdout, stderr } = git(...args)
    expect([args, status, (stdout + stderr).includes(SECRET)]).toEqual([args, 0, false])
  }
})

describe.skipIf(process.platform === "win32").for(STATES)("a denied file, sandbox %s", (sandbox) => {
  const cases = Object.keys(KINDS).flatMap((kind) => PLACES.map((place) => ({ kind, place })))
  test.for(cases)("is not told of by git that is led to it by $kind for .git/$place", async ({ kind, place }) => {
    using fixture = repository(sandbox)
    lay(fixture, kind, ".env", place)
    const said = await answers(fixture)
    tried += CALLS.length
    expect(said).not.toContain(SECRET)
    expect(said).toContain("REPOSITORY_REFUSED")
  })

  test("is neither staged, committed nor shown by another name", async () => {
    using fixture = repository(sandbox)
    const { root } = fixture
    const git = fixture.tools.get("git")!
    linkSync(join(root, ".env"), join(root, "other.txt"))
    expect(await callTool(git, { action: "add", files: ["other.txt"] })).toMatchObject({
      error: { code: "ACCESS_DENIED" },
    })
    expect(await callTool(git, { action: "commit", files: ["other.txt"], message: "It" })).toMatchObject({
      error: { code: "ACCESS_DENIED" },
    })
    expect(await callTool(git, { action: "add", files: ["."] })).toMatchObject({
      data: { left_out: [".env", "other.txt"] },
    })
    await callTool(git, { action: "commit", message: "All of it" })
    expect(fixture.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("a.txt\n")
    // In the place of a file that git knows.
    rmSync(join(root, "a.txt"))
    linkSync(join(root, ".env"), join(root, "a.txt"))
    expect(fixture.git("diff")).toContain(SECRET)
    const diff = await callTool(git, { action: "diff" })
    expect(diff).toMatchObject({ success: true, data: { left_out: ["a.txt"] } })
    expect(JSON.stringify(diff)).not.toContain(SECRET)
    fixture.git("add", "a.txt")
    expect(JSON.stringify(await callTool(git, { action: "diff", staged: true }))).not.toContain(SECRET)
    expect(await callTool(git, { action: "commit", message: "It" })).toMatchObject({
      error: { code: "PROTECTED_STAGED" },
    })
  })

  test("would be told of: git does so of any other file", async () => {
    using fixture = repository(sandbox)
    writeFileSync(join(fixture.root, ".git/shallow"), `${SECRET}\n`)
    expect(() => fixture.git("log")).toThrow(SECRET)
    const said = await answers(fixture)
    expect(said).toContain("bad shallow line")
    expect(said).not.toContain(SECRET)
  })

  test("is all that is refused: a repository may share its parts with another one", async () => {
    using fixture = repository(sandbox)
    fixture.git("clone", "--quiet", "--bare", ".", "shared.git")
    for (const part of ["objects", "packed-refs"]) {
      rmSync(join(fixture.root, ".git", part), { recursive: true, force: true })
      symlinkSync(`../shared.git/${part}`, join(fixture.root, ".git", part))
    }
    expect(await callTool(fixture.tools.get("git")!, { action: "log" })).toMatchObject({ success: true })
  })
})
