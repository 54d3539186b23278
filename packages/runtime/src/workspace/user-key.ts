import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { assertOwnFolder, stateTextOf, writeStateFile } from "@toolwright/host/state-files"
import { userStateFolder } from "./state-folder.ts"

const BYTES = 32

// node:crypto is loaded where it is used: that takes a fifth as long as Node's own start.

/**
 * Marks what a workspace holds as this user's, and as of this workspace. Without a key, where the user has no folder
 * for one, everything counts as theirs.
 */
export function ownerOf(root: string, env: Readonly<Record<string, string | undefined>>): (id: string) => string {
  return (id) => {
    const key = userKey(env)
    if (key === undefined) return "nobody's"
    return process
      .getBuiltinModule("node:crypto")
      .createHmac("sha256", key)
      .update(JSON.stringify(["database", resolve(root), id]))
      .digest("hex")
  }
}

/**
 * A key of this user on this machine, by which what they wrote is told from what came with a folder. Made at its first
 * use.
 *
 * @returns undefined where it can be neither read nor kept
 */
export function userKey(env: Readonly<Record<string, string | undefined>>): Buffer | undefined {
  const folder = userStateFolder(env)
  // By this name no tool reads it, wherever a workspace's root is: see `DEFAULT_DENY_READ`.
  const file = join(folder, "toolwright.key")
  try {
    const known = keyIn(file)
    if (known !== undefined) return known
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    assertOwnFolder(folder)
    try {
      const { randomBytes } = process.getBuiltinModule("node:crypto")
      writeStateFile(file, randomBytes(BYTES).toString("base64url"), { how: "create", mode: 0o600 })
    } catch {
      // Another process has made it meanwhile.
    }
    return keyIn(file)
  } catch {
    return undefined
  }
}

function keyIn(file: string): Buffer | undefined {
  const key = Buffer.from(stateTextOf(file, { limit: 4 * BYTES }) ?? "", "base64url")
  return key.length === BYTES ? key : undefined
}
