import { lstat, readFile, realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

/**
 * The folder that really holds the repository of a linked work tree (`git worktree add`), whose `.git` is a file that
 * points there.
 *
 * Whoever can write to the workspace can make that file point anywhere. So the pointer counts only when the other side
 * points back, as git
 * itself keeps it (gitrepository-layout(5), `worktrees/<id>/gitdir`): nothing inside a sandbox can write that.
 *
 * @returns undefined for an ordinary repository, for none, and for a pointer that is not returned
 */
export async function linkedRepository(root: string): Promise<string | undefined> {
  const pointer = join(root, ".git")
  const stat = await lstat(pointer).catch(() => undefined)
  if (stat === undefined || !stat.isFile() || stat.size > 4096) return undefined
  try {
    const target = /^gitdir: (.+)$/mu.exec(await readFile(pointer, "utf8"))?.[1]
    if (target === undefined) return undefined
    const folder = await realpath(resolve(root, target.trim()))
    const back = (await readFile(join(folder, "gitdir"), "utf8")).trim()
    if ((await realpath(resolve(folder, back))) !== (await realpath(pointer))) return undefined
    const common = await realpath(resolve(folder, (await readFile(join(folder, "commondir"), "utf8")).trim()))
    // The work tree's own folder lies in the repository: `<repository>/worktrees/<id>`.
    return dirname(dirname(folder)) === common ? common : undefined
  } catch {
    return undefined
  }
}
