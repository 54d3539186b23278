import { failure, type EarlierChecks, type ToolResult } from "@toolwright/toolbox"
import type { OpenFailure } from "./open-failures.ts"

/** What a gate says of work: to the model, and to a person afterwards. */

export const counted = (commits: readonly string[]): string =>
  commits.length === 1 ? "a commit that this call made" : `${commits.length} commits that this call made`

/** The result of a call whose commits were taken back. */
export function takenBack(said: string, { output, data, modifiedFiles, metadata }: ToolResult): ToolResult {
  const hint = "The files are as they were. Run the validation, and commit in a call of its own."
  return failure({
    code: "COMMIT_UNDONE",
    message: said,
    hint,
    output: `${said}\n${hint}\n${output}`,
    ...(data === undefined ? {} : { data }),
    modifiedFiles,
    metadata,
  })
}

export const MOVED_MEANWHILE =
  "The run was interrupted during a call, and the repository has moved since: what was committed there was not checked."

export const NOT_COMMITTED = "nothing has been committed yet"

export const ALSO_CHANGES = (): ToolResult =>
  failure({
    code: "COMMIT_REFUSED",
    message: "Nothing was run: this command commits, and beside that does something that may change what was checked.",
    hint: "Make the change first, run the validation, and commit in a call of its own; git add may stand before it.",
  })

export const SKIPS_HOOKS = (): ToolResult =>
  failure({
    code: "COMMIT_REFUSED",
    message: "Nothing was run: this command commits past the hooks of the repository.",
    hint: "Commit without skipping them, and put right what they report.",
  })

export function touched({ changed, removed, added }: EarlierChecks): string {
  const parts = [
    ...(changed.length > 0 ? [`changed: ${shortList(changed)}`] : []),
    ...(removed.length > 0 ? [`removed: ${shortList(removed)}`] : []),
    ...(added.length > 0 ? [`added: ${shortList(added)}`] : []),
  ]
  return parts.join(", ")
}

export function noteOf(checks: EarlierChecks): { code: string; message: string } {
  const said = `The checks were ${touched(checks)}.`
  return checks.passed
    ? { code: "CHECKS_CHANGED", message: `${said} As they were before, they pass too.` }
    : { code: "CHECKS_WEAKENED", message: `${said} As they were before, they do not pass: ${firstLine(checks.report)}` }
}

export const shortList = (files: readonly string[]): string =>
  files.length > 5 ? `${files.slice(0, 5).join(", ")} and ${files.length - 5} more` : files.join(", ")
export const firstLine = (text: string): string => text.trim().split("\n")[0]!.slice(0, 300)

export const failedText = ({ name, message }: OpenFailure): string =>
  `'${name}' failed and was not put right: ${firstLine(message)}`

/** Failures that a model is reminded of at once: the last ones. */
const MOST_FAILURES = 3

/** What a model is told that talks where it should go on: what is missing of its work, and what failed last. */
export function leftToDo(
  reasons: readonly string[],
  failures: readonly OpenFailure[],
  signal: string | undefined,
): string {
  const left = [...reasons, ...failures.slice(-MOST_FAILURES).map(failedText)]
  if (left.length > 0) return `\n\nWhat is missing:\n${left.map((each) => `- ${each}`).join("\n")}`
  return signal === undefined ? "" : ` If all of it is done, say so with ${signal}.`
}
