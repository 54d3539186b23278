import { statfs } from "node:fs/promises"
import { dirname } from "node:path"

/**
 * File systems on disks and in memory of this machine, by their numbers in Linux (`statfs(2)`): ext2 to ext4, XFS,
 * Btrfs, F2FS, tmpfs, overlay, bcachefs, ZFS. Others may be on a network or in the hands of a process, where an
 * operation can take as long as they like.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630, 0xca451a4e, 0x2fc12fc1])

const localDevices = new Map<number, boolean>()

/** Whether a device's file system is one of this machine; looked up once for each. */
export function isLocal(device: number, path: string): boolean | Promise<boolean> {
  return localDevices.get(device) ?? lookUp(device, path)
}

async function lookUp(device: number, path: string): Promise<boolean> {
  const local = await statfs(path).then(
    ({ type }) => LOCAL.has(type),
    () => false,
  )
  localDevices.set(device, local)
  return local
}

/** How long a directory counts as one in which opening cannot hang, in milliseconds, and how many do. */
const WARM_MS = 1000
const MOST_WARM = 500

const warmUntil = new Map<string, number>()

/**
 * Whether something in the same directory was opened a moment ago, with no link on the way and on a local file system.
 * To open another thing there takes less time than to hand the work to another thread. It says nothing about who may
 * read what.
 */
export function isWarm(path: string): boolean {
  const until = warmUntil.get(dirname(path))
  return until !== undefined && until > performance.now()
}

export function keepWarm(path: string, device: number): void {
  if (localDevices.get(device) !== true) return
  if (warmUntil.size >= MOST_WARM) warmUntil.clear()
  warmUntil.set(dirname(path), performance.now() + WARM_MS)
}
