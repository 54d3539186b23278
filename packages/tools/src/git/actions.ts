import { failure, success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { compileDenyList, DEFAULT_DENY_READ } from "@toolwright/host/paths"
import { insideRoot, type ProcessHost } from "@toolwright/host/process"
import { sandboxNotice } from "@toolwright/host/sandbox"
import { visibleName } from "@toolwright/host/text"
import { join, relative } from "node:path"
import { assertBranchName, branchNames, resolveCommit } from "./refs.ts"
import { git, type GitOutcome, type GitRun, type GitSettings, type Repository } from "./repository.ts"
import { describeStatus, readStatus, type Status } from "./status.ts"

/** Everything an action works with. */
export interface GitWork {
  readonly host: ProcessHost
  readonly repository: Repository
  readonly settings: GitSettings
  readonly run: GitRun
}

export async function statusAction({ repository, settings, run }: GitWork): Promise<ToolResult> {
  const status = await readStatus(repository, settings, run)
  return success({ output: describeStatus(status), data: status })
}

export async function diffAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const command = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"]
  if (args.staged === true) command.push("--cached")
  if (typeof args.ref === "string") command.push(await resolveCommit(repository, settings, args.ref, run))
  const named = paths(work, args.files)
  const names = await git(repository, settings, [...command, "--name-only", "--no-renames", "-z", "--", ...named], run)
  if (names.exitCode !== 0) return gitFailure("diff", names)
  const secrets = names.stdout.text.split("\0").filter((name) => name !== "" && !isReadable(work, name))
  const files =
    secrets.length === 0
      ? named
      : [...named.map((name) => `:(literal)${name}`), ...secrets.map((name) => `:(exclude,literal)${name}`)]
  const outcome = await git(repository, settings, [...command, "--", ...files], {
    ...run,
    patterns: secrets.length > 0,
  })
  if (outcome.exitCode !== 0) return gitFailure("diff", outcome)
  const diff = outcome.stdout.text
  const shown =
    diff === "" && secrets.length === 0
      ? noDifferences(await readStatus(repository, settings, run), args.staged === true)
      : diff
  const output =
    secrets.length === 0
      ? shown
      : `Changed, but protected and not shown: ${secrets.map(visibleName).join(", ")}.\n${shown}`
  return success({
    output,
    data: { diff, files: filesOfDiff(diff), truncated: outcome.stdout.truncated, left_out: secrets },
  })
}

/** Whether the path rules let tools read a file of the repository. */
function isReadable({ host, repository }: GitWork, name: string): boolean {
  return host.workspace.policy.readable(join(repository.top, name))
}

function noDifferences(status: Status, staged: boolean): string {
  if (status.clean) return "No differences: the working tree is clean."
  const why = staged
    ? "Nothing is staged."
    : "Staged changes show with staged: true; untracked files never show in a diff."
  return `No differences here. ${why}\n${describeStatus(status)}`
}

export async function addAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const files = paths(work, args.files)
  const outcome = await git(repository, settings, ["add", "--", ...files], run)
  if (outcome.exitCode !== 0) {
    return gitFailure(
      "add",
      outcome,
      'Name files that exist, from the workspace\'s top, such as {"action": "add", "files": ["src/index.ts"]}.',
    )
  }
  const status = await readStatus(repository, settings, run)
  return success({ output: describeStatus(status), data: status })
}

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
  if (before.conflicted.length > 0) {
    return failure({
      code: "CONFLICTS",
      message: `Unresolved conflicts in ${before.conflicted.join(", ")}.`,
      hint: "Edit these files, add them, then commit.",
    })
  }
  const stage =
    named.length > 0 ? { files: named, left: [] } : before.staged.length > 0 ? undefined : everything(before)
  if (stage !== undefined) {
    if (stage.files.length === 0) {
      return failure({
        code: "NOTHING_TO_COMMIT",
        message: "There is nothing to commit.",
        hint: describeStatus(before),
      })
    }
    const added = await git(repository, settings, ["add", "--all", "--", ...stage.files], run)
    if (added.exitCode !== 0) return gitFailure("add", added, "Name files that exist, from the workspace's top.")
  }
  const command = [
    "commit",
    "--no-verify",
    "--no-edit",
    "--cleanup=whitespace",
    "--file=-",
    ...(named.length > 0 ? ["--only", "--", ...named] : []),
  ]
  let outcome = await git(repository, settings, command, { ...run, input: message })
  let identity = ""
  if (outcome.exitCode !== 0 && /empty ident|tell me who you are|unable to auto-detect/iu.test(outcome.stderr.text)) {
    const { name, email } = settings.identity
    identity = `Committed as ${name} <${email}>, for git has no user.name and user.email here.`
    outcome = await git(repository, settings, command, {
      ...run,
      input: message,
      config: [`user.name=${name}`, `user.email=${email}`],
    })
  }
  if (outcome.exitCode !== 0)
    return gitFailure("commit", outcome, describeStatus(await readStatus(repository, settings, run)))
  const shown = await git(repository, settings, ["show", "--no-patch", "--format=%H", "HEAD"], run)
  const names = await git(
    repository,
    settings,
    ["diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", "HEAD"],
    run,
  )
  const commit = shown.stdout.text.trim()
  const files = names.stdout.text.split("\0").filter((name) => name !== "")
  const left = stage?.left ?? []
  const notes = [
    `Committed ${commit.slice(0, 10)} on ${before.branch ?? "a detached HEAD"}: ${message.split("\n")[0]}`,
    ...files.map((file) => `  ${file}`),
    ...(left.length > 0 ? [`Left out, for they look like secrets: ${left.join(", ")}.`] : []),
    ...(identity === "" ? [] : [identity]),
  ]
  return success({ output: notes.join("\n"), data: { commit, branch: before.branch, message, files, left_out: left } })
}

