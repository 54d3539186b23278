import { join } from "node:path"
import { stateTextOf, writeStateFile } from "@toolwright/host/state-files"
import { failure, success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { isInside } from "@toolwright/host/paths"
import { headCommit } from "@toolwright/host/repository"
import { visibleName } from "@toolwright/host/text"
import { assertBranchName, isBranch, resolveCommit } from "./refs.ts"
import { git, type Repository } from "./repository.ts"
import { problemOf } from "./endings.ts"
import { describeStatus, readStatus, WHOLE_LIST } from "./status.ts"
import { gitFailure, paths, type GitWork } from "./work.ts"

export async function statusAction({ repository, settings, run }: GitWork): Promise<ToolResult> {
  const status = await readStatus(repository, settings, run)
  return success({ output: describeStatus(status), data: status })
}

/**
 * Notes where a branch was pushed to, as `--set-upstream` would: the configuration that git was shown is one of ours.
 * Nothing is changed where the repository says something of that branch already.
 */
function trackBranch({ layout, writable }: Repository, branch: string, remote: string): void {
  const file = join(layout.commonDir, "config")
  const section = `[branch "${branch.replace(/["\\]/gu, "\\$&")}"]`
  const text = stateTextOf(file) ?? ""
  if (!writable || text === "" || text.includes(section) || !/^[\w./-]+$/u.test(remote)) return
  const lines = `${text.endsWith("\n") ? "" : "\n"}${section}\n\tremote = ${remote}\n\tmerge = refs/heads/${branch}\n`
  try {
    writeStateFile(file, lines, { how: "append" })
  } catch {
    // What was pushed is pushed; git asks for the branch's remote the next time.
  }
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
      `Only these protocols are allowed: ${settings.protocols.join(", ")}. A rejected push needs the remote's ` +
        "commits first.",
    )
  }
  trackBranch(repository, branch, remote)
  return success({ output: `Pushed ${branch} to ${remote}.\n${outcome.stdout.text.trim()}`, data: { remote, branch } })
}

export async function checkoutAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const ref = String(args.ref ?? args.branch ?? "")
  const target = await resolveCommit(repository, settings, ref, run)
  const branch = await isBranch(repository, settings, ref, run)
  const before = await head(work)
  const changed = before === undefined ? [] : await changedBetween(work, before, target)
  const rules = rulesAmong(work, changed)
  if (rules.length > 0) return rulesRefused(rules)
  const outcome = await git(
    repository,
    settings,
    ["checkout", "--quiet", "--no-recurse-submodules", ...(branch ? [] : ["--detach"]), branch ? ref : target, "--"],
    run,
  )
  if (outcome.exitCode !== 0) return gitFailure("checkout", outcome, "Commit your changes first, or undo them.")
  const output = branch
    ? `On branch ${ref} now.`
    : `HEAD is at ${target.slice(0, 10)} now, on no branch; create_branch before you commit.`
  return success({
    output,
    data: { ref, commit: target, branch: branch ? ref : null, changed },
    modifiedFiles: changed,
  })
}

export async function createBranchAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const name = String(args.branch ?? "")
  await assertBranchName(repository, settings, name, run)
  const from = typeof args.from === "string" ? await resolveCommit(repository, settings, args.from, run) : undefined
  const before = await head(work)
  const changed = before === undefined || from === undefined ? [] : await changedBetween(work, before, from)
  const rules = rulesAmong(work, changed)
  if (rules.length > 0) return rulesRefused(rules)
  const outcome = await git(
    repository,
    settings,
    ["checkout", "--quiet", "-b", name, ...(from === undefined ? [] : [from, "--"])],
    run,
  )
  if (outcome.exitCode !== 0)
    return gitFailure("create_branch", outcome, "Choose another name, or check the existing branch out.")
  return success({
    output: `Created branch ${name} and switched to it.`,
    data: { branch: name, changed },
    modifiedFiles: changed,
  })
}

export async function logAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const count = typeof args.max_count === "number" ? Math.min(Math.max(1, Math.trunc(args.max_count)), 500) : 10
  const ref = typeof args.ref === "string" ? await resolveCommit(repository, settings, args.ref, run) : "HEAD"
  const format = "--format=%H%x1f%an%x1f%ae%x1f%aI%x1f%s%x1f%b%x1e"
  const outcome = await git(
    repository,
    settings,
    ["log", `--max-count=${count}`, "--no-show-signature", format, ref, "--", ...paths(work, args.files)],
    run,
  )
  if (outcome.exitCode !== 0 && (await head(work)) === undefined)
    return success({ output: "No commits yet.", data: { commits: [] } })
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

/**
 * The files among these that tools are configured by or loaded from: another branch may have others, and no tool writes
 * them.
 */
function rulesAmong({ host, repository }: GitWork, files: readonly string[]): string[] {
  // Some file systems take one case for another.
  const loaded = host.workspace.loaded.map((path) => path.toLowerCase())
  const isLoaded = (file: string): boolean => {
    const path = join(repository.top, file).toLowerCase()
    // A link in place of a folder above leads elsewhere.
    return loaded.some((other) => isInside(path, other) || isInside(other, path))
  }
  const isRule = (name: string): boolean => /^(?:toolwright\.ya?ml|\.toolwright)$/iu.test(name)
  return files.filter((file) => file.split("/").some(isRule) || isLoaded(file))
}

function rulesRefused(rules: readonly string[]): ToolResult {
  return failure({
    code: "CONFIGURATION_KEPT",
    message:
      `Nothing was switched: it would change ${rules.slice(0, 5).map(visibleName).join(", ")}, which tools are ` +
      "configured by or loaded from.",
    hint: "A person must switch to that commit.",
  })
}

async function head({ repository, settings, run }: GitWork): Promise<string | undefined> {
  const known = headCommit(repository.layout)
  if (known !== undefined) return known
  const outcome = await git(repository, settings, ["rev-parse", "--verify", "--quiet", "HEAD"], run)
  return outcome.exitCode === 0 ? outcome.stdout.text.trim() : undefined
}

/**
 * The files that differ between two commits: all of them, for half a list may lack the very one that must not change.
 *
 * @throws ToolwrightError by how git ended, where it could not name all
 */
async function changedBetween({ repository, settings, run }: GitWork, from: string, to: string): Promise<string[]> {
  const outcome = await git(
    repository,
    settings,
    ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", from, to, "--"],
    { ...run, keepBytes: WHOLE_LIST },
  )
  const { truncated } = outcome.stdout
  if (outcome.exitCode !== 0 || truncated) {
    const { code, why, hint } = problemOf(truncated ? { ...outcome, ended: "output-limit" } : outcome)
    throw new ToolwrightError(code, `git diff failed: ${why}`, hint === undefined ? {} : { hint })
  }
  return outcome.stdout.text.split("\0").filter((name) => name !== "")
}
