import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { shellQuoted } from "@toolwright/toolbox/shell-word"
import { visibleName } from "@toolwright/host/text"
import { git, type GitOutcome } from "./repository.ts"
import { gitSequence, type GitCommand } from "./sequence.ts"
import { describeStatus, STATUS, statusOf, WHOLE_LIST } from "./status.ts"
import { gitFailure, paths, protectedAmong, type GitWork } from "./work.ts"

/** What goes into the index, and what does not. */
export interface Selection {
  readonly files: readonly string[]
  /** Left out, since tools may not read them. */
  readonly left: readonly string[]
  /** Left out, since .gitattributes hands them to a filter. */
  readonly filtered: readonly string[]
  /** Left out, since they lay here before the work began, and no commit knew them. */
  readonly earlier?: readonly string[]
}

export async function addAction(work: GitWork, args: JsonObject): Promise<ToolResult> {
  const { repository, settings, run } = work
  const selection = await select(work, paths(work, args.files))
  const commands = [...staging(selection), { args: STATUS }]
  const outcomes = await gitSequence(repository, settings, commands, { ...run, keepBytes: WHOLE_LIST })
  if (outcomes.length < commands.length) return notStaged(outcomes[0]!)
  const status = statusOf(outcomes.at(-1)!)
  const output = [...leftOut(selection), describeStatus(status)].join("\n")
  return success({ output, data: { ...status, left_out: [...selection.left, ...selection.filtered] } })
}

/**
 * The files that names stand for. A folder stands for what is new or changed in it, without what tools may not read: so
 * `.` is a list of files here, never git's own idea of everything. Other names stand for themselves.
 *
 * @throws ToolwrightError `FILTER_NEEDED` for a named file that only a filter could store, `ACCESS_DENIED` for one that
 *   is another name of a protected file
 */
export async function select(work: GitWork, named: readonly string[]): Promise<Selection> {
  const { repository, settings, run } = work
  const folders: string[] = []
  const files: string[] = []
  for (const name of named) {
    const stat = await lstat(join(repository.top, name)).catch(() => undefined)
    if (stat?.isDirectory() === true) folders.push(name)
    else files.push(name)
  }
  const [hidden] = await protectedAmong(work, files)
  if (hidden !== undefined) {
    throw new ToolwrightError("ACCESS_DENIED", `Access denied: ${visibleName(hidden)} is a protected file.`, {
      hint: "Tools never read or store it; it may be another name (a hard link) of one.",
    })
  }
  const [filter] = await withFilter(work, files)
  if (filter !== undefined) {
    throw new ToolwrightError("FILTER_NEEDED", `.gitattributes hands ${filter} to a filter, which does not run here.`, {
      hint: "Leave this file to a person (git lfs and the like); the others can be named.",
    })
  }
  if (folders.length === 0) return { files, left: [], filtered: [] }
  const kinds = ["--others", "--modified", "--deleted", "--exclude-standard"]
  const list = await git(repository, settings, ["ls-files", "-z", ...kinds, "--", ...folders], {
    ...run,
    keepBytes: WHOLE_LIST,
  })
  const found = [...new Set(list.stdout.text.split("\0").filter((name) => name !== ""))]
  const selection = await sift(work, found)
  return { ...selection, files: [...files, ...selection.files] }
}

/** What of some changed files can be stored. */
export async function sift(work: GitWork, found: readonly string[]): Promise<Selection> {
  const hidden = await protectedAmong(work, found)
  const left = found.filter((name) => hidden.has(name))
  const rest = found.filter((name) => !hidden.has(name))
  const filtered = new Set(await withFilter(work, rest))
  return { files: rest.filter((name) => !filtered.has(name)), left, filtered: [...filtered] }
}

/** What puts files into the index; no command where there are none. */
export function staging({ files }: Selection): GitCommand[] {
  if (files.length === 0) return []
  return [{ args: ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"], input: files.join("\0") }]
}

export function notStaged(outcome: GitOutcome): ToolResult {
  return gitFailure(
    "add",
    outcome,
    'Name files that exist, from the workspace\'s top, such as {"action": "add", "files": ["src/index.ts"]}.',
  )
}

/** Names to be typed after a command, as many as make sense in a line. */
function shellWords(files: readonly string[]): string {
  const shown = files.slice(0, 5).map((name) => visibleName(name))
  const words = shown.map((name) => (/^[\w./@%+][\w./@%+-]*$/.test(name) ? name : shellQuoted(name)))
  return words.join(" ") + (files.length > 5 ? " …" : "")
}

/** What was left out and why, for the text of a result. */
export function leftOut({ left, filtered, earlier = [] }: Selection): string[] {
  const names = (list: readonly string[]) => `${list.map(visibleName).join(", ")}.`
  return [
    ...(earlier.length === 0
      ? []
      : [
          `Left out, for they lay here untracked before this work began: ${names(earlier)} Those that belong to ` +
            `it are named in 'files', or added by hand before: git add ${shellWords(earlier)}`,
        ]),
    ...(left.length === 0 ? [] : [`Left out, for they look like secrets: ${names(left)}`]),
    ...(filtered.length === 0
      ? []
      : [`Left out, for .gitattributes hands them to a filter, which does not run here: ${names(filtered)}`]),
  ]
}

/**
 * The files that the repository's attributes hand to a filter that is required (large files, encryption). Filters are
 * programs and do not run here; without this one the file's raw content would be stored. A filter that is not required
 * is passed over, as git itself does where it is missing.
 */
async function withFilter({ repository, settings, run }: GitWork, files: readonly string[]): Promise<string[]> {
  const { requiredFilters } = repository.view
  if (files.length === 0 || requiredFilters.size === 0) return []
  const outcome = await git(repository, settings, ["check-attr", "-z", "--stdin", "filter"], {
    ...run,
    input: files.join("\0"),
    keepBytes: WHOLE_LIST,
  })
  const fields = outcome.stdout.text.split("\0")
  const filtered: string[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) if (requiredFilters.has(fields[at + 2]!)) filtered.push(fields[at]!)
  return filtered
}
