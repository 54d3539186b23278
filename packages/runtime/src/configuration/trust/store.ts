import { realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import { readTrustFile, trustFolder, writeTrustFile } from "./own-file.ts"

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
  const entries = (): TrustEntry[] => readEntries(env)
  const write = (list: readonly TrustEntry[]): void => writeTrustFile(env, FILE_NAME, { version: 1, files: list })
  return {
    file: join(trustFolder(env), FILE_NAME),
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

function readEntries(env: Readonly<Record<string, string | undefined>>): TrustEntry[] {
  const { files } = (readTrustFile(env, FILE_NAME) ?? {}) as { files?: unknown }
  return Array.isArray(files) ? files.filter(isEntry) : []
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
