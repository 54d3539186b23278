import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"

/** The state of a folder: what each file holds, by its path with `/`. */
export type Snapshot = ReadonlyMap<string, string>

/** What is different in a folder, as paths with `/`, sorted. */
export interface FileChanges {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly deleted: readonly string[]
}

/** Folders that are not looked into: version control, and Toolwright's own state. */
const PASSED_OVER = new Set([".git", ".toolwright"])

/** @throws ToolwrightError `WORKSPACE_GONE` */
export function assertThere(folder: string): void {
  if (existsSync(folder)) return
  throw new ToolwrightError(
    "WORKSPACE_GONE",
    `The workspace ${folder} was removed already. Await the run before the block with 'using' ends.`,
  )
}

/** @throws ToolwrightError `WORKSPACE_GONE` */
export function snapshotOf(folder: string): Snapshot {
  assertThere(folder)
  const found = new Map<string, string>()
  walk(folder, "", found)
  return found
}

export function changesBetween(before: Snapshot, after: Snapshot): FileChanges {
  return {
    created: [...after.keys()].filter((path) => !before.has(path)).sort(),
    changed: [...after]
      .filter(([path, hash]) => before.has(path) && before.get(path) !== hash)
      .map(([path]) => path)
      .sort(),
    deleted: [...before.keys()].filter((path) => !after.has(path)).sort(),
  }
}

function walk(folder: string, prefix: string, found: Map<string, string>): void {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    if (PASSED_OVER.has(entry.name)) continue
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`
    const full = join(folder, path)
    if (entry.isDirectory()) walk(folder, path, found)
    else if (entry.isSymbolicLink()) found.set(path, `link to ${readlinkSync(full)}`)
    else if (entry.isFile()) found.set(path, createHash("sha256").update(readFileSync(full)).digest("hex"))
  }
}
