import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import type { JsonObject } from "@toolwright/toolbox"
import type { ProcessToolsConfig } from "@toolwright/host/process"
import { callTool } from "@toolwright/host/testing/call-tool"
import { commitTreeBomb } from "@toolwright/host/testing/tree-bomb"
import { describe, expect, test } from "vitest"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

/** A repository with such a commit beside what is checked out. */
function repository(config: ProcessToolsConfig = {}): WorkspaceFixture {
  const fixture = workspaceFixture({ "README.md": "one\n" }, { limits: { memoryMb: 32 }, ...config })
  fixture.gits(["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=Begin"])
  commitTreeBomb(fixture.root)
  return fixture
}

const LIMITS = ["MEMORY_LIMIT", "OUTPUT_LIMIT", "DISK_LIMIT"]

test("a switch that would change the rules is refused, however many other files it changes", async () => {
  using fixture = repository({ limits: { memoryMb: 500 } })
  const blob = fixture.git("hash-object", "-w", "README.md").trim()
  const many = (first: string, length: number): string =>
    Array.from({ length }, (_, at) => `100644 blob ${blob}\t${first}${"x".repeat(190)}${at}\n`).join("")
  const rules = `100644 blob ${blob}\ttoolwright.yaml\n`
  const input = many("a", 22_000) + rules + many("z", 400)
  const tree = execFileSync("git", ["mktree"], { cwd: fixture.root, input, encoding: "utf8" }).trim()
  fixture.git("update-ref", "refs/heads/many", fixture.git("commit-tree", "-m", "many", tree).trim())
  const result = await callTool(fixture.tools.get("git")!, { action: "checkout", ref: "many" })
  expect(result.error?.code).toBe("CONFIGURATION_KEPT")
  expect(readdirSync(fixture.root).toSorted()).toEqual([".git", "README.md"])
})

describe.skipIf(process.platform !== "linux").each(["auto", "off"] as const)(
  "a commit that names ten thousand million files, sandbox %s",
  (sandbox) => {
    const git = (fixture: WorkspaceFixture, args: JsonObject) => callTool(fixture.tools.get("git")!, args)

    test("is not checked out, and what lies there stays", async () => {
      using fixture = repository({ sandbox })
      const { error } = await git(fixture, { action: "checkout", ref: "bomb" })
      expect(LIMITS).toContain(error?.code)
      expect(error?.message).toMatch(/^git \S+ failed: it was ended because it took too much/u)
      expect(error?.hint).toContain("names more files than can be looked at")
      expect(readdirSync(fixture.root).toSorted()).toEqual([".git", "README.md"])
      expect(await git(fixture, { action: "status" })).toMatchObject({ success: true, data: { branch: "main" } })
    })

    test("is known for what it is before it has taken all memory, and nothing stays locked", async () => {
      using fixture = repository({ sandbox, limits: { memoryMb: 16_384 } })
      const { error } = await git(fixture, { action: "checkout", ref: "bomb" })
      expect(error?.code).toBe("MEMORY_LIMIT")
      expect(error?.message).toMatch(/took too much: commit [\da-f]{10} names millions of files/u)
      expect(await git(fixture, { action: "status" })).toMatchObject({ success: true, data: { branch: "main" } })
    })

    test.each([
      ["status", { action: "status" }],
      ["diff", { action: "diff", staged: true }],
      ["log", { action: "log" }],
    ])("is looked at by %s within its bounds", async (_, args) => {
      using fixture = repository({ sandbox })
      fixture.git("symbolic-ref", "HEAD", "refs/heads/bomb")
      const { success, error } = await git(fixture, args)
      if (!success) expect(LIMITS).toContain(error?.code)
      expect(readdirSync(fixture.root).toSorted()).toEqual([".git", "README.md"])
    })
  },
)
