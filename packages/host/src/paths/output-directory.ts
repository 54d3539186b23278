import { readdir, realpath, stat, unlink } from "node:fs/promises"
import { join } from "node:path"
import { ownDirectory } from "./state-directory.ts"

const KEEP_MS = 7 * 24 * 3600 * 1000

/** Makes the directory for long outputs, and removes in it what is older than a week. @returns its real path */
export async function openOutputDirectory(stateDirectory: string): Promise<string> {
  const path = await realpath(await ownDirectory(join(stateDirectory, "outputs")))
  const oldest = Date.now() - KEEP_MS
  for (const name of await readdir(path)) {
    const status = await stat(join(path, name)).catch(() => undefined)
    if (status?.isFile() && status.mtimeMs < oldest) await unlink(join(path, name)).catch(() => undefined)
  }
  return path
}
