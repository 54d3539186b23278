import { lstat } from "node:fs/promises"
import { resolve } from "node:path"

/**
 * The state of files: device, inode, size and times of each. Any change of content changes it.
 *
 * @returns undefined when one of the paths is no regular file, or there are none, since then the state cannot be told
 */
export async function fingerprintOf(root: string, paths: readonly string[]): Promise<string | undefined> {
  if (paths.length === 0) return undefined
  const states: string[] = []
  for (const path of paths) {
    const stat = await lstat(resolve(root, path), { bigint: true }).catch(() => undefined)
    if (stat === undefined || !stat.isFile()) return undefined
    states.push(`${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`)
  }
  return states.join(" ")
}
