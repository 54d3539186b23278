import { lstat, readdir, rm } from "node:fs/promises"
import { join } from "node:path"

/** Commands that lock a repository while they run. */
const LOCKING = new Set(["add", "branch", "checkout", "commit"])

/**
 * Takes away the locks of a git that was killed: nobody could stage or commit there any more, and git itself, which
 * takes its locks away, had no time to. One that lay there before is somebody else's.
 *
 * @param folders of the repository, where its locks lie
 * @param run runs the commands, and tells whether they were killed
 */
export async function withoutItsLocks<Outcome>(
  { commands, folders }: { readonly commands: readonly string[]; readonly folders: readonly string[] },
  run: () => Promise<Outcome>,
  wasKilled: (outcome: Outcome) => boolean,
): Promise<Outcome> {
  if (!commands.some((command) => LOCKING.has(command))) return run()
  const before = new Set(await locksIn(folders))
  const outcome = await run()
  if (!wasKilled(outcome)) return outcome
  for (const lock of await locksIn(folders)) if (!before.has(lock)) await rm(lock, { force: true })
  return outcome
}

async function locksIn(folders: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const folder of new Set(folders)) {
    const names = await readdir(folder).catch(() => [])
    for (const name of names.filter((each) => each.endsWith(".lock"))) {
      const lock = join(folder, name)
      if ((await lstat(lock).catch(() => undefined))?.isFile() === true) found.push(lock)
    }
  }
  return found
}
