import type { CheckBaseline, HistoryState, ToolDefinition, ToolResult, WorkWatch } from "@toolwright/toolbox"
import { sameHistory } from "./work-record.ts"

/** What is watched of one workspace, from before the first call that may change something. */
export interface Watched {
  readonly watch: WorkWatch
  readonly baseline: CheckBaseline
  /** Where the branches stood; undefined without a repository. */
  readonly began: HistoryState | undefined
  /** Where they stood after the last call, so that what moved them since is known. */
  last: HistoryState | undefined
  /** Files that must be written, as they were. */
  readonly files: ReadonlyMap<string, string | undefined>
}

/** Whether commits are new; a branch that was made or switched to brings none. */
export async function committedMeanwhile(
  { history }: WorkWatch,
  before: HistoryState | undefined,
  now: HistoryState | undefined,
): Promise<boolean> {
  if (sameHistory(before, now)) return false
  return before === undefined || now === undefined || (await history.added(before, now)).length > 0
}

/** What others did since the last call is theirs. */
export async function catchUp(watched: readonly Watched[]): Promise<void> {
  for (const one of watched) one.last = (await one.watch.history.state()) ?? one.last
}

/**
 * Why new commits do not stand for work that was checked; nothing where they do.
 *
 * @param result of the call that said that it commits; of one that did not say so, nothing
 */
export async function unfitting(
  { history }: WorkWatch,
  before: HistoryState,
  after: HistoryState,
  result: ToolResult | undefined,
): Promise<string | undefined> {
  if (result === undefined) return "made by a program, past what is asked before a commit"
  if (result.modifiedFiles.length > 0) return "the same call changed files that were not checked since"
  const files = await history.recorded(before, after)
  const other = files.length === 0 ? [] : await history.unrecorded(files)
  return other.length === 0
    ? undefined
    : `other content than what was checked and lies in the workspace, in ${other.slice(0, 5).join(", ")}`
}

export function watchesOf(tools: readonly ToolDefinition[]): WorkWatch[] {
  return [...new Set(tools.flatMap(({ work }) => (work === undefined ? [] : [work])))]
}

export function mayCommit({ role, actions }: ToolDefinition): boolean {
  return [role, ...(actions?.list ?? []).map((action) => action.role)].includes("commits")
}
