import { rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { stateTextOf, writeStateFile } from "@toolwright/host/state-files"
import type { Git } from "./git.ts"

/** A merge that was begun in a workspace: what was checked out, what is brought in, and the files that this changes. */
export interface MergeMark {
  before: string
  commit: string
  files: string[]
}

const MARK = "toolwright-merge"
const LARGEST_BYTES = 64 * 1024 * 1024
/** How long a lock of git's is waited for, in milliseconds: a git whose worker was killed may still be at work. */
export const PATIENCE_MS = 15_000

/** Notes that a merge begins. Only files that are as they were committed are in it: of others git refuses the merge. */
export async function markMerge(git: Git, branch: string): Promise<MergeMark> {
  const [before, commit] = [await git.run("rev-parse", "HEAD"), await git.run("rev-parse", branch)]
  const changed = names(await git.run("diff", "--name-only", "--no-renames", "-z", `${before}...${commit}`))
  const own = new Set(await dirty(git, changed))
  const mark = { before, commit, files: changed.filter((file) => !own.has(file)) }
  // What stands there already is an old note, or somebody's link.
  await unmarkMerge(git)
  writeStateFile(markOf(git), JSON.stringify(mark), { how: "create", mode: 0o600 })
  return mark
}

export function unmarkMerge(git: Git): Promise<void> {
  return rm(markOf(git), { force: true })
}

/**
 * Puts right what a merge left whose processes were killed: its lock, and files that it had written before it moved on
 * what is checked out. A file that somebody has changed since stays as it is.
 *
 * @returns the merge, where one was left
 */
export async function takeUpMerge(git: Git, patience: number): Promise<MergeMark | undefined> {
  const mark = markIn(stateTextOf(markOf(git), { limit: LARGEST_BYTES }))
  if (mark === undefined) return undefined
  const lock = join(git.gitDir, "index.lock")
  if (!(await isFree(lock, patience))) await rm(lock, { force: true })
  if ((await git.run("rev-parse", "HEAD")) === mark.before && !(await isThere(join(git.gitDir, "MERGE_HEAD"))))
    await takeBackFiles(git, mark)
  return mark
}

/** Waits until nobody holds a lock. @returns whether that was so in time */
export async function isFree(lock: string, patience: number): Promise<boolean> {
  for (const until = performance.now() + patience; await isThere(lock); await pause(50))
    if (performance.now() > until) return false
  return true
}

/** A note that is none counts for nothing. */
function markIn(text: string | undefined): MergeMark | undefined {
  try {
    const { before, commit, files } = JSON.parse(text ?? "null") as MergeMark
    const told = [before, commit, ...files].every((each) => typeof each === "string")
    return told ? { before, commit, files } : undefined
  } catch {
    return undefined
  }
}

async function takeBackFiles(git: Git, { commit, files }: MergeMark): Promise<void> {
  const written: string[] = []
  for (const file of await dirty(git, files)) if (await isWritten(git, file, commit)) written.push(file)
  const known = new Set(names(await git.run("ls-tree", "-r", "--name-only", "-z", "HEAD")))
  for (const file of written.filter((each) => !known.has(each))) await rm(join(git.top, file), { force: true })
  const restored = written.filter((each) => known.has(each))
  await git.run("reset", "--quiet")
  for (let from = 0; from < restored.length; from += TOGETHER)
    await git.run("checkout", "--quiet", "HEAD", "--", ...restored.slice(from, from + TOGETHER))
}

/** Files that are named in one command. */
const TOGETHER = 200

/** Whether what lies there is of the merge: gone, just begun, or as the branch has it. */
async function isWritten(git: Git, file: string, commit: string): Promise<boolean> {
  const found = await stat(join(git.top, file)).catch(() => undefined)
  if (found === undefined || found.size === 0) return true
  const theirs = await git.try("rev-parse", "--verify", "--quiet", `${commit}:${file}`)
  const ours = await git.try("hash-object", "--", file)
  return theirs.ok && ours.ok && theirs.text === ours.text
}

/** Which of these files are not as they were committed. */
async function dirty(git: Git, files: readonly string[]): Promise<string[]> {
  const wanted = new Set(files)
  const listed = await git.run("status", "--porcelain=v1", "--no-renames", "--untracked-files=all", "-z")
  return names(listed).flatMap((line) => (wanted.has(line.slice(3)) ? [line.slice(3)] : []))
}

const names = (text: string): string[] => text.split("\0").filter((name) => name !== "")
const markOf = (git: Git): string => join(git.gitDir, MARK)

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
