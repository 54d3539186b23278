import { closeSync, constants, openSync, readSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { HAS_DESCRIPTOR_PATHS } from "./descriptors.ts"
import type { Pinned } from "./pin.ts"

/** Largest file that is read in one go, in bytes. */
const MOST_BYTES = 64 * 1024

/**
 * File systems on disks and in memory of this machine, by their numbers in Linux (`statfs(2)`): ext2 to ext4, XFS, Btrfs, F2FS, tmpfs,
 * overlay, bcachefs, ZFS. Others may be on a network or in the hands of a process, where a read can take as long as they like.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630, 0xca451a4e, 0x2fc12fc1])

const localDevices = new Map<number, boolean>()

/**
 * Whether a file is small and lies on a file system of this machine: then reading it takes less time than handing the work to another
 * thread three times over, and nothing can make it hang. The file system is looked up once for each device.
 */
export async function isReadAtOnce({ stat, at }: Pinned): Promise<boolean> {
  if (!HAS_DESCRIPTOR_PATHS || stat.size > MOST_BYTES) return false
  const known = localDevices.get(stat.dev)
  if (known !== undefined) return known
  const local = await statfs(at()).then(({ type }) => LOCAL.has(type), () => false)
  localDevices.set(stat.dev, local)
  return local
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
