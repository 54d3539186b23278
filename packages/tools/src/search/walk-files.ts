import { join, relative, sep } from "node:path"
import type { Workspace, WalkEntry, WalkSummary } from "@toolwright/host/paths"
import { createIgnoreRules, IGNORE_FILES, LARGEST_IGNORE_FILE } from "./ignore-rules.ts"

export interface WalkFilesOptions {
  includeIgnored: boolean
  signal?: AbortSignal | undefined
}

/**
 * Visits entries below a directory as a search sees them: without `.git`, and without what ignore files leave out. A
 * directory's own rules are read before its entries are looked at, so nothing below an ignored directory is ever
 * touched.
 */
export async function walkFiles(
  workspace: Workspace,
  path: string,
  { includeIgnored, signal }: WalkFilesOptions,
  visit: (entry: WalkEntry, place: { real: string; shown: string }) => "stop" | undefined | void,
): Promise<WalkSummary & { shown: string }> {
  const options = { sorted: true, ...(signal === undefined ? {} : { signal }) }
  if (includeIgnored) {
    return workspace.walk(path, (entry, place) => (entry.name === ".git" ? "skip" : visit(entry, place)), options)
  }
  const rules = await createIgnoreRules()
  const start = await workspace.realPath(path, "read")
  const { root } = workspace.locate(start, "read")
  const prefix = relative(root.real, start).split(sep).join("/")
  const belowRoot = (below: string) => [prefix, below].filter((part) => part !== "").join("/")
  const readRules = async (directory: string, names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const content = await workspace.read(join(root.real, directory, name), LARGEST_IGNORE_FILE).catch(() => undefined)
      if (content !== undefined) rules.add(directory, content.bytes)
    }
  }
  for (const directory of ancestors(prefix)) await readRules(directory, IGNORE_FILES)
  return workspace.walk(
    path,
    (entry, place) => {
      if (entry.name === ".git" || rules.ignores(belowRoot(entry.path), entry.kind === "directory")) return "skip"
      return visit(entry, place)
    },
    {
      ...options,
      enter(directory, entries) {
        const names = IGNORE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.isFile()))
        return names.length === 0 ? undefined : readRules(belowRoot(directory), names)
      },
    },
  )
}

/** The directories above a path, from the root (empty) down, without the path itself. */
function ancestors(path: string): string[] {
  const parts = path === "" ? [] : path.split("/")
  return parts.map((_, index) => parts.slice(0, index).join("/"))
}
