import { createHash, randomBytes } from "node:crypto"
import { lstatSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { constants, deflateRawSync, inflateRawSync } from "node:zlib"
import { makeStateFolder, readStateFile } from "../paths/state-files.ts"

/** Contents by their SHA-256, each kept once, deflated. */
export interface ContentStore {
  /** Keeps a content. @returns its hash */
  put(bytes: Uint8Array): string
  has(hash: string): boolean
  /** Undefined where it is not there, or no longer what its name says. */
  get(hash: string): Buffer | undefined
  /** Removes what is older than a moment (milliseconds since 1970) and not wanted. @returns how many bytes are left */
  prune(wanted: ReadonlySet<string>, olderThan: number): number
}

/** The hash of a content. */
export function hashOfBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

const LARGEST = 64 * 1024 * 1024
/** A content that is asked for again is as good as new: whoever prunes meanwhile must not take it. */
const REFRESH_MS = 10 * 60 * 1000

/** @param folder the folder of the history; made when something is kept */
export function createContentStore(folder: () => string): ContentStore {
  const place = (hash: string): string => join(folder(), "objects", hash.slice(0, 2), hash.slice(2))
  const refreshed = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return false
    if (Date.now() - stat.mtimeMs > REFRESH_MS) utimesSync(path, new Date(), new Date())
    return true
  }
  return {
    put(bytes) {
      const hash = hashOfBytes(bytes)
      const path = place(hash)
      if (refreshed(path)) return hash
      const parent = makeStateFolder(folder(), "objects", hash.slice(0, 2))
      const temporary = join(parent, `.new-${randomBytes(6).toString("hex")}`)
      writeFileSync(temporary, deflateRawSync(bytes, { level: constants.Z_BEST_SPEED }), { flag: "wx", mode: 0o600 })
      renameSync(temporary, path)
      return hash
    },
    has: (hash) => hash !== "" && refreshed(place(hash)),
    get(hash) {
      const kept = hash === "" ? undefined : readStateFile(place(hash), { limit: LARGEST })
      const bytes = kept === undefined ? undefined : inflated(kept)
      return bytes !== undefined && hashOfBytes(bytes) === hash ? bytes : undefined
    },
    prune(wanted, olderThan) {
      let left = 0
      const objects = join(folder(), "objects")
      for (const group of namesIn(objects)) {
        for (const name of namesIn(join(objects, group))) {
          const path = join(objects, group, name)
          const stat = lstatSync(path, { throwIfNoEntry: false })
          if (stat === undefined) continue
          if (wanted.has(group + name) || stat.mtimeMs > olderThan) left += stat.size
          else rmSync(path, { force: true })
        }
      }
      return left
    },
  }
}

function inflated(kept: Buffer): Buffer | undefined {
  try {
    return inflateRawSync(kept, { maxOutputLength: LARGEST })
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
