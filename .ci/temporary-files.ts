import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Names the folder for temporary files of this run, once it is there. */
const MADE = "TEMPORARY_FILES_OF_TESTS"

/**
 * One folder for the temporary files of a whole run: what a test leaves, or one that was killed, is gone with it.
 *
 * Without a journal, ext4 passes over each file that was removed within the last minutes whenever it makes another one
 * near it, and tests make and remove hundreds of thousands. Below a folder with the attribute `T` each folder is laid
 * out apart from the others, so that few have been removed near any of them.
 *
 * @returns what takes it away once everything has run
 */
export default function makeTemporaryFiles(): (() => Promise<void>) | undefined {
  if (process.env[MADE] !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), "toolwright-tests-"))
  // A server of a database runs as a user of its own.
  chmodSync(folder, 0o711)
  // Another file system, or a machine without it, does without.
  spawnSync("chattr", ["+T", folder], { stdio: "ignore" })
  for (const name of [MADE, process.platform === "win32" ? "TEMP" : "TMPDIR"]) process.env[name] = folder
  return () => removed(folder)
}

/** Removes a folder in which programs that end just now may still write. */
async function removed(folder: string): Promise<void> {
  for (let attempts = 50; ; attempts--)
    try {
      return await rm(folder, { recursive: true, force: true })
    } catch (error) {
      if (attempts === 0) throw error
      await sleep(100)
    }
}
