import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { ChangeHistory } from "@toolwright/host/undo"
import type { NewTask, TaskInput, TaskQueue, TaskRow } from "@toolwright/store"
import { ENDED_STATES } from "@toolwright/store"
import { ToolwrightError, type RunSummary } from "@toolwright/toolbox"
import { INTERRUPTED, type Performed } from "../tasks/worker.ts"
import { branchOf, openWorktree, type Merged, type Worktree } from "./worktree.ts"

/** What a task with a working tree of its own is worked on with. */
export interface Isolation {
  task: TaskRow
  input: TaskInput
  /** The workspace that it is merged into. */
  base: string
  /** The folder that working trees of tasks lie in. */
  trees: string
  queue: TaskQueue
  /** Of the workspace, so that what a merge changes there can be taken back. */
  history: ChangeHistory | undefined
  /** Aborted where somebody else is to go on with it, or nobody; see `Interruption`. */
  signal: AbortSignal
  /** Does the work in the working tree. */
  work(folder: string): Promise<Performed>
  /** Waits until nobody else works in the workspace, and keeps it meanwhile. */
  alone<Value>(merge: () => Promise<Value>): Promise<Value>
}

/** How often the same task may meet a conflict before a person has to look. */
const MOST_CONFLICTS = 3

/**
 * Works on a task in a working tree and on a branch of its own, which are merged once the work has succeeded. A process
 * may die at any point of it: whoever goes on with the task finds tree, branch and run by the task's id. Where both
 * sides changed the same, a task of its own puts that right, and this one waits for it. Of work that failed the branch
 * stays.
 */
export async function workIsolated(isolation: Isolation): Promise<Performed> {
  const { task, input, base, trees, work } = isolation
  const owner = input.resolves ?? task.id
  const tree = await openWorktree(base, join(trees, owner), owner)
  const conflicts = input.resolves === undefined ? [] : await tree.bringIn()
  const end = await work(tree.path)
  // Whoever goes on with it finds everything as it is.
  if (INTERRUPTED.has(isolation.signal.reason) && end.state !== "done") return end
  if (end.state === "queued" || end.state === "needs-approval" || end.state === "waiting") return end
  if (end.state === "failed") return leftBehind(tree, end, isolation)
  if (input.resolves !== undefined) return resolved(tree, conflicts, end, isolation)
  await tree.commit(titleOf(isolation))
  const merged = await mergedAlone(tree, isolation, runOf(end.result))
  if (merged.state === "conflict") return waiting(tree, merged, isolation)
  if (merged.state === "in-the-way") {
    const reason = `Its work is done on the branch ${tree.branch}, which cannot be merged: ${merged.why}`
    return {
      state: "failed",
      reason: `${reason} Commit or move what lies there, then: toolwright tasks retry ${task.id}`,
    }
  }
  await tree.remove()
  return { state: "done", result: withFiles(end.result, merged.files) }
}

/** Merges while nobody else works there, in a way that can be taken back. */
function mergedAlone(tree: Worktree, { task, history, alone }: Isolation, run: string | undefined): Promise<Merged> {
  const merge = (): Promise<Merged> => tree.merge(`Merge ${tree.branch}`)
  return alone(async () => {
    if (history === undefined) return merge()
    const head = { tool: "merge", callId: task.id, ...(run === undefined ? {} : { runId: run }) }
    return (await history.during(head, merge)).value
  })
}

/** Of work without success everything is kept on the branch; another try goes on from there. */
async function leftBehind(
  tree: Worktree,
  end: Extract<Performed, { state: "failed" }>,
  isolation: Isolation,
): Promise<Performed> {
  if (isolation.input.resolves !== undefined) return end
  await tree.commit(`Unfinished: ${titleOf(isolation)}`)
  if (end.retry !== undefined && end.retry !== false) return end
  const branch = await tree.remove()
  return branch === undefined ? end : { ...end, reason: `${end.reason} What it came to is on the branch ${branch}.` }
}

