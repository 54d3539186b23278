import { mkdir, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { stateTextOf } from "@toolwright/host/state-files"
import { ToolwrightError } from "@toolwright/toolbox"
import { gitIn, plainGit, type Git, type GitAnswer } from "./git.ts"
import { isFree, markMerge, PATIENCE_MS, takeUpMerge, unmarkMerge } from "./merge-mark.ts"

/** What becomes of a branch that is merged. */
export type Merged =
  /** It is in the workspace now. @param files what that changed there */
  | { state: "merged"; files: string[] }
  /** Both sides changed the same: nothing was done. */
  | { state: "conflict"; files: string[]; into: string }
  /** What lies in the workspace and is not committed would be lost: nothing was done. */
  | { state: "in-the-way"; why: string }

/** A working tree and a branch of a task's own. */
export interface Worktree {
  readonly path: string
  readonly branch: string
  /** Puts everything that lies there into a commit. @returns whether there was anything */
  commit(message: string): Promise<boolean>
  /** Merges the branch into what is checked out in the workspace. */
  merge(message: string): Promise<Merged>
  /**
   * Brings what is checked out in the workspace into the branch; what conflicts stands there with its marks. @returns
   * these files
   */
  bringIn(): Promise<string[]>
  /** Files in which the marks of a conflict still stand. */
  unresolved(files: readonly string[]): Promise<string[]>
  /**
   * Lets go of the working tree; of the branch too where all of it is in the workspace. @returns the branch, if it
   * stays
   */
  remove(): Promise<string | undefined>
}

/** Largest file that marks of a conflict are looked for in. */
const LARGEST_BYTES = 64 * 1024 * 1024

/** The branch of a task. */
export const branchOf = (task: string): string => `toolwright/${task}`

/**
 * Opens the working tree of a task, which is made where it is not there: from its branch if an earlier try left one,
 * from what is checked out in the workspace otherwise.
 *
 * @param folder where it is to lie
 * @param patience how long a merge waits for another git that works in the workspace, in milliseconds
 * @throws ToolwrightError `NOT_A_REPOSITORY`, `REPOSITORY_REFUSED`, `GIT_FAILED`
 */
export async function openWorktree(
  base: string,
  folder: string,
  task: string,
  patience = PATIENCE_MS,
): Promise<Worktree> {
  const workspace = await gitIn(base)
  const branch = branchOf(task)
  if (!(await workspace.try("rev-parse", "--verify", "--quiet", "HEAD")).ok)
    throw new ToolwrightError("NOT_A_REPOSITORY", `Nothing is committed in ${base}, so no branch can begin there.`, {
      hint: "Commit what is there first.",
    })
  if (!(await isThere(join(folder, ".git")))) await make(workspace, folder, branch)
  return new TaskWorktree(workspace, await gitIn(folder), { branch, patience })
}

/** Makes a working tree; what a process that died left of one is made anew, from its branch. */
async function make(workspace: Git, folder: string, branch: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  await rm(folder, { recursive: true, force: true })
  await plainGit(workspace.top, "worktree", "prune")
  const there = (await workspace.try("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`)).ok
  await assertFits(workspace, there ? `refs/heads/${branch}` : "HEAD")
  const how = there ? [folder, branch] : ["-b", branch, folder, "HEAD"]
  // Without files: these are written by a git that starts no filter of the repository's.
  await plainGit(workspace.top, "worktree", "add", "--quiet", "--no-checkout", ...how)
  await (await gitIn(folder)).run("reset", "--hard", "--quiet")
}

/**
 * A commit can name any number of files without holding them: ten folders that hold one another are ten thousand
 * million files to whoever checks it out.
 *
 * @throws ToolwrightError `DISK_LIMIT`
 */
async function assertFits(workspace: Git, commit: string): Promise<void> {
  if (!(await workspace.try("ls-tree", "-r", "-z", "--name-only", commit)).endless) return
  throw new ToolwrightError("DISK_LIMIT", `${commit} names too many files for a working tree of a task's own.`, {
    hint:
      `Have a person look at what is committed in ${workspace.top}; without --worktree tasks work there ` +
      "themselves.",
  })
}

class TaskWorktree implements Worktree {
  readonly branch: string
  readonly #workspace: Git
  readonly #own: Git

  readonly #patience: number

  constructor(workspace: Git, own: Git, { branch, patience }: { branch: string; patience: number }) {
    this.#workspace = workspace
    this.#own = own
    this.branch = branch
    this.#patience = patience
  }

  get path(): string {
    return this.#own.top
  }

  async commit(message: string): Promise<boolean> {
    const git = this.#own
    const merging = await isThere(join(git.gitDir, "MERGE_HEAD"))
    await git.run("add", "--all")
    if (!merging && (await git.try("diff", "--cached", "--quiet")).ok) return false
    await git.run("commit", "--quiet", "--no-verify", "-m", message)
    return true
  }

  async merge(message: string): Promise<Merged> {
    const git = this.#workspace
    const left = await takeUpMerge(git, this.#patience)
    await this.#abortUnfinished(git)
    // Whoever resolves conflicts there would lose what they have done so far.
    if (await isThere(join(git.gitDir, "MERGE_HEAD")))
      return { state: "in-the-way", why: "another merge is under way there." }
    const mark = await markMerge(git, this.branch)
    // What an earlier merge had done before its worker was killed was brought in by this one too.
    const before = left?.commit === mark.commit ? left.before : mark.before
    try {
      return await this.#merged(git, before, message)
    } finally {
      await unmarkMerge(git)
    }
  }

  async #merged(git: Git, before: string, message: string): Promise<Merged> {
    const lock = join(git.gitDir, "index.lock")
    const attempt = async (): Promise<GitAnswer & { locked: boolean }> => {
      const answer = await git.try("merge", "--no-edit", "--no-verify", "-m", message, this.branch)
      const locked = !answer.ok && (await isThere(lock))
      // Nothing was written then but the note that a merge is under way.
      if (locked) await git.try("merge", "--quit")
      return { ...answer, locked }
    }
    let answer = await attempt()
    if (answer.locked && (await isFree(lock, this.#patience))) answer = await attempt()
    if (answer.locked) return { state: "in-the-way", why: `another git works there, or has left ${lock}.` }
    if (answer.ok) {
      const changed = await git.run("diff", "--name-only", "-z", before, "HEAD")
      return { state: "merged", files: changed.split("\0").filter((file) => file !== "") }
    }
    const files = await conflicting(git)
    if (!(await isThere(join(git.gitDir, "MERGE_HEAD")))) return { state: "in-the-way", why: firstLines(answer.said) }
    await git.run("merge", "--abort")
    return { state: "conflict", files, into: await nameOf(git) }
  }

  async bringIn(): Promise<string[]> {
    const head = await this.#workspace.run("rev-parse", "HEAD")
    const git = this.#own
    if (await isThere(join(git.gitDir, "MERGE_HEAD"))) return conflicting(git)
    const answer = await git.try(
      "merge",
      "--no-edit",
      "--no-verify",
      "-m",
      `Bring in ${await nameOf(this.#workspace)}`,
      head,
    )
    return answer.ok ? [] : conflicting(git)
  }

  async unresolved(files: readonly string[]): Promise<string[]> {
    return files.filter((file) => {
      const text = stateTextOf(join(this.path, file), { limit: LARGEST_BYTES }) ?? ""
      return /^(?:<{7} |>{7} )/m.test(text)
    })
  }

  async remove(): Promise<string | undefined> {
    const git = this.#workspace
    const merged = (await git.try("merge-base", "--is-ancestor", this.branch, "HEAD")).ok
    await rm(this.path, { recursive: true, force: true })
    await plainGit(git.top, "worktree", "prune")
    if (!merged) return this.branch
    await git.try("branch", "--quiet", "-D", this.branch)
    return undefined
  }

  /** A merge of this very branch that a process which died left half done is done anew. */
  async #abortUnfinished(git: Git): Promise<void> {
    const under = stateTextOf(join(git.gitDir, "MERGE_HEAD"))
    if (under === undefined) return
    if (under.trim() === (await git.run("rev-parse", this.branch))) await git.run("merge", "--abort")
  }
}

async function conflicting(git: Git): Promise<string[]> {
  const listed = await git.run("diff", "--name-only", "-z", "--diff-filter=U")
  return listed.split("\0").filter((file) => file !== "")
}

/** What is checked out, by name. */
async function nameOf(git: Git): Promise<string> {
  const branch = await git.try("symbolic-ref", "--short", "--quiet", "HEAD")
  return branch.ok ? branch.text : await git.run("rev-parse", "--short", "HEAD")
}

const firstLines = (text: string): string =>
  text
    .split("\n")
    .slice(0, 6)
    .map((line) => line.trim())
    .join(" ")

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
