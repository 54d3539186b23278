import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commitTreeBomb } from "@toolwright/host/testing/tree-bomb"
import { expect, onTestFinished, test } from "vitest"
import { repositoryWith } from "../testing/repository.ts"
import { openWorktree } from "./worktree.ts"

test.skipIf(process.platform === "win32").each([
  ["what is checked out", ["symbolic-ref", "HEAD", "refs/heads/bomb"]],
  ["the branch that an earlier try left", ["branch", "toolwright/t", "bomb"]],
])("no working tree is made of ten thousand million files: %s", async (_, command) => {
  using repository = repositoryWith({ "a.txt": "a\n" })
  const outside = mkdtempSync(join(tmpdir(), "bomb-"))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  commitTreeBomb(repository.path)
  repository.git(...command)
  const opened = openWorktree(repository.path, join(outside, "tree"), "t")
  await expect(opened).rejects.toMatchObject({
    code: "DISK_LIMIT",
    message: expect.stringContaining("names too many files for a working tree") as string,
    hint: expect.stringContaining("without --worktree") as string,
  })
  expect(existsSync(join(outside, "tree"))).toBe(false)
  expect(repository.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1)
})
