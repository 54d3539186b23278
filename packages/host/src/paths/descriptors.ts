import { existsSync } from "node:fs"

const SELF = "/proc/self/fd/"

/**
 * Whether this system tells where an open descriptor really leads (Linux with `/proc` mounted). Where it does not,
 * paths are checked by name, before and after opening.
 */
export const HAS_DESCRIPTOR_PATHS = process.platform === "linux" && existsSync(SELF)

/** A path that leads to an open descriptor's file itself. */
export function descriptorPath(descriptor: number): string {
  return SELF + descriptor
}

/**
 * Linux: a descriptor that only names a file. Opening it has no side effect on devices and never waits for a FIFO's
 * other end.
 */
export const O_PATH = 0o10000000
