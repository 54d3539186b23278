import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
  type Stats,
} from "node:fs"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox/errors"

/** Largest configuration, manifest or head of a record that is read, in bytes. */
export const STATE_FILE_LIMIT_BYTES = 1024 * 1024

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND, O_EXCL } = constants
/** Absent on Windows, where the names of links and pipes have no such power. */
const O_NONBLOCK = constants.O_NONBLOCK ?? 0
const NOT_FOLLOWED = (constants.O_NOFOLLOW ?? 0) | O_NONBLOCK

/** How {@link readStateFile} reads. */
export interface StateReadOptions {
  /** Most bytes that are read; {@link STATE_FILE_LIMIT_BYTES} unless given. */
  limit?: number
  /** Whether a link in its place may lead to another regular file: where the user named it, not a folder. */
  follow?: boolean
}

/**
 * Reads a file that stands in a folder from elsewhere under a name that we look for, such as a configuration, a
 * manifest or a record. What stands there may be anything: a link to a device without end, a pipe that nobody writes
 * to, a disk full of blanks. Links are not followed, nothing is waited for, and no more than the limit is read.
 *
 * @returns undefined where there is no such file
 * @throws ToolwrightError `UNSAFE_FILE` for what is no regular file or too large; system errors otherwise
 */
export function readStateFile(path: string, options: StateReadOptions = {}): Buffer | undefined {
  const { limit = STATE_FILE_LIMIT_BYTES, follow = false } = options
  const descriptor = opened(path, O_RDONLY | (follow ? O_NONBLOCK : NOT_FOLLOWED))
  if (descriptor === undefined) return undefined
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw notPlain(path, stat)
    if (stat.size > limit) throw tooLarge(path, limit)
    // A file may grow while it is read, and those that the kernel makes up have no size at all.
    const buffer = Buffer.allocUnsafe(Math.min(limit, Math.max(stat.size, 4096)) + 1)
    const pieces: Buffer[] = []
    for (let length = 0; ;) {
      const read = readSync(descriptor, buffer, 0, buffer.length, null)
      if (read === 0) return Buffer.concat(pieces)
      length += read
      if (length > limit) throw tooLarge(path, limit)
      pieces.push(Buffer.from(buffer.subarray(0, read)))
    }
  } finally {
    closeSync(descriptor)
  }
}

/** {@link readStateFile}, as UTF-8 text; undefined also where it cannot be read at all. */
export function stateTextOf(path: string, options?: StateReadOptions): string | undefined {
  try {
    return readStateFile(path, options)?.toString("utf8")
  } catch {
    return undefined
  }
}

/**
 * For a file that a library opens by its name, such as a database: what stands there must be a plain file, or nothing.
 *
 * @throws ToolwrightError `UNSAFE_FILE`
 */
export function assertStateFile(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.isSymbolicLink()) throw unsafe(path, "it is a link, which is not followed")
  if (!stat.isFile()) throw notPlain(path, stat)
  if (stat.nlink > 1) throw unsafe(path, "it has a second name elsewhere")
}

/** How {@link writeStateFile} writes. */
export interface StateWriteOptions {
  /** `replace` unless given; `create` fails with `EEXIST` where something stands already. */
  how?: "replace" | "append" | "create"
  /** Permissions of the file, also where it was there before. */
  mode?: number
}

/**
 * Writes a file of our own into a folder that others may have prepared: links there lead nowhere, and a file that has
 * a second name elsewhere is left alone.
 *
 * @throws ToolwrightError `UNSAFE_FILE`; system errors otherwise
 */
export function writeStateFile(path: string, text: string, { how = "replace", mode }: StateWriteOptions = {}): void {
  const flags = O_WRONLY | O_CREAT | NOT_FOLLOWED | (how === "append" ? O_APPEND : how === "create" ? O_EXCL : 0)
  const descriptor = opened(path, flags, mode)!
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw notPlain(path, stat)
    if (stat.nlink > 1) throw unsafe(path, "it has a second name elsewhere")
    if (mode !== undefined && (stat.mode & 0o777) !== mode) fchmodSync(descriptor, mode)
    if (how === "replace") ftruncateSync(descriptor, 0)
    const bytes = Buffer.from(text, "utf8")
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Makes a folder for state and those above it, from a folder that is given: each must be a real directory of this
 * user's (or the administrator's), since a link committed to a repository would lead what is written elsewhere.
 *
 * @returns the path of the last one
 * @throws ToolwrightError `UNSAFE_FOLDER`; system errors where one cannot be made
 */
export function makeStateFolder(base: string, ...names: readonly string[]): string {
  let folder = base
  for (const name of names) {
    folder = join(folder, name)
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) mkdirQuietly(folder)
    assertOwnFolder(folder)
  }
  return folder
}

/** Whether a folder is a real directory of this user's; one that is not there is none. */
export function isOwnFolder(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && reasonAgainst(stat) === undefined
}

/** @throws ToolwrightError `UNSAFE_FOLDER` */
export function assertOwnFolder(folder: string): void {
  const reason = reasonAgainst(lstatSync(folder))
  if (reason === undefined) return
  throw new ToolwrightError("UNSAFE_FOLDER", `${folder} is not used: ${reason}.`, {
    hint: `State is kept in a real directory of yours. Look at what stands there, and remove it if you do not know it.`,
  })
}

function reasonAgainst(stat: Stats): string | undefined {
  if (stat.isSymbolicLink()) return "it is a link, which leads elsewhere"
  if (!stat.isDirectory()) return "it is no directory"
  const uid = process.getuid?.()
  return uid === undefined || stat.uid === uid || stat.uid === 0 || uid === 0 ? undefined : "it belongs to another user"
}

function mkdirQuietly(folder: string): void {
  try {
    mkdirSync(folder)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown
  }
}

/** @returns undefined where something is to be read that is not there */
function opened(path: string, flags: number, mode = 0o666): number | undefined {
  try {
    return openSync(path, flags, mode)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if ((code === "ENOENT" || code === "ENOTDIR") && (flags & O_CREAT) === 0) return undefined
    if (code === "ELOOP" || code === "EMLINK") throw unsafe(path, "it is a link, which is not followed", thrown)
    // A pipe that nobody reads, opened for writing; a socket.
    if (code === "ENXIO" || code === "EISDIR") throw unsafe(path, "it is no regular file", thrown)
    throw thrown
  }
}

function notPlain(path: string, stat: Stats): ToolwrightError {
  const kind = stat.isFIFO() ? "a pipe" : stat.isDirectory() ? "a directory" : "no regular file"
  return unsafe(path, `it is ${kind}`)
}

function tooLarge(path: string, limit: number): ToolwrightError {
  return unsafe(path, `it is larger than ${limit} bytes`)
}

function unsafe(path: string, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError("UNSAFE_FILE", `${path} is not used: ${reason}.`, {
    ...(cause === undefined ? {} : { cause }),
    hint: "Look at what stands there, and put a plain file in its place or remove it.",
  })
}
