import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Backend, InferEvent, InferRequest } from "@toolwright/backends"
import { inputOf, type TaskRow, type TaskState } from "@toolwright/store"
import { expect, onTestFinished, test, vi } from "vitest"
import { startTaskWorker } from "../tasks/work.ts"
import { repositoryWith, type FixtureRepository } from "../testing/repository.ts"
import { createToolwright, type Toolwright, type ToolwrightOptions } from "../toolwright.ts"
import { branchOf, openWorktree } from "./worktree.ts"

type Say = { call: string; args: object } | string

/** A model that knows what to do for each task by a word in it, step by step. */
function modelFor(
  plays: Readonly<Record<string, readonly Say[]>>,
  before: (signal?: AbortSignal) => Promise<void> = async () => {},
): Backend {
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "m",
    async *infer({ messages }: InferRequest, options): AsyncGenerator<InferEvent> {
      const task = String(messages.find(({ role }) => role === "user")?.content)
      const [, play] = Object.entries(plays).find(([word]) => task.includes(word))!
      const say = play[messages.filter(({ role }) => role === "assistant").length]!
      await before(options?.signal)
      if (typeof say === "string") yield { type: "text-delta", text: say }
      else
        yield {
          type: "call-delta",
          index: 0,
          id: `c${messages.length}`,
          name: say.call,
          arguments: JSON.stringify(say.args),
        }
      yield { type: "end", finishReason: typeof say === "string" ? "stop" : "tool-calls" }
    },
  }
}

const write = (path: string, content: string): Say => ({ call: "file_write", args: { path, content } })

interface World {
  repository: FixtureRepository
  toolwright: Toolwright
  made: ToolwrightOptions
  add(words: string, more?: object): Promise<string>
  until(id: string, state: TaskState): Promise<TaskRow>
  text(path: string): string
  /** Working trees that git knows of, beside the workspace. */
  trees(): number
}

async function world(
  files: Record<string, string>,
  backend: Backend,
  more: (root: string) => ToolwrightOptions = () => ({}),
): Promise<World> {
  const repository = repositoryWith(files)
  const state = mkdtempSync(join(tmpdir(), "trees-"))
  const made: ToolwrightOptions = {
    cwd: repository.path,
    backend,
    withBuiltins: true,
    env: { ...process.env, XDG_STATE_HOME: state },
    ...more(repository.path),
  }
  const toolwright = await createToolwright(made)
  onTestFinished(async () => {
    await toolwright.close()
    repository[Symbol.dispose]()
    rmSync(state, { recursive: true, force: true })
  })
  const queue = await toolwright.tasks.open()
  return {
    repository,
    toolwright,
    made,
    add: async (task, more = {}) =>
      (await queue.add({ agent: "assistant", input: { task, worktree: true, ...more } })).id,
    until: (id, wanted) =>
      vi.waitFor(
        async () => {
          const row = (await queue.get(id))!
          expect(row, row.reason ?? "").toMatchObject({ state: wanted })
          return row
        },
        { timeout: 60_000, interval: 20 },
      ),
    text: (path) => readFileSync(join(repository.path, path), "utf8"),
    trees: () => repository.git("worktree", "list").split("\n").length - 1,
  }
}

const worker = async ({ toolwright, made }: World, concurrency = 2) => {
  const started = await startTaskWorker({ toolwright, made, concurrency, idle: 20, lease: 60_000 })
  onTestFinished(() => started.drain(0))
  return started
}

test("tasks beside each other have a tree and a branch each, which are merged and let go of, and can be taken back", async () => {
  let open = 0
  let most = 0
  const together = async (): Promise<void> => {
    most = Math.max(most, ++open)
    await vi.waitFor(() => expect(most).toBe(2), { timeout: 100_000, interval: 5 })
    open--
  }
  const plays = { first: [write("one.txt", "one\n"), "Done."], second: [write("two.txt", "two\n"), "Done."] }
  const here = await world({ "a.txt": "a\n" }, modelFor(plays, together))
  writeFileSync(join(here.repository.path, "mine.txt"), "not committed\n")
  const [first, second] = [await here.add("the first"), await here.add("the second")]
  await worker(here)
  await here.until(first, "done")
  const { result } = await here.until(second, "done")
  expect([here.text("one.txt"), here.text("two.txt"), here.text("mine.txt")]).toEqual([
    "one\n",
    "two\n",
    "not committed\n",
  ])
  expect(here.trees()).toBe(0)
  expect(here.repository.git("branch", "--list", "toolwright/*")).toBe("")
  expect(here.repository.git("status", "--porcelain")).toBe("?? mine.txt")
  expect((JSON.parse(result!) as { modifiedFiles: string[] }).modifiedFiles).toEqual(["two.txt"])

  const run = (await here.until(second, "done")).run!
  await expect(here.toolwright.undo(run)).resolves.toMatchObject({ restored: [expect.stringContaining("two.txt")] })
  expect(existsSync(join(here.repository.path, "two.txt"))).toBe(false)
  expect(here.text("one.txt")).toBe("one\n")
})

