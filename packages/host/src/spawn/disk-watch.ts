import { statfs } from "node:fs/promises"

/** What a program may take of the file system in which a folder lies. */
export interface DiskBound {
  readonly folder: string
  /** Most files and folders, by what is left of the file system's own count. */
  readonly files: number
  readonly megabytes: number
}

/** A program makes some tens of thousands of files in this time. */
const EVERY_MS = 100
/** Of what is left, whatever the bound: a disk that is nearly full stays usable. */
const MOST_OF_FREE = 0.9
const MEGABYTE = 1024 * 1024

/**
 * Calls back once when a file system has lost more files or space than the bound since now. Others who write to it
 * meanwhile count too: what it has lost is all that it says. File systems that count no files have only their space
 * watched.
 *
 * @returns ends the watch
 */
export function watchDisk({ folder, files, megabytes }: DiskBound, onPassed: () => void): () => void {
  let over = false
  let timer: NodeJS.Timeout | undefined
  let first: { files: number; bytes: number } | undefined
  const look = async (): Promise<void> => {
    const left = await leftIn(folder)
    if (over) return
    first ??= left
    if (first !== undefined && left !== undefined) {
      const most = {
        files: Math.min(files, first.files * MOST_OF_FREE),
        bytes: Math.min(megabytes * MEGABYTE, first.bytes * MOST_OF_FREE),
      }
      if (first.files - left.files > most.files || first.bytes - left.bytes > most.bytes) {
        over = true
        return onPassed()
      }
    }
    timer = setTimeout(() => void look(), EVERY_MS)
  }
  void look()
  return () => {
    over = true
    clearTimeout(timer)
  }
}

async function leftIn(folder: string): Promise<{ files: number; bytes: number } | undefined> {
  try {
    const { ffree, bavail, bsize } = await statfs(folder)
    return { files: ffree, bytes: bavail * bsize }
  } catch {
    return undefined
  }
}
