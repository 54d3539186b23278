import { lstatSync, mkdirSync, realpathSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { assertOwnFolder, readStateFile, writeStateFile } from "@toolwright/host/state-files"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { userStateFolder } from "../../workspace/state-folder.ts"

/** What a person said about a file as it stood. */
export interface TrustEntry {
  /** Absolute path of the file, links resolved. */
  path: string
  /** See `digestOf`. */
  digest: string
  answer: "yes" | "no"
  /** ISO 8601. */
  at: string
}

/** What a person said about configuration files, kept in a folder of their own that no workspace reaches. */
export interface TrustStore {
  /** Where it is kept. */
  readonly file: string
  /** @returns undefined where nothing was said about this content */
  answerFor(path: string, digest: string): TrustEntry["answer"] | undefined
  /** Whether a file was trusted as it stood at some time. */
  knows(path: string): boolean
  /** @throws ToolwrightError `TRUST_UNWRITABLE` */
  remember(path: string, digest: string, answer: TrustEntry["answer"]): void
  /** Newest first. */
  list(): TrustEntry[]
  /** Forgets everything about a file, or about the files in a folder. @returns how many answers were forgotten */
  revoke(path: string): number
}

/**
 * Protected from tools by this name, wherever a workspace's root is: see `DEFAULT_DENY_WRITE`.
 */
const FILE_NAME = "toolwright-trust.json"
/** Contents of one file that are remembered: going back and forth between branches asks nothing again. */
const MOST_OF_ONE = 20
const MOST = 2000

/** The answers of the user to whom this environment belongs. Nothing is created before something is remembered. */
export function trustStore(env: Readonly<Record<string, string | undefined>>, now = () => new Date()): TrustStore {
  const folder = userStateFolder(env)
  const file = join(folder, FILE_NAME)
  const entries = (): TrustEntry[] => readEntries(file)
  const write = (list: readonly TrustEntry[]): void => {
    const temporary = `${file}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      assertOwnFolder(folder)
      writeStateFile(temporary, `${JSON.stringify({ version: 1, files: list }, null, 2)}\n`, {
        how: "create",
        mode: 0o600,
      })
      renameSync(temporary, file)
    } catch (cause) {
      rmSync(temporary, { force: true })
      throw new ToolwrightError("TRUST_UNWRITABLE", `What you said cannot be kept: ${messageOf(cause)}`, {
        cause,
        hint: `Make ${folder} writable for you, or give --trust (TOOLWRIGHT_TRUST=1) with each command.`,
      })
    }
  }
  return {
    file,
    answerFor: (path, digest) =>
      entries().find((entry) => entry.path === realPath(path) && entry.digest === digest)?.answer,
    knows: (path) => entries().some((entry) => entry.path === realPath(path) && entry.answer === "yes"),
    remember(path, digest, answer) {
      const own = realPath(path)
      const others = entries().filter((entry) => entry.path !== own || entry.digest !== digest)
      const same = others.filter((entry) => entry.path === own).slice(0, MOST_OF_ONE - 1)
      const kept = others.filter((entry) => entry.path !== own || same.includes(entry))
      write([{ path: own, digest, answer, at: now().toISOString() }, ...kept].slice(0, MOST))
    },
    list: entries,
    revoke(path) {
      const own = realPath(path)
      const all = entries()
      const kept = all.filter((entry) => entry.path !== own && dirname(entry.path) !== own)
      if (kept.length < all.length) write(kept)
      return all.length - kept.length
    },
  }
}

/** What another user could have written counts for nothing. */
function readEntries(file: string): TrustEntry[] {
  try {
    const stat = lstatSync(file)
    const uid = process.getuid?.()
    if (uid !== undefined && (stat.uid !== uid || (stat.mode & 0o022) !== 0)) return []
    const { files } = JSON.parse(readStateFile(file)?.toString("utf8") ?? "") as { files: unknown }
    return Array.isArray(files) ? files.filter(isEntry) : []
  } catch {
    return []
  }
}

function isEntry(value: unknown): value is TrustEntry {
  const { path, digest, answer, at } = (value ?? {}) as Partial<TrustEntry>
  return [path, digest, at].every((text) => typeof text === "string") && (answer === "yes" || answer === "no")
}

/** The file's own path, also of one that is gone. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
