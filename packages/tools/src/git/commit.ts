import { writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { failure, success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { changedFiles, folderState, planFor } from "@toolwright/host/process"
import { sandboxNotice } from "@toolwright/host/sandbox"
import { visibleName } from "@toolwright/host/text"
import { commitHooks, type CommitHooks } from "./hooks.ts"
import { git, type GitOutcome, type GitRun, type GitSettings } from "./repository.ts"
import { gitSequence, type GitCommand } from "./sequence.ts"
import { leftOut, notStaged, select, sift, staging, type Selection } from "./stage.ts"
import { describeStatus, readStatus, WHOLE_LIST, type Status } from "./status.ts"
import { gitFailure, paths, protectedAmong, stateMark, type GitWork } from "./work.ts"

const HOOKS_TIMEOUT_MS = 110_000

/** Commits the named files, or what is staged, or else every change; the repository's hooks run in the sandbox. */
export async function commitAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const message = typeof args.message === "string" ? args.message : ""
  if (message.trim() === "") {
    return failure({
      code: "MISSING_MESSAGE",
      message: "A commit needs a message.",
      hint: 'Call it with "message", such as {"operation": "commit", "message": "Add input validation"}.',
    })
  }
  const named = paths(work, args.files)
  const before = await readStatus(repository, settings, run)
  const refusal = await notNow(work, before, named)
  if (refusal !== undefined) return refusal
  const selection = await chosen(work, before, named)
  if (selection?.files.length === 0) {
    const hint = [...leftOut(selection), describeStatus(before)].join("\n")
    return failure({ code: "NOTHING_TO_COMMIT", message: "There is nothing to commit.", hint })
  }
  return make(work, { before, message, only: named.length > 0, selection })
}

/** What must be put right before anything can be committed. */
async function notNow(work: GitWork, status: Status, named: readonly string[]): Promise<ToolResult | undefined> {
  if (status.conflicted.length > 0) {
    return failure({
      code: "CONFLICTS",
      message: `Unresolved conflicts in ${status.conflicted.map(visibleName).join(", ")}.`,
      hint: "Edit these files, add them, then commit.",
    })
  }
  const kept = status.staged.filter(({ status: what }) => what !== "deleted").map(({ path }) => path)
  const staged = [...(await protectedAmong(work, kept))]
  if (named.length > 0 || staged.length === 0) return undefined
  return failure({
    code: "PROTECTED_STAGED",
    message: `Nothing was committed: ${staged.map(visibleName).join(", ")} is staged, and tools may not read it.`,
    hint: 'Name the files to commit with "files", or let a person unstage it.',
  })
}

/** The files to stage first; undefined where what is staged already is meant. */
async function chosen(work: GitWork, status: Status, named: readonly string[]): Promise<Selection | undefined> {
  if (named.length > 0) return select(work, named)
  if (status.staged.length > 0) return undefined
  const earlier = await untouched(work, status.untracked)
  const own = status.untracked.filter((path) => !earlier.includes(path))
  return { ...(await sift(work, [...status.unstaged.map((change) => change.path), ...own])), earlier }
}

/** Of untracked files those that lay here, as they are, when the work began: nobody said that they belong to it. */
async function untouched({ host, repository }: GitWork, files: readonly string[]): Promise<string[]> {
  const { untracked } = host.begun
  if (untracked === undefined) return []
  const marks = await Promise.all(
    files.map(async (path) => {
      const full = join(repository.top, path)
      return untracked.get(relative(host.root, full)) === (await stateMark(full)) ? [path] : []
    }),
  )
  return marks.flat()
}

interface Making {
  readonly before: Status
  readonly message: string
  /** Only the selected files, whatever else is staged. */
  readonly only: boolean
  readonly selection: Selection | undefined
}

async function make(work: GitWork, making: Making): Promise<ToolResult> {
  const { repository } = work
  const { before, message, only, selection } = making
  const hooks = await commitHooks(repository)
  const list = join(repository.view.folder, "paths")
  if (only) await writeFile(list, (selection?.files ?? []).join("\0"))
  const args = [
    "commit",
    "--no-edit",
    "--cleanup=whitespace",
    "--file=-",
    ...(only ? ["--only", `--pathspec-from-file=${list}`, "--pathspec-file-nul"] : []),
  ]
  const first = selection === undefined ? [] : staging(selection)
  const commit = { args, input: message }
  const running = hooks !== undefined && repository.contained ? hooks : undefined
  const state = running === undefined ? undefined : await folderState(repository.top)
  const tried = running === undefined ? await plainly(work, first, commit) : await hooked(work, first, commit, running)
  if ("unstaged" in tried) return notStaged(tried.unstaged)
  const modifiedFiles = running === undefined ? [] : changedFiles(state, await folderState(repository.top))
  const { outcome, shown } = tried
  if (shown === undefined) return { ...(await notCommitted(work, outcome, running)), modifiedFiles }
  const notes = [tried.identity, ...hookNotes(hooks, running, outcome)]
  return report(shown, { before, message, selection, modifiedFiles, notes })
}

/** What came of a commit; `shown` is what it consists of, where there is one. */
type Tried =
  | { readonly unstaged: GitOutcome }
  | { readonly outcome: GitOutcome; readonly shown: GitOutcome | undefined; readonly identity: string }

/** The id of the newest commit, and its files; those of a merge are not told. */
const SHOWN = { args: ["diff-tree", "--always", "--name-only", "-r", "-z", "--root", "HEAD"] }

/** Stages and commits without hooks. */
async function plainly(
  { repository, settings, run: asked }: GitWork,
  first: readonly GitCommand[],
  commit: GitCommand,
): Promise<Tried> {
  const run = { ...asked, keepBytes: WHOLE_LIST }
  const outcomes = await gitSequence(repository, settings, [...first, commit, SHOWN], run)
  const outcome = outcomes[first.length]
  if (outcome === undefined) return { unstaged: outcomes.at(-1)! }
  if (!lacksIdentity(outcome)) return { outcome, shown: outcomes[first.length + 1], identity: "" }
  const { config, note } = ownIdentity(settings)
  const again = await gitSequence(repository, settings, [{ ...commit, config }, SHOWN], run)
  return { outcome: again[0]!, shown: again[1], identity: note }
}

/** The same with the repository's hooks: what they start is contained as a command is, and git about them is not. */
async function hooked(
  work: GitWork,
  first: readonly GitCommand[],
  { args, input = "" }: GitCommand,
  hooks: CommitHooks,
): Promise<Tried> {
  const { repository, settings, run } = work
  const [staged] = await gitSequence(repository, settings, first, run)
  if (staged !== undefined && staged.exitCode !== 0) return { unstaged: staged }
  // Anew for each try: what a plan holds ends with its command.
  let outcome = await git(repository, settings, args, { ...run, ...(await withHooks(work, hooks)), input })
  let identity = ""
  if (lacksIdentity(outcome)) {
    const own = ownIdentity(settings)
    identity = own.note
    const again = await withHooks(work, hooks)
    const config = [...(again.config ?? []), ...own.config]
    outcome = await git(repository, settings, args, { ...run, ...again, input, config })
  }
  if (outcome.exitCode !== 0) return { outcome, shown: undefined, identity }
  return { outcome, shown: await git(repository, settings, SHOWN.args, { ...run, keepBytes: WHOLE_LIST }), identity }
}

function lacksIdentity({ exitCode, stderr }: GitOutcome): boolean {
  return exitCode !== 0 && /empty ident|tell me who you are|unable to auto-detect/iu.test(stderr.text)
}

function ownIdentity({ identity: { name, email } }: GitSettings): { config: string[]; note: string } {
  return {
    config: [`user.name=${name}`, `user.email=${email}`],
    note: `Committed as ${name} <${email}>, for git has no user.name and user.email here.`,
  }
}

/** Hooks see what a command sees: no protected files, no network, no environment of ours. */
async function withHooks(
  { host }: GitWork,
  hooks: CommitHooks,
): Promise<Pick<GitRun, "config" | "hooks" | "timeoutMs">> {
  const plan = await planFor(host, { repositories: "writable", history: "shown" })
  return { config: [`core.hooksPath=${hooks.folder}`], hooks: plan, timeoutMs: HOOKS_TIMEOUT_MS }
}

function hookNotes(
  hooks: CommitHooks | undefined,
  running: CommitHooks | undefined,
  outcome: GitOutcome,
): readonly string[] {
  if (hooks === undefined) return []
  const names = hooks.names.join(", ")
  if (running === undefined) return [`The repository's hooks did NOT run (${names}): they need a sandbox.`]
  const said = outcome.stderr.text.trim()
  const notice = sandboxNotice(outcome.sandbox)
  return [`The repository's hooks ran: ${names}.`, ...(said === "" ? [] : [said.slice(-2000)]), notice]
}

async function notCommitted(work: GitWork, outcome: GitOutcome, hooks: CommitHooks | undefined): Promise<ToolResult> {
  const status = describeStatus(await readStatus(work.repository, work.settings, work.run))
  if (hooks === undefined) return gitFailure("commit", outcome, status)
  const said =
    `A hook of the repository may have refused it (${hooks.names.join(", ")}): put right what it says, then ` +
    "commit again."
  return gitFailure("commit", outcome, `${said}\n${status}`)
}

interface Made {
  readonly before: Status
  readonly message: string
  readonly selection: Selection | undefined
  readonly notes: readonly string[]
  readonly modifiedFiles: string[]
}

function report(shown: GitOutcome, made: Made): ToolResult {
  const { before, message, selection, modifiedFiles } = made
  const [commit = "", ...files] = shown.stdout.text.split("\0").filter((name) => name !== "")
  const notes = [
    `Committed ${commit.slice(0, 10)} on ${before.branch ?? "a detached HEAD"}: ${message.split("\n")[0]}`,
    ...files.map((file) => `  ${file}`),
    ...(selection === undefined ? [] : leftOut(selection)),
    ...made.notes.filter((note) => note !== ""),
  ]
  const data = {
    commit,
    branch: before.branch,
    message,
    files,
    left_out: [...(selection?.left ?? []), ...(selection?.filtered ?? []), ...(selection?.earlier ?? [])],
  }
  return success({ output: notes.join("\n"), data, modifiedFiles })
}
