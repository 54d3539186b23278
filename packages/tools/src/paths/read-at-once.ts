import { closeSync, constants, openSync, readSync } from "node:fs"
import { HAS_DESCRIPTOR_PATHS } from "./descriptors.ts"
import { isLocal } from "./local-devices.ts"
import type { Pinned } from "./pin.ts"

/** Largest file that is read in one go, in bytes. */
const MOST_BYTES = 64 * 1024

/**
 * Whether a file is small and lies on a file system of this machine: then reading it takes less time than handing the work to another
 * thread three times over, and nothing can make it hang.
 */
export function isReadAtOnce({ stat, at }: Pinned): boolean | Promise<boolean> {
  if (!HAS_DESCRIPTOR_PATHS || stat.size > MOST_BYTES) return false
  return isLocal(stat.dev, at())
}

/** The content of a pinned file as it is now, which may have grown or shrunk since its status was taken. */
export function readAtOnce({ at, stat }: Pinned): Buffer {
  const descriptor = openSync(at(), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const pieces: Buffer[] = []
    for (;;) {
      const piece = Buffer.allocUnsafe(pieces.length === 0 ? stat.size + 1 : MOST_BYTES)
      const length = readSync(descriptor, piece, 0, piece.length, null)
      pieces.push(piece.subarray(0, length))
      if (length < piece.length) return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    }
  } finally {
    closeSync(descriptor)
  }
}
