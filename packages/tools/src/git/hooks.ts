import { access, constants, lstat, realpath } from "node:fs/promises"
import { join } from "node:path"
import { isInside } from "@toolwright/host/paths"
import type { Repository } from "./repository.ts"

/** The hooks that git runs around a commit (githooks(5)). */
const AROUND_COMMIT = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"] as const

/** The hooks of a repository that a commit would run: where they lie, and their names. */
export interface CommitHooks {
  readonly folder: string
  readonly names: readonly string[]
}

/** @returns undefined where there are none, or where they lie outside the workspace and the repository */
export async function commitHooks({ view, layout, ...repository }: Repository): Promise<CommitHooks | undefined> {
  const folder = await realpath(view.hooks).catch(() => undefined)
  const roots = [repository.workspaceRoot, layout.outside ?? repository.workspaceRoot]
  if (folder === undefined || !roots.some((root) => isInside(root, folder))) return undefined
  const found = await Promise.all(AROUND_COMMIT.map(async (name) => ((await runs(join(folder, name))) ? [name] : [])))
  const names = found.flat()
  return names.length === 0 ? undefined : { folder, names }
}

async function runs(file: string): Promise<boolean> {
  const stat = await lstat(file).catch(() => undefined)
  if (stat === undefined || stat.isDirectory()) return false
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
