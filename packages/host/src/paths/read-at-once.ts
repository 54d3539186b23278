import { closeSync, constants, openSync, readSync } from "node:fs"
import { HAS_DESCRIPTOR_PATHS } from "./descriptors.ts"
import { isLocal } from "./local-devices.ts"
import type { Pinned } from "./pin.ts"

/** Largest file that is read in one go, in bytes. */
const MOST_BYTES = 64 * 1024

/**
 * Whether a file is small and lies on a file system of this machine: then reading it takes less time than handing the
 * work to another thread three times over, and nothing can make it hang.
 */
export function isReadAtOnce({ stat, at }: Pinned): boolean | Promise<boolean> {
  if (!HAS_DESCRIPTOR_PATHS || stat.size > MOST_BYTES) return false
  return isLocal(stat.dev, at())
}

/** The content of a pinned file; undefined when it has grown since its status was taken, and so may go on growing. */
export function readAtOnce({ at, stat }: Pinned): Buffer | undefined {
  const descriptor = openSync(at(), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const buffer = Buffer.allocUnsafe(stat.size + 1)
    const length = readSync(descriptor, buffer, 0, buffer.length, 0)
    return length > stat.size ? undefined : buffer.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}
