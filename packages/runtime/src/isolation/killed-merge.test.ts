import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { repositoryWith, type FixtureRepository } from "../testing/repository.ts"
import { gitIn } from "./git.ts"
import { markMerge } from "./merge-mark.ts"
import { branchOf, openWorktree, type Worktree } from "./worktree.ts"

const names = Array.from({ length: 12 }, (_, at) => `file-${at}.txt`)
const contents = (text: string) => Object.fromEntries(names.map((name) => [name, `${text} ${name}\n`]))

interface Begun {
  repository: FixtureRepository
  folder: string
  tree: Worktree
  read(name: string): string
  path(name: string): string
}

/** A workspace, and a branch that changes all its files and adds one; the workspace may have gone on meanwhile. */
async function begun(diverged: boolean): Promise<Begun> {
  const repository = repositoryWith(contents("old"))
  const trees = mkdtempSync(join(tmpdir(), "tree-"))
  onTestFinished(() => {
    repository[Symbol.dispose]()
    rmSync(trees, { recursive: true, force: true })
  })
  const folder = join(trees, "t")
  const tree = await openWorktree(repository.path, folder, "t", 20)
  const path = (name: string): string => join(repository.path, name)
  for (const [name, text] of Object.entries(contents("new"))) writeFileSync(join(tree.path, name), text)
  writeFileSync(join(tree.path, "added.txt"), "added\n")
  await tree.commit("new")
  if (diverged) {
    writeFileSync(path("ours.txt"), "ours\n")
    repository.git("add", "ours.txt")
    repository.git("commit", "-qm", "ours")
  }
  writeFileSync(path("mine.txt"), "not committed\n")
  return { repository, folder, tree, path, read: (name) => readFileSync(path(name), "utf8") }
}

/** What git leaves that is killed while it writes files: its lock, some files written, one begun, one gone. */
async function killedWhileWriting({ repository, path }: Begun): Promise<void> {
  await markMerge(await gitIn(repository.path), branchOf("t"))
  writeFileSync(path(".git/index.lock"), "half an index")
  for (const name of names.slice(0, 5)) writeFileSync(path(name), `new ${name}\n`)
  writeFileSync(path(names[5]!), "")
  rmSync(path(names[6]!))
  writeFileSync(path("added.txt"), "added\n")
}

function wholeAndClean({ repository, read }: Begun, diverged: boolean): void {
  for (const name of names) expect(read(name)).toBe(`new ${name}\n`)
  expect([read("added.txt"), read("mine.txt")]).toEqual(["added\n", "not committed\n"])
  expect(repository.git("status", "--porcelain")).toBe("?? mine.txt")
  expect(repository.git("log", "--format=%s").split("\n").toSorted()).toEqual(
    diverged ? ["Begin", "Merge it", "new", "ours"] : ["Begin", "new"],
  )
}

for (const diverged of [true, false]) {
  const kind = diverged ? "a merge of two sides" : "a merge that only goes forward"
  test(`${kind} that was killed while it wrote files is done anew by whoever goes on`, async () => {
    const here = await begun(diverged)
    await killedWhileWriting(here)
    const merged = await here.tree.merge("Merge it")
    expect(merged).toEqual({ state: "merged", files: [...names, "added.txt"].toSorted() })
    wholeAndClean(here, diverged)
    expect(existsSync(here.path(".git/toolwright-merge"))).toBe(false)
    expect(await here.tree.remove()).toBeUndefined()
  })
}

test("one that was done, and not yet on record as such, tells what it brought", async () => {
  const here = await begun(true)
  const git = await gitIn(here.repository.path)
  await markMerge(git, branchOf("t"))
  await git.run("merge", "--no-edit", "-m", "Merge it", branchOf("t"))
  const merged = await here.tree.merge("Merge it")
  expect(merged).toEqual({ state: "merged", files: [...names, "added.txt"].toSorted() })
  wholeAndClean(here, true)
})

test("a file that somebody changed after the kill is nobody's to take back: the merge says that it is in the way", async () => {
  const here = await begun(true)
  await killedWhileWriting(here)
  writeFileSync(here.path(names[1]!), "somebody's\n")
  expect(await here.tree.merge("Merge it")).toMatchObject({
    state: "in-the-way",
    why: expect.stringContaining(names[1]!),
  })
  expect(here.read(names[1]!)).toBe("somebody's\n")
  writeFileSync(here.path(names[1]!), `old ${names[1]}\n`)
  expect(await here.tree.merge("Merge it")).toMatchObject({ state: "merged" })
  wholeAndClean(here, true)
})

test("a git of somebody else's that holds the repository is waited for, and its lock is left alone", async () => {
  const here = await begun(true)
  writeFileSync(here.path(".git/index.lock"), "somebody's")
  const why = expect.stringContaining("index.lock") as string
  expect(await here.tree.merge("Merge it")).toMatchObject({ state: "in-the-way", why })
  expect(here.read(".git/index.lock")).toBe("somebody's")
})

test("a merge that a person has under way is not given up", async () => {
  const { repository, path, read, tree } = await begun(true)
  repository.git("branch", "theirs", "HEAD~1")
  repository.git("checkout", "-q", "theirs")
  writeFileSync(path(names[0]!), "theirs\n")
  repository.git("commit", "-qam", "theirs")
  repository.git("checkout", "-q", "main")
  writeFileSync(path(names[0]!), "ours\n")
  repository.git("commit", "-qam", "ours too")
  expect(() => repository.git("merge", "-q", "theirs")).toThrow("Command failed")
  writeFileSync(path(names[0]!), "half resolved\n")
  expect(await tree.merge("Merge it")).toEqual({ state: "in-the-way", why: "another merge is under way there." })
  expect(read(names[0]!)).toBe("half resolved\n")
  expect(existsSync(path(".git/MERGE_HEAD"))).toBe(true)
})

test.runIf(process.env["TOOLWRIGHT_FULL"] === "1")(
  "killed at any moment (TOOLWRIGHT_FULL=1: it takes minutes)",
  async () => {
    for (let moment = 0; moment < 240; moment += 8) {
      for (const diverged of [true, false]) {
        const here = await begun(diverged)
        await killedAfter(moment, here)
        const next = await openWorktree(here.repository.path, here.folder, "t")
        expect(await next.merge("Merge it"), `after ${moment} ms`).toMatchObject({ state: "merged" })
        wholeAndClean(here, diverged)
      }
    }
  },
  1_200_000,
)

/** Kills a merge so many milliseconds after it has said that it begins; the git that it started may live on. */
function killedAfter(milliseconds: number, { repository, folder }: Begun): Promise<void> {
  const main = join(import.meta.dirname, "testing/merging.ts")
  const child = spawn(process.execPath, ["--conditions=toolwright-source", main, repository.path, folder, "t"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), milliseconds))
  return new Promise((resolve) => child.on("close", () => resolve()))
}
