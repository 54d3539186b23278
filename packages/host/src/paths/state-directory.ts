import { lstat, mkdir, mkdtemp } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"

/** Where temporary state lies unless configured: a directory of this user's own. */
export function defaultStateDirectory(): string {
  return join(tmpdir(), `toolwright-${process.getuid?.() ?? userInfo().username}`)
}

/**
 * Makes a state directory that only this user can write to. When somebody else owns the place, a fresh one is made
 * beside it.
 * @returns the directory to use
 */
export async function ownDirectory(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const stat = await lstat(path)
  const uid = process.getuid?.()
  const own =
    stat.isDirectory() && (uid === undefined || stat.uid === uid) && (uid === undefined || (stat.mode & 0o022) === 0)
  return own ? path : mkdtemp(`${path}-`)
}