/** All changed files, except those whose names say that they hold secrets. */
function everything(status: Status): { files: string[]; left: string[] } {
  const secret = compileDenyList(DEFAULT_DENY_READ)
  const untracked = status.untracked.map((path) => ({ path, denied: secret(path.split("/")) !== undefined }))
  const files = [
    ...status.unstaged.map((change) => change.path),
    ...untracked.filter((file) => !file.denied).map((file) => file.path),
  ]
  return { files, left: untracked.filter((file) => file.denied).map((file) => file.path) }
}

export async function pushAction({ repository, settings, run }: GitWork, args: JsonObject): Promise<ToolResult> {
  const status = await readStatus(repository, settings, run)
  const remote = typeof args.remote === "string" ? args.remote : "origin"
  const branch = typeof args.branch === "string" ? args.branch : status.branch
  const known = (await git(repository, settings, ["remote"], run)).stdout.text.split("\n").filter((line) => line !== "")
  if (!known.includes(remote)) {
    return failure({
      code: "UNKNOWN_REMOTE",
      message: `There is no remote '${remote}'.`,
      hint:
        known.length === 0 ? "This repository has no remotes; a person must add one." : `Remotes: ${known.join(", ")}.`,
    })
  }
  if (branch === null)
    return failure({ code: "NO_BRANCH", message: "HEAD is detached.", hint: "Name the branch to push." })
  await assertBranchName(repository, settings, branch, run)
  const command = [
    "push",
    "--porcelain",
    "--no-verify",
    "--no-recurse-submodules",
    "--set-upstream",
    "--end-of-options",
    remote,
    `refs/heads/${branch}:refs/heads/${branch}`,
  ]
  const outcome = await git(repository, settings, command, { ...run, remote: true })
  if (outcome.exitCode !== 0) {
    return gitFailure(
      "push",
      outcome,
      `Only these protocols are allowed: ${settings.protocols.join(", ")}. A rejected push needs the remote's commits first.`,
    )
  }
  return success({ output: `Pushed ${branch} to ${remote}.\n${outcome.stdout.text.trim()}`, data: { remote, branch } })
}

export async function checkoutAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const ref = String(args.ref ?? args.branch ?? "")
  const target = await resolveCommit(repository, settings, ref, run)
  const isBranch = (await branchNames(repository, settings, run)).includes(ref)
  const before = await head(work)
  const outcome = await git(
    repository,
    settings,
    [
      "checkout",
      "--quiet",
      "--no-recurse-submodules",
      ...(isBranch ? [] : ["--detach"]),
      isBranch ? ref : target,
      "--",
    ],
    run,
  )
  if (outcome.exitCode !== 0) return gitFailure("checkout", outcome, "Commit your changes first, or undo them.")
  const changed = before === undefined ? [] : await changedBetween(work, before, target)
  const output = isBranch
    ? `On branch ${ref} now.`
    : `HEAD is at ${target.slice(0, 10)} now, on no branch; create_branch before you commit.`
  return success({
    output,
    data: { ref, commit: target, branch: isBranch ? ref : null, changed },
    modifiedFiles: changed,
  })
}

