import { ToolwrightError } from "@toolwright/toolbox"
import { headCommit, keepsRefsInFiles, refAt } from "@toolwright/host/repository"
import { git, type GitRun, type GitSettings, type Repository } from "./repository.ts"

/**
 * Checks that a revision names a commit and cannot be read as an option.
 * @returns the commit's full id
 * @throws ToolwrightError `INVALID_REF` or `UNKNOWN_REF`
 */
export async function resolveCommit(
  repository: Repository,
  settings: GitSettings,
  ref: string,
  run: GitRun,
): Promise<string> {
  assertPlain(ref)
  const known = knownCommit(repository, ref)
  if (known !== undefined) return known
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]
  const outcome = await git(repository, settings, args, run)
  if (outcome.exitCode === 0) return outcome.stdout.text.trim()
  const branches = await branchNames(repository, settings, run)
  throw new ToolwrightError("UNKNOWN_REF", `There is no commit, branch or tag '${ref}'.`, {
    hint:
      branches.length === 0 ? "The repository has no commit yet." : `Branches: ${branches.slice(0, 20).join(", ")}.`,
  })
}

/** The commit of a branch whose name means nothing else, without asking git. */
function knownCommit({ layout }: Repository, ref: string): string | undefined {
  if (ref === "HEAD") return headCommit(layout)
  const others = [`refs/${ref}`, `refs/tags/${ref}`, `refs/remotes/${ref}`, `refs/remotes/${ref}/HEAD`]
  if (!isPlainName(ref) || !keepsRefsInFiles(layout) || others.some((name) => refAt(layout, name) !== undefined))
    return undefined
  const id = refAt(layout, `refs/heads/${ref}`)
  return id !== undefined && ID.test(id) ? id : undefined
}

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u

/** Names of branches that need no rule of git's to be seen to be ones, and cannot be taken for a commit's id. */
function isPlainName(name: string): boolean {
  const parts = name.split("/")
  return (
    parts.every((part) => /^[A-Za-z0-9_][\w-]*(?:\.[\w-]+)*$/u.test(part) && !part.endsWith(".lock")) && !HEX.test(name)
  )
}

const HEX = /^[0-9a-f]+$/iu

/** Whether there is a branch of that name. */
export async function isBranch(
  repository: Repository,
  settings: GitSettings,
  name: string,
  run: GitRun,
): Promise<boolean> {
  const { layout } = repository
  if (isPlainName(name) && keepsRefsInFiles(layout)) return refAt(layout, `refs/heads/${name}`) !== undefined
  return (await branchNames(repository, settings, run)).includes(name)
}

/** Checks the name of a new branch with git's own rules. @throws ToolwrightError `INVALID_REF` */
export async function assertBranchName(
  repository: Repository,
  settings: GitSettings,
  name: string,
  run: GitRun,
): Promise<void> {
  assertPlain(name)
  if (isPlainName(name) && name.length < 200 && name !== "HEAD") return
  const outcome = await git(repository, settings, ["check-ref-format", "--branch", name], run)
  if (outcome.exitCode !== 0) throw invalid(name)
}

export async function branchNames(repository: Repository, settings: GitSettings, run: GitRun): Promise<string[]> {
  const outcome = await git(repository, settings, ["for-each-ref", "--format=%(refname:short)", "refs/heads"], run)
  return outcome.stdout.text.split("\n").filter((line) => line !== "")
}

function assertPlain(ref: string): void {
  if (ref === "" || ref.startsWith("-") || /[\u0000-\u0020\u007f]/u.test(ref)) throw invalid(ref)
}

function invalid(ref: string): ToolwrightError {
  return new ToolwrightError("INVALID_REF", `'${ref}' is no valid name of a branch or revision.`, {
    hint: "Use a name such as main, feature/login, HEAD~1 or a commit id; it must not begin with '-'.",
  })
}
