import { success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { visibleName } from "@toolwright/host/text"
import { resolveCommit } from "./refs.ts"
import { partRawDiff, plainName } from "./raw-diff.ts"
import { git, type GitOutcome } from "./repository.ts"
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
  const found = await namedDiff(work, command, named)
  if ("failed" in found) return gitFailure("diff", found.failed)
  const secrets = [...(await protectedAmong(work, found.names))]
  const files = [...named.map((name) => `:(literal)${name}`), ...secrets.map((name) => `:(exclude,literal)${name}`)]
  const shownOf =
    secrets.length === 0
      ? found
      : readDiff(await git(repository, settings, [...command, "--", ...files], { ...run, patterns: true }))
  if ("failed" in shownOf) return gitFailure("diff", shownOf.failed)
  const { diff, truncated } = shownOf
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
    data: { diff, files: filesOfDiff(diff), truncated, left_out: secrets },
  })
}

interface Read {
  readonly diff: string
  readonly truncated: boolean
}

function readDiff(outcome: GitOutcome): Read | { readonly failed: GitOutcome } {
  if (outcome.exitCode !== 0) return { failed: outcome }
  return { diff: outcome.stdout.text, truncated: outcome.stdout.truncated }
}

/** The whole diff, and the names of all files that it shows something of. */
async function namedDiff(
  { repository, settings, run }: GitWork,
  command: readonly string[],
  named: readonly string[],
): Promise<(Read & { readonly names: readonly string[] }) | { readonly failed: GitOutcome }> {
  const both = await git(repository, settings, [...command, "--raw", "--patch", "--", ...named], run)
  const parted = both.exitCode === 0 ? partRawDiff(both.stdout.text) : undefined
  if (parted !== undefined) return { ...parted, truncated: both.stdout.truncated }
  // In the middle of a merge, and of thousands of files, git tells the two apart.
  const list = [...command, "--name-only", "--no-renames", "-z", "--", ...named]
  const names = await git(repository, settings, list, { ...run, keepBytes: WHOLE_LIST })
  if (names.exitCode !== 0 || names.stdout.truncated) return { failed: names }
  const whole = readDiff(await git(repository, settings, [...command, "--", ...named], run))
  if ("failed" in whole) return whole
  return { ...whole, names: names.stdout.text.split("\0").filter((name) => name !== "") }
}

function noDifferences(status: Status, staged: boolean): string {
  if (status.clean) return "No differences: the working tree is clean."
  const why = staged
    ? "Nothing is staged."
    : "Staged changes show with staged: true; untracked files never show in a diff."
  return `No differences here. ${why}\n${describeStatus(status)}`
}

interface ChangedFile {
  path: string
  added: number
  removed: number
}

/** The files of a diff with their lines counted; in a merge a line counts that differs from one of the sides. */
function filesOfDiff(diff: string): ChangedFile[] {
  const files: ChangedFile[] = []
  // Columns before the text of a line: one, or one for each side of a merge.
  let columns = 0
  for (const line of diff.split("\n")) {
    const merged = /^diff --(?:cc|combined) (.*)$/u.exec(line)?.[1]
    if (merged !== undefined || line.startsWith("diff --git ")) {
      files.push({ path: merged === undefined ? nameIn(line) : plainName(merged), added: 0, removed: 0 })
      columns = 0
    } else if (line.startsWith("@@")) columns = line.indexOf(" ") - 1
    else if (columns > 0 && files.length > 0) {
      const marks = line.slice(0, columns)
      if (marks.includes("+")) files.at(-1)!.added++
      else if (marks.includes("-")) files.at(-1)!.removed++
    }
  }
  return files
}

/** The name in `diff --git a/<name> b/<name>`, of a renamed file the new one. */
function nameIn(line: string): string {
  const both = line.slice("diff --git ".length)
  const half = both.slice(0, (both.length - 1) / 2)
  if (`${half} b/${half.slice(2)}` === both) return half.slice(2)
  const [, quoted, plain = ""] = / (?:("b\/.*")|b\/(.*))$/u.exec(both) ?? []
  return quoted === undefined ? plain : plainName(quoted).slice(2)
}