export async function createBranchAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const name = String(args.branch ?? "")
  await assertBranchName(repository, settings, name, run)
  const from = typeof args.from === "string" ? await resolveCommit(repository, settings, args.from, run) : undefined
  const before = await head(work)
  const outcome = await git(
    repository,
    settings,
    ["checkout", "--quiet", "-b", name, ...(from === undefined ? [] : [from, "--"])],
    run,
  )
  if (outcome.exitCode !== 0)
    return gitFailure("create_branch", outcome, "Choose another name, or check the existing branch out.")
  const changed = before === undefined || from === undefined ? [] : await changedBetween(work, before, from)
  return success({
    output: `Created branch ${name} and switched to it.`,
    data: { branch: name, changed },
    modifiedFiles: changed,
  })
}

export async function logAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const count = typeof args.max_count === "number" ? Math.min(Math.max(1, Math.trunc(args.max_count)), 500) : 10
  if ((await head(work)) === undefined) return success({ output: "No commits yet.", data: { commits: [] } })
  const ref = await resolveCommit(repository, settings, typeof args.ref === "string" ? args.ref : "HEAD", run)
  const format = "--format=%H%x1f%an%x1f%ae%x1f%aI%x1f%s%x1f%b%x1e"
  const outcome = await git(
    repository,
    settings,
    ["log", `--max-count=${count}`, "--no-show-signature", format, ref, "--", ...paths(work, args.files)],
    run,
  )
  if (outcome.exitCode !== 0) return gitFailure("log", outcome)
  const commits = outcome.stdout.text
    .split("\x1e")
    .map((entry) => entry.trimStart())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [commit = "", author = "", email = "", date = "", subject = "", body = ""] = entry.split("\x1f")
      return { commit, author, email, date, subject, body: body.trim() }
    })
  const output = commits
    .map(({ commit, date, author, subject }) => `${commit.slice(0, 10)} ${date.slice(0, 10)} ${author}: ${subject}`)
    .join("\n")
  return success({ output: output || "No commits.", data: { commits } })
}

async function head({ repository, settings, run }: GitWork): Promise<string | undefined> {
  const outcome = await git(repository, settings, ["rev-parse", "--verify", "--quiet", "HEAD"], run)
  return outcome.exitCode === 0 ? outcome.stdout.text.trim() : undefined
}

async function changedBetween({ repository, settings, run }: GitWork, from: string, to: string): Promise<string[]> {
  const outcome = await git(repository, settings, ["diff", "--name-only", "--no-ext-diff", "-z", from, to, "--"], run)
  return outcome.stdout.text.split("\0").filter((name) => name !== "")
}

/** The files that a call names, checked and relative to the repository's top. */
function paths({ host, repository }: GitWork, files: unknown): string[] {
  const list = typeof files === "string" ? [files] : Array.isArray(files) ? files.map(String) : []
  return list.map((file) => relative(repository.top, insideRoot(host, file)) || ".")
}

/** A failed git command: what git said, and what to do. */
function gitFailure(action: string, outcome: GitOutcome, hint?: string): ToolResult {
  const said = `${outcome.stderr.text}\n${outcome.stdout.text}`.trim()
  const why = outcome.ended === "exit" ? said || `exit code ${outcome.exitCode}` : `it was ended (${outcome.ended})`
  const notice = sandboxNotice(outcome.sandbox)
  return failure({
    code: outcome.ended === "exit" ? "GIT_FAILED" : outcome.ended === "timeout" ? "TIMEOUT" : "CANCELLED",
    message: `git ${action} failed: ${why}`,
    ...(hint === undefined ? {} : { hint }),
    metadata: { sandbox: outcome.sandbox, ...(notice === "" ? {} : { warning: notice }) },
  })
}

function filesOfDiff(diff: string): { path: string; added: number; removed: number }[] {
  const files: { path: string; added: number; removed: number }[] = []
  let inHunk = false
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) {
      files.push({ path: / b\/(.*)$/u.exec(line)?.[1] ?? "", added: 0, removed: 0 })
      inHunk = false
    } else if (line.startsWith("@@")) inHunk = true
    else if (inHunk && line.startsWith("+")) files.at(-1)!.added++
    else if (inHunk && line.startsWith("-")) files.at(-1)!.removed++
  }
  return files
}
