import { constants } from "node:fs"
import { lstat, open, type FileHandle } from "node:fs/promises"

/**
 * Reads a small file that others may have put there: a regular file only, whose last component is no link, never more
 * than `limit` bytes, and without waiting for whoever may hold the other end of a FIFO.
 *
 * @returns its bytes; undefined when there is nothing of that name
 * @throws Error that says what lies there instead of a readable file
 */
export async function readPlainFile(path: string, limit: number): Promise<Buffer | undefined> {
  const listed = await lstat(path).catch(() => undefined)
  if (listed === undefined) return undefined
  if (!listed.isFile()) throw new Error(`${path} is no regular file`)
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return await readBounded(handle, path, limit)
  } finally {
    await handle.close()
  }
}

async function readBounded(handle: FileHandle, path: string, limit: number): Promise<Buffer> {
  const stat = await handle.stat()
  if (!stat.isFile()) throw new Error(`${path} is no regular file`)
  if (stat.size > limit) throw new Error(`${path} is larger than ${limit} bytes`)
  // One byte more than there should be, so that a file that grows meanwhile is noticed.
  const buffer = Buffer.allocUnsafe(stat.size + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    length += bytesRead
    if (length > stat.size) throw new Error(`${path} changed while it was read`)
    if (bytesRead === 0) return buffer.subarray(0, length)
  }
}