/**
 * The end of the task that puts a conflict right: its commit is on the branch, which is merged by the task that waits
 * for it.
 */
async function resolved(
  tree: Worktree,
  conflicts: readonly string[],
  end: Performed,
  isolation: Isolation,
): Promise<Performed> {
  const left = await tree.unresolved(conflicts)
  if (left.length > 0)
    return {
      state: "failed",
      reason: `The marks of the conflict still stand in ${left.join(", ")}.`,
      retry: "at once",
    }
  await tree.commit(titleOf(isolation))
  return end
}

async function waiting(
  tree: Worktree,
  { files, into }: Extract<Merged, { state: "conflict" }>,
  { task, queue, input }: Isolation,
): Promise<Performed> {
  const earlier = (await queue.dependencies([task.id])).get(task.id) ?? []
  const count = earlier.filter((id) => id.startsWith(`${task.id}.merge`)).length
  const what = `${tree.branch} and ${into} both changed ${files.join(", ")}`
  if (count >= MOST_CONFLICTS)
    return {
      state: "failed",
      reason: `${what}, again after ${count} times that this was put right: merge ${tree.branch} by hand.`,
    }
  const on: NewTask = {
    id: `${task.id}.merge${count === 0 ? "" : count + 1}`,
    agent: task.agent,
    priority: task.priority,
    maxAttempts: task.max_attempts,
    input: {
      task: conflictWords({ tree, files, into, input }),
      resolves: task.id,
      worktree: true,
      tryAgain: true,
      ...filesIn(input),
    },
    ...(task.plan === null ? {} : { plan: task.plan }),
    ...(task.workspace === null ? {} : { workspace: task.workspace }),
  }
  return { state: "waiting", on, reason: `${what}: ${on.id} puts that right` }
}

const filesIn = ({ files }: TaskInput): Pick<TaskInput, "files"> => (files === undefined ? {} : { files })

function conflictWords({
  tree,
  files,
  into,
  input,
}: {
  tree: Worktree
  files: readonly string[]
  into: string
  input: TaskInput
}): string {
  return [
    `Two branches changed the same lines. Put that right so that what both of them wanted holds.`,
    `One side is '${tree.branch}' (above the line of '=======', HEAD), made for this task:\n${input.task}`,
    `The other side is '${into}' (below that line): what was merged meanwhile; its commits say what for.`,
    `Files with marks of the conflict ('<<<<<<<', '=======', '>>>>>>>'):\n` +
      `${files.map((file) => `- ${file}`).join("\n")}`,
    `Edit these files, leave no mark in them, and run the tests.`,
  ].join("\n\n")
}

const titleOf = ({ input }: Isolation): string => input.task.trim().split("\n")[0]!.slice(0, 72)

const runOf = (result: unknown): string | undefined => (result as Partial<RunSummary> | null)?.runId

/** What the workspace has of it now, so that it is seen what can be taken back. */
function withFiles(result: unknown, files: readonly string[]): unknown {
  const summary = result as Partial<RunSummary> | null
  return summary === null || typeof summary !== "object" ? result : { ...summary, modifiedFiles: [...files] }
}

/**
 * Lets go of the working trees of tasks that have ended meanwhile, or are gone: of one that was cancelled while nobody
 * worked on it, or whose worker died at the very end. What lies there is kept on the branch.
 */
export async function sweepWorktrees(base: string, trees: string, queue: TaskQueue): Promise<string[]> {
  const kept: string[] = []
  for (const name of await readdir(trees).catch(() => [])) {
    const row = await queue.get(name)
    if (row !== undefined && !ENDED_STATES.includes(row.state)) continue
    try {
      const tree = await openWorktree(base, join(trees, name), name)
      await tree.commit(`Unfinished: ${name}`)
      if ((await tree.remove()) !== undefined) kept.push(branchOf(name))
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown)) throw thrown
    }
  }
  return kept
}
