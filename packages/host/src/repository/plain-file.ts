import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { lookAt } from "../look.ts"

/**
 * Reads a small file that others may have put there: a regular file only, whose last component is no link, never more
 * than `limit` bytes, and without waiting for whoever may hold the other end of a FIFO.
 *
 * @returns its bytes; undefined when there is nothing of that name
 * @throws Error that says what lies there instead of a readable file
 */
export function readPlainFile(path: string, limit: number): Buffer | undefined {
  const listed = lookAt(path)
  if (listed === undefined) return undefined
  if (!listed.isFile()) throw new Error(`${path} is no regular file`)
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return readBounded(descriptor, path, limit)
  } finally {
    closeSync(descriptor)
  }
}

/** The same where it makes no difference why there is nothing to read. */
export function plainFileOrNothing(path: string, limit: number): Buffer | undefined {
  try {
    return readPlainFile(path, limit)
  } catch {
    return undefined
  }
}

function readBounded(descriptor: number, path: string, limit: number): Buffer {
  const stat = fstatSync(descriptor)
  if (!stat.isFile()) throw new Error(`${path} is no regular file`)
  if (stat.size > limit) throw new Error(`${path} is larger than ${limit} bytes`)
  // One byte more than there should be, so that a file that grows meanwhile is noticed.
  const buffer = Buffer.allocUnsafe(stat.size + 1)
  let length = 0
  for (;;) {
    const bytesRead = readSync(descriptor, buffer, length, buffer.length - length, length)
    length += bytesRead
    if (length > stat.size) throw new Error(`${path} changed while it was read`)
    if (bytesRead === 0) return buffer.subarray(0, length)
  }
}
