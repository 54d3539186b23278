import type { Workspace } from "@toolwright/host/paths"
import { compileGlobs } from "./glob.ts"
import { walkFiles } from "./walk-files.ts"

export interface FoundFiles {
  /** Absolute, in the order of their characters. */
  files: string[]
  total: number
  /** Whether there was more to walk through than is walked through. */
  incomplete: boolean
}

/** Finds files by a glob over their path below the start, or over their name when it has no `/`. */
export async function findFiles(
  workspace: Workspace,
  path: string,
  glob: string,
  options: { includeIgnored: boolean; maxResults: number; signal?: AbortSignal | undefined },
): Promise<FoundFiles> {
  const matches = await compileGlobs([glob])
  const found: string[] = []
  const { shown, stopped } = await walkFiles(workspace, path, options, (entry) => {
    if (entry.kind !== "directory" && matches(entry.path)) found.push(entry.path)
  })
  found.sort()
  const base = shown.endsWith("/") ? shown : `${shown}/`
  return {
    files: found.slice(0, options.maxResults).map((file) => base + file),
    total: found.length,
    incomplete: stopped !== undefined,
  }
}
