import { ToolwrightError } from "@toolwright/toolbox"
import { visibleName } from "@toolwright/host/text"
import { problemOf } from "./endings.ts"
import { git, type GitOutcome, type GitRun, type GitSettings, type Repository } from "./repository.ts"

/** A changed file: its path from the repository's top, what happened to it, and its old path when it was renamed. */
export interface Change {
  path: string
  status: "added" | "modified" | "deleted" | "renamed" | "copied" | "type-changed" | "unmerged"
  from?: string
}

/** The state of a working tree. */
export interface Status {
  branch: string | null
  commit: string | null
  upstream: string | null
  ahead: number
  behind: number
  staged: Change[]
  unstaged: Change[]
  untracked: string[]
  conflicted: string[]
  clean: boolean
}

const MEANING: Record<string, Change["status"]> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type-changed",
  U: "unmerged",
}

/** Enough for a million changed files: half a list would be a wrong one. */
export const WHOLE_LIST = 128 * 1024 * 1024

/** Reads the status of a repository. */
export async function readStatus(repository: Repository, settings: GitSettings, run: GitRun = {}): Promise<Status> {
  return statusOf(await git(repository, settings, STATUS, { ...run, keepBytes: WHOLE_LIST }))
}

export const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=all",
  "--ignore-submodules=dirty",
]

/** What a run of `STATUS` told. @throws ToolwrightError `GIT_FAILED` */
export function statusOf(outcome: GitOutcome): Status {
  if (outcome.exitCode !== 0) {
    const { code, why, hint } = problemOf(outcome)
    throw new ToolwrightError(code, `git status failed: ${why}`, hint === undefined ? {} : { hint })
  }
  return parseStatus(outcome.stdout.text)
}

/** Reads what `git status --porcelain=v2 --branch -z` prints (git-status(1), "Porcelain Format Version 2"). */
export function parseStatus(text: string): Status {
  const status: Status = {
    branch: null,
    commit: null,
    upstream: null,
    ahead: 0,
    behind: 0,
    staged: [],
    unstaged: [],
    untracked: [],
    conflicted: [],
    clean: true,
  }
  const entries = text.split("\0")
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!
    if (entry.startsWith("# ")) readHeader(status, entry)
    else if (entry.startsWith("? ")) status.untracked.push(entry.slice(2))
    else if (entry.startsWith("u ")) status.conflicted.push(afterFields(entry, 10))
    else if (entry.startsWith("1 ")) addChange(status, entry.slice(2, 4), afterFields(entry, 8))
    else if (entry.startsWith("2 ")) addChange(status, entry.slice(2, 4), afterFields(entry, 9), entries[++index])
  }
  status.clean =
    status.staged.length + status.unstaged.length + status.untracked.length + status.conflicted.length === 0
  return status
}

function readHeader(status: Status, entry: string): void {
  const [, key, ...rest] = entry.split(" ")
  const value = rest.join(" ")
  if (key === "branch.oid") status.commit = value === "(initial)" ? null : value
  else if (key === "branch.head") status.branch = value === "(detached)" ? null : value
  else if (key === "branch.upstream") status.upstream = value
  else if (key === "branch.ab")
    [status.ahead, status.behind] = rest.map((part) => Math.abs(Number(part))) as [number, number]
}

function addChange(status: Status, code: string, path: string, from?: string): void {
  const [index, tree] = code
  const change = (letter: string): Change => ({
    path,
    status: MEANING[letter] ?? "modified",
    ...(from === undefined || (letter !== "R" && letter !== "C") ? {} : { from }),
  })
  if (index !== "." && index !== undefined) status.staged.push(change(index))
  if (tree !== "." && tree !== undefined) status.unstaged.push(change(tree))
}

function afterFields(entry: string, count: number): string {
  let at = -1
  for (let field = 0; field < count; field++) at = entry.indexOf(" ", at + 1)
  return entry.slice(at + 1)
}

/** The status as sentences for a model: what each list means and what to do with it. */
export function describeStatus(status: Status): string {
  const where = status.branch === null ? "Detached HEAD" : `On branch ${status.branch}`
  const track =
    status.upstream === null ? "" : `, ${status.ahead} ahead of and ${status.behind} behind ${status.upstream}`
  const lines = [`${where}${track}.`]
  const list = (title: string, changes: readonly Change[]) => {
    if (changes.length === 0) return
    lines.push(
      title,
      ...changes.map(
        (change) =>
          `  ${change.status}: ` +
          `${change.from === undefined ? "" : `${visibleName(change.from)} -> `}${visibleName(change.path)}`,
      ),
    )
  }
  list("Staged (in the next commit):", status.staged)
  list("Changed but not staged:", status.unstaged)
  if (status.untracked.length > 0)
    lines.push(
      "Untracked (new files that git does not know yet; add them to commit them):",
      ...status.untracked.map((path) => `  ${visibleName(path)}`),
    )
  if (status.conflicted.length > 0)
    lines.push("Conflicted (edit them, then add them):", ...status.conflicted.map((path) => `  ${visibleName(path)}`))
  if (status.clean) lines.push("Nothing to commit: the working tree is clean.")
  return lines.join("\n")
}
