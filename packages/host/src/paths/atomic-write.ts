import { constants, type Stats } from "node:fs"
import { access, link, lstat, open, rename, unlink } from "node:fs/promises"
import { ToolwrightError } from "@toolwright/toolbox"
import type { WriteJournal } from "./journal.ts"
import { notAFile, printable } from "./path-errors.ts"
import type { Pinned } from "./pin.ts"

export interface WriteOptions {
  /** Refuse when the file exists. */
  exclusive?: boolean
  /** Refuse with `STALE` when the file is no longer the one with this {@link fingerprint}. */
  expected?: string
  /** Flush to the disk before the new content gets its name; costs several times the write itself. */
  durable?: boolean
  /** Permission bits of a new file; 0o666 without the process's mask unless given. An existing file keeps its own. */
  mode?: number
  /** Make the missing directories above it first, where the path rules admit them and the file. */
  makesParents?: boolean
}

/** Identifies a state of a file cheaply: any write, replacement or change of mode gives another one. */
export function fingerprint(stat: Stats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

/**
 * Gives a name in a pinned directory new content, so that at every moment, whoever looks and whatever is killed, it
 * holds the old content or the new one, whole. Mode and owner of an existing file stay; a symbolic link is refused;
 * another name of the same file (a hard link) keeps the old content.
 *
 * @returns the new file's status, and whether the name is new
 * @throws ToolwrightError `IS_SYMLINK`, `NOT_A_FILE`, `ALREADY_EXISTS`, `STALE`; system errors
 */
export async function replaceFile(
  { parent, name, asked }: { parent: Pinned; name: string; asked: string },
  bytes: Uint8Array,
  journal: WriteJournal,
  options: WriteOptions = {},
): Promise<{ stat: Stats; created: boolean }> {
  const target = parent.at(name)
  const existing = await replaceable(target, asked, options)
  await journal.note(parent.real)
  const temporary = parent.at(journal.temporaryName())
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
  const handle = await open(temporary, flags, existing === undefined ? (options.mode ?? 0o666) : 0o600)
  try {
    try {
      await handle.writeFile(bytes)
      if (existing !== undefined) {
        const own = await handle.stat()
        if (own.uid !== existing.uid || own.gid !== existing.gid) {
          await handle.chown(existing.uid, existing.gid).catch(() => undefined)
        }
        await handle.chmod(existing.mode & 0o7777)
      }
      if (options.durable === true) await handle.sync()
    } finally {
      await handle.close()
    }
    await replaceable(target, asked, options)
    if (options.exclusive === true) {
      await link(temporary, target)
      await unlink(temporary)
    } else {
      await rename(temporary, target)
    }
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined)
    throw thrown
  }
  if (options.durable === true) await syncDirectory(parent)
  return { stat: await lstat(target), created: existing === undefined }
}

/** What is there now, when it may be replaced. */
async function replaceable(target: string, asked: string, options: WriteOptions): Promise<Stats | undefined> {
  const stat = await lstat(target).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined
    throw thrown
  })
  if (options.expected !== undefined && (stat === undefined || fingerprint(stat) !== options.expected))
    throw stale(asked)
  if (stat === undefined) return undefined
  if (stat.isSymbolicLink()) {
    throw new ToolwrightError("IS_SYMLINK", `Access denied: ${printable(asked)} is a symbolic link`, {
      hint: "Write to the file it points to, or delete the link first.",
    })
  }
  if (!stat.isFile()) throw notAFile(asked, stat.isDirectory() ? "It is a directory." : undefined)
  if (options.exclusive === true) throw alreadyExists(asked)
  await access(target, constants.W_OK)
  return stat
}

export function stale(asked: string): ToolwrightError {
  return new ToolwrightError("STALE", `The file changed since it was read: ${printable(asked)}`, {
    hint: "Read it again, then repeat the change on what it holds now.",
  })
}

export function alreadyExists(asked: string, hint?: string): ToolwrightError {
  return new ToolwrightError(
    "ALREADY_EXISTS",
    `Already exists: ${printable(asked)}`,
    hint === undefined ? {} : { hint },
  )
}

async function syncDirectory(parent: Pinned): Promise<void> {
  const handle = await parent.reopen().catch(() => undefined)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
