import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { repositoryWith } from "../testing/repository.ts"
import { openWorktree } from "./worktree.ts"

const settings = (touched: string): readonly (readonly [string, string])[] => [
  ["core.repositoryFormatVersion", "1"],
  ["extensions.partialClone", "origin"],
  ["remote.origin.promisor", "true"],
  ["protocol.ext.allow", "always"],
  ["remote.origin.uploadPack", `touch ${touched}; false`],
]

describe.skipIf(process.platform === "win32")("the tree of a task in a clone that lacks its newest commit", () => {
  test.each(["a folder", "a command"])("does not start what the remote names: %s", async (kind) => {
    using repository = repositoryWith({ "a.txt": "a\n" })
    const outside = mkdtempSync(join(tmpdir(), "lazy-"))
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
    const touched = join(outside, "started")
    for (const [key, value] of settings(touched)) repository.git("config", key, value)
    repository.git("config", "remote.origin.url", kind === "a folder" ? repository.path : `ext::touch ${touched}`)
    const head = repository.git("rev-parse", "HEAD").trim()
    rmSync(join(repository.path, ".git/objects", head.slice(0, 2), head.slice(2)))
    await expect(openWorktree(repository.path, join(outside, "tree"), "t")).rejects.toThrow("git worktree failed")
    expect(existsSync(touched)).toBe(false)
    // It is a trap: whoever asks git as it comes springs it.
    expect(() => repository.git("cat-file", "-p", "HEAD")).toThrow("cat-file")
    expect(existsSync(touched)).toBe(true)
  })
})
