import type { Workspace } from "../paths/workspace.ts"
import type { WalkEntry, WalkSummary } from "../paths/walk.ts"
import { createIgnoreRules, IGNORE_FILES } from "./ignore-rules.ts"

export interface WalkFilesOptions {
  includeIgnored: boolean
  signal?: AbortSignal | undefined
}

/**
 * Visits entries below a directory as a search sees them: without `.git`, and without what ignore files leave out. The rules of all
 * directories are collected first, since a directory's own come into force before its entries.
 */
export async function walkFiles(
  workspace: Workspace,
  path: string,
  { includeIgnored, signal }: WalkFilesOptions,
  visit: (entry: WalkEntry, place: { real: string; shown: string }) => "stop" | undefined | void,
): Promise<WalkSummary & { shown: string }> {
  const options = signal === undefined ? { sorted: true } : { sorted: true, signal }
  if (includeIgnored) {
    return workspace.walk(path, (entry, place) => (entry.name === ".git" ? "skip" : visit(entry, place)), options)
  }
  const rules = await createIgnoreRules()
  const files: string[] = []
  await workspace.walk(
    path,
    (entry, { real }) => {
      if (entry.name === ".git") return "skip"
      if (entry.kind === "file" && IGNORE_FILES.includes(entry.name)) files.push(`${real}/${entry.path}`.slice(real.length + 1))
      return undefined
    },
    signal === undefined ? {} : { signal },
  )
  const start = await workspace.realPath(path, "read")
  for (const file of files) {
    const content = await workspace.read(`${start}/${file}`, 1024 * 1024).catch(() => undefined)
    if (content !== undefined) rules.add(file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : "", content.bytes)
  }
  return workspace.walk(
    path,
    (entry, place) => {
      if (entry.name === ".git" || rules.ignores(entry.path, entry.kind === "directory")) return "skip"
      return visit(entry, place)
    },
    options,
  )
}