test("a branch that conflicts changes nothing in the workspace, and is merged once the marks are gone", async () => {
  const here = await world({ "a.txt": "a\n" }, modelFor({}))
  const trees = mkdtempSync(join(tmpdir(), "tree-"))
  onTestFinished(() => rmSync(trees, { recursive: true, force: true }))
  const tree = await openWorktree(here.repository.path, join(trees, "t"), "t")
  writeFileSync(join(tree.path, "a.txt"), "theirs\n")
  await tree.commit("theirs")
  writeFileSync(join(here.repository.path, "a.txt"), "ours\n")
  here.repository.git("commit", "-qam", "ours")
  expect(await tree.merge("m")).toEqual({ state: "conflict", files: ["a.txt"], into: "main" })
  expect(here.repository.git("status", "--porcelain")).toBe("")
  expect(await tree.bringIn()).toEqual(["a.txt"])
  expect(await tree.unresolved(["a.txt"])).toEqual(["a.txt"])
  writeFileSync(join(tree.path, "a.txt"), "both\n")
  expect(await tree.unresolved(["a.txt"])).toEqual([])
  expect(await tree.commit("both")).toBe(true)
  expect(await tree.merge("m")).toEqual({ state: "merged", files: ["a.txt"] })
  expect(here.text("a.txt")).toBe("both\n")
  expect(await tree.remove()).toBeUndefined()
})

test("a conflict is a task that the first one waits for, and both end well", async () => {
  let meet: (() => void) | undefined
  const met = new Promise<void>((resolve) => (meet = resolve))
  const plays = {
    "Two branches": [write("a.txt", "both\n"), "Done."],
    patient: [write("a.txt", "patient\n"), "Done."],
  }
  let held = false
  const here = await world(
    { "a.txt": "a\n" },
    modelFor(plays, async () => {
      if (held) return
      held = true
      writeFileSync(join(here.repository.path, "a.txt"), "somebody\n")
      here.repository.git("commit", "-qam", "Somebody's")
      meet!()
    }),
  )
  const id = await here.add("the patient one")
  await worker(here, 1)
  await met
  await here.until(id, "done")
  const fix = await here.until(`${id}.merge`, "done")
  const { task } = inputOf(fix)
  for (const part of [branchOf(id), "'main'", "- a.txt", "the patient one"]) expect(task).toContain(part)
  expect(here.text("a.txt")).toBe("both\n")
  expect(here.repository.git("log", "--format=%s").split("\n")).toContain("Somebody's")
  expect(here.trees()).toBe(0)
})

test("a worker that dies in the middle loses nothing, and what an ended task left is swept up", async () => {
  const plays = { long: [write("one.txt", "one\n"), write("two.txt", "two\n"), "Done."] }
  let steps = 0
  let stop: (() => void) | undefined
  const stopped = new Promise<void>((resolve) => (stop = resolve))
  const here = await world(
    { "a.txt": "a\n" },
    modelFor(plays, async (signal) => {
      if (++steps !== 2) return
      stop!()
      await new Promise((_, reject) => signal!.addEventListener("abort", () => reject(new Error("aborted"))))
    }),
  )
  const id = await here.add("the long one")
  const first = await worker(here)
  await stopped
  await first.drain(0)
  expect(here.trees()).toBe(1)
  expect(existsSync(join(here.repository.path, "one.txt"))).toBe(false)
  await worker(here)
  await here.until(id, "done")
  expect([here.text("one.txt"), here.text("two.txt")]).toEqual(["one\n", "two\n"])
  expect(here.trees()).toBe(0)
})

test("work that failed or was cancelled stays on its branch, and a folder without a repository is told what to do", async () => {
  const here = await world(
    { "a.txt": "a\n" },
    modelFor({ bad: [write("bad.txt", "bad\n"), write("a.txt", "b\n"), "no"] }),
  )
  const id = await here.add("a bad one")
  const queue = await here.toolwright.tasks.open()
  await queue.database.query("UPDATE tasks SET budget = ? WHERE id = ?", ['{"rounds":1}', id])
  await worker(here)
  const { reason } = await here.until(id, "failed")
  expect(reason).toContain(`on the branch ${branchOf(id)}`)
  expect(here.repository.git("show", `${branchOf(id)}:bad.txt`)).toBe("bad")
  expect(here.trees()).toBe(0)

  rmSync(join(here.repository.path, ".git"), { recursive: true })
  const none = await here.add("a bad one")
  expect((await here.until(none, "failed")).reason).toContain("is not the top of a git repository")
  expect(readdirSync(here.repository.path)).toContain("a.txt")
})

test.each<[string, (root: string) => string]>([
  ["the absolute path", (root) => join(root, "sub/private")],
  ["a pattern of absolute paths", (root) => `${root}/**/secret.txt`],
  ["a place in the workspace", () => "sub/private/*"],
])("what %s denies is denied in a worktree too, and to tasks of a folder below", async (_, pattern) => {
  const asked: InferRequest[] = []
  const look = (path: string): Say[] => [
    { call: "file_read", args: { path } },
    { call: "search_grep", args: { pattern: "canary" } },
    "Done.",
  ]
  const inner = modelFor({ whole: look("sub/private/secret.txt"), part: look("private/secret.txt") })
  const backend: Backend = {
    ...inner,
    infer: (request, options) => (asked.push(request), inner.infer(request, options)),
  }
  const files = { "sub/private/secret.txt": "canary-in-the-file\n", "sub/open.txt": "canary-open\n" }
  const here = await world(files, backend, (root) => ({ permissions: { denyPaths: [pattern(root)] } }))
  const queue = await here.toolwright.tasks.open()
  const tasks = [await here.add("the whole"), await here.add("the whole again", { worktree: false })]
  const workspace = join(here.repository.path, "sub")
  tasks.push((await queue.add({ agent: "assistant", input: { task: "the part" }, workspace })).id)
  await worker(here)
  for (const id of tasks) await here.until(id, "done")
  const told = JSON.stringify(asked.map(({ messages }) => messages))
  expect(told).toContain("canary-open")
  expect(told).not.toContain("canary-in-the-file")
})
