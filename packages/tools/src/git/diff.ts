import { success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { visibleName } from "@toolwright/host/text"
import { resolveCommit } from "./refs.ts"
import { git } from "./repository.ts"
import { describeStatus, readStatus, WHOLE_LIST, type Status } from "./status.ts"
import { gitFailure, paths, protectedAmong, type GitWork } from "./work.ts"

export async function diffAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const command = [
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "--ignore-submodules=dirty",
  ]
  if (args.staged === true) command.push("--cached")
  if (typeof args.ref === "string") command.push(await resolveCommit(repository, settings, args.ref, run))
  const named = paths(work, args.files)
  // Both at once: most of the time there is nothing to leave out, and then the second is the answer.
  const [names, whole] = await Promise.all([
    git(repository, settings, [...command, "--name-only", "--no-renames", "-z", "--", ...named], {
      ...run,
      keepBytes: WHOLE_LIST,
    }),
    git(repository, settings, [...command, "--", ...named], run),
  ])
  if (names.exitCode !== 0 || names.stdout.truncated) return gitFailure("diff", names)
  const changed = names.stdout.text.split("\0").filter((name) => name !== "")
  const secrets = [...(await protectedAmong(work, changed))]
  const files = [...named.map((name) => `:(literal)${name}`), ...secrets.map((name) => `:(exclude,literal)${name}`)]
  const outcome =
    secrets.length === 0
      ? whole
      : await git(repository, settings, [...command, "--", ...files], { ...run, patterns: true })
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

function noDifferences(status: Status, staged: boolean): string {
  if (status.clean) return "No differences: the working tree is clean."
  const why = staged
    ? "Nothing is staged."
    : "Staged changes show with staged: true; untracked files never show in a diff."
  return `No differences here. ${why}\n${describeStatus(status)}`
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
