import { execFileSync } from "node:child_process"
import { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createWorkspace } from "@toolwright/host/paths"
import { createProcessHost } from "@toolwright/host/process"
import { expect, onTestFinished, test } from "vitest"
import { createWorkWatch } from "./watch.ts"

function repository() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-test-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const commit = (file: string): void => {
    writeFileSync(join(root, file), "")
    const BY = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    execFileSync("git", ["add", "-A"], { cwd: root })
    execFileSync("git", [...BY, "commit", "-q", "-m", file], { cwd: root })
  }
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: root })
  const host = createProcessHost(createWorkspace({ roots: [{ path: root, access: "read-write" }] }), {})
  return { root, commit, host, history: createWorkWatch(host).history }
}

test("what commits hold is asked once of git, and of others anew", async () => {
  const { root, commit, host, history } = repository()
  const states = []
  for (const file of ["one.txt", "two.txt", "three.txt"]) {
    commit(file)
    states.push((await history.state())!)
  }
  const [one, two, three] = states
  expect(await history.recorded(one!, two!)).toEqual(["two.txt"])
  expect(await history.added(one!, two!)).toHaveLength(1)
  expect(await history.recorded(two!, three!)).toEqual(["three.txt"])

  renameSync(join(root, ".git"), join(root, "elsewhere"))
  expect(await history.recorded(one!, two!)).toEqual(["two.txt"])
  // Git that could not answer is not taken for one that said nothing.
  expect(await history.recorded(one!, three!)).toEqual([])
  renameSync(join(root, "elsewhere"), join(root, ".git"))
  expect(await history.recorded(one!, three!)).toEqual(["three.txt", "two.txt"])

  // The files of commits that were just learned of are asked for with them.
  const fresh = createWorkWatch(host).history
  expect(await fresh.added(one!, two!)).toHaveLength(1)
  renameSync(join(root, ".git"), join(root, "elsewhere"))
  expect(await fresh.recorded(one!, two!)).toEqual(["two.txt"])
})

test("commits are told although git cannot tell their files", async () => {
  const { commit, history } = repository()
  commit("one.txt")
  const before = (await history.state())!
  commit("two.txt")
  const after = new Map(await history.state())
  // Somebody's own state: a `HEAD` that comes to no commit.
  after.set(":@", "0".repeat(39) + "1")
  expect(await history.added(before, after)).toHaveLength(1)
  expect(await history.recorded(before, after)).toEqual([])
})
