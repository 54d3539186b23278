import { failure, type ToolResult } from "@toolwright/toolbox"
import { insideRoot, type ProcessHost } from "@toolwright/host/process"
import { sandboxNotice } from "@toolwright/host/sandbox"
import { lstatSync } from "node:fs"
import { lstat } from "node:fs/promises"
import { join, relative } from "node:path"
import { problemOf } from "./endings.ts"
import type { GitOutcome, GitRun, GitSettings, Repository } from "./repository.ts"

/** Everything an action works with. Dispose of it. */
export interface GitWork extends Disposable {
  readonly host: ProcessHost
  readonly repository: Repository
  readonly settings: GitSettings
  readonly run: GitRun
}

/**
 * Those of some files of the repository that tools may not read, by their own name or since they are another name (a
 * hard link) of such a file: git would store its content, and show it as a change.
 */
export async function protectedAmong(
  { host, repository }: GitWork,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const { policy } = host.workspace
  const found = new Set<string>()
  for (const name of names) {
    const path = join(repository.top, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!policy.readable(path) || (stat !== undefined && (await policy.denied.holds(stat)))) found.add(name)
  }
  return found
}

/** The files that a call names, checked and relative to the repository's top. */
export function paths({ host, repository }: GitWork, files: unknown): string[] {
  const list = typeof files === "string" ? [files] : Array.isArray(files) ? files.map(String) : []
  return list.map((file) => relative(repository.top, insideRoot(host, file)) || ".")
}

/** A failed git command: what git said, and what to do. */
export function gitFailure(action: string, outcome: GitOutcome, hint?: string): ToolResult {
  const problem = problemOf(outcome)
  const notice = sandboxNotice(outcome.sandbox)
  return failure({
    code: problem.code,
    message: `git ${action} failed: ${problem.why}`,
    ...(hint === undefined ? {} : { hint }),
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    metadata: { sandbox: outcome.sandbox, ...(notice === "" ? {} : { warning: notice }) },
  })
}

/** A mark of a file's state, by which is known whether it was touched; empty where there is none. */
export async function stateMark(path: string): Promise<string> {
  const stat = await lstat(path).catch(() => undefined)
  return stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}
