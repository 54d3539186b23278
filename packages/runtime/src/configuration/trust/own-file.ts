import { lstatSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assertOwnFolder, readStateFile, writeStateFile } from "@toolwright/host/state-files"
import { messageOf, ToolwrightError } from "@toolwright/toolbox/errors"
import { userStateFolder } from "../../workspace/state-folder.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** The folder of what a person said; no workspace reaches it. */
export function trustFolder(env: Environment): string {
  return userStateFolder(env)
}

/**
 * What a file of that folder holds, as JSON; undefined where there is none that counts. What another user could have
 * written counts for nothing.
 */
export function readTrustFile(env: Environment, name: string, limit?: number): unknown {
  const file = join(trustFolder(env), name)
  try {
    const stat = lstatSync(file)
    const uid = process.getuid?.()
    if (uid !== undefined && (stat.uid !== uid || (stat.mode & 0o022) !== 0)) return undefined
    return JSON.parse(readStateFile(file, limit === undefined ? {} : { limit })?.toString("utf8") ?? "")
  } catch {
    return undefined
  }
}

/** Writes one, whole or not at all, for this user alone. @throws ToolwrightError `TRUST_UNWRITABLE` */
export function writeTrustFile(env: Environment, name: string, value: unknown): void {
  const folder = trustFolder(env)
  const file = join(folder, name)
  const temporary = `${file}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    assertOwnFolder(folder)
    writeStateFile(temporary, `${JSON.stringify(value, null, 1)}\n`, { how: "create", mode: 0o600 })
    renameSync(temporary, file)
  } catch (cause) {
    rmSync(temporary, { force: true })
    throw new ToolwrightError("TRUST_UNWRITABLE", `What you said cannot be kept: ${messageOf(cause)}`, {
      cause,
      hint: `Make ${folder} writable for you, or give --trust (TOOLWRIGHT_TRUST=1) with each command.`,
    })
  }
}

export function removeTrustFile(env: Environment, name: string): void {
  rmSync(join(trustFolder(env), name), { force: true })
}
