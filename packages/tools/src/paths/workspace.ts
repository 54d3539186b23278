import { createHash } from "node:crypto"
import type { Dirent, Stats } from "node:fs"
import { lstat, mkdir, readdir, type FileHandle } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { fingerprint, replaceFile, type WriteOptions } from "./atomic-write.ts"
import { createJournal, isTemporaryName } from "./journal.ts"
import { createLocks } from "./lock.ts"
import { printable } from "./path-errors.ts"
import { pin, pinDirectory, pinFile, pinParent } from "./pin.ts"
import { openOutputDirectory } from "./output-directory.ts"
import { createPathPolicy, type Access, type Located, type PathPolicy, type PathPolicyConfig } from "./policy.ts"
import { moveEntry, removeDirectoryTree, removeFileEntry, type Place } from "./remove.ts"
import type { Root } from "./roots.ts"
import { defaultStateDirectory, ownDirectory } from "./state-directory.ts"
import { walk, type WalkEntry, type WalkOptions, type WalkSummary } from "./walk.ts"

export interface WorkspaceConfig extends PathPolicyConfig {
  /** Where the journal of unfinished writes and long outputs lie; a directory of this user's in the system's temporary one unless given. */
  stateDirectory?: string
}

/** Largest file that is read whole or written, in bytes. */
export const FILE_LIMIT_BYTES = 50 * 1024 * 1024

/** An open file, checked; dispose of it. */
export interface OpenedFile extends AsyncDisposable {
  readonly handle: FileHandle
  readonly stat: Stats
  readonly shown: string
}

/** A whole file as it was at one moment. */
export interface FileContent {
  readonly bytes: Buffer
  readonly stat: Stats
  readonly shown: string
  /** First 16 hexadecimal digits of the content's SHA-256: `expected_hash` of a later change. */
  readonly hash: string
}

export interface Written {
  readonly shown: string
  readonly stat: Stats
  readonly created: boolean
  readonly hash: string
}

export interface Listing {
  readonly entries: Dirent[]
  /** By name, for the selected entries that still exist. */
  readonly stats: ReadonlyMap<string, Stats>
  readonly shown: string
}

/**
 * The directories that tools may touch, and every way to touch them. All paths are as users write them: absolute host paths, or
 * relative to the first root. All methods reject with `ToolwrightError` (`ACCESS_DENIED`, `NOT_FOUND`, …) or a system error;
 * `pathFailure` makes either a failed result.
 */
export interface Workspace {
  readonly roots: readonly Root[]
  readonly policy: PathPolicy
  /** The rules that need no look at the disk. */
  locate(path: string, access: Access): Located
  /** The real path on this machine, checked now: for child processes, which can only be given names. */
  realPath(path: string, access: Access): Promise<string>
  /** Opens a regular file for reading; never blocks on FIFOs and devices. */
  open(path: string): Promise<OpenedFile>
  /** Reads a whole file of at most `limit` bytes ({@link FILE_LIMIT_BYTES}). */
  read(path: string, limit?: number): Promise<FileContent>
  /** Creates or replaces a file atomically; the parent must exist. Changes of one file wait for each other. */
  write(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<Written>
  /**
   * Reads, changes and writes a file while no other change of it runs here; a change from outside in between is `STALE`.
   * @param change gets the content and returns the new one, or undefined to leave the file alone
   */
  update(path: string, change: (content: FileContent) => Uint8Array | undefined): Promise<Written | undefined>
  /** Status of what lies at a path, links followed as long as they stay inside. */
  stat(path: string): Promise<{ stat: Stats; shown: string; real: string }>
  /**
   * Entries of a directory, in the file system's order.
   * @param select entries whose own status is wanted too (a link's, not its target's)
   */
  list(path: string, select?: (entries: Dirent[]) => readonly Dirent[]): Promise<Listing>
  /** Visits everything below a directory; see `walk`. `shown` is the start as users know it. */
  walk(
    path: string,
    visit: (entry: WalkEntry, start: { real: string; shown: string }) => "skip" | "stop" | undefined | void,
    options?: WalkOptions,
  ): Promise<WalkSummary & { shown: string }>
  /**
   * Runs a task on a directory that stays the same one while it runs.
   * @param task gets a path for `cwd` of a child process, which reaches the directory whatever happens to its name
   */
  inDirectory<Value>(path: string, task: (cwd: string, real: string) => Promise<Value>, access?: Access): Promise<Value>
  /** Creates a directory and the missing ones above it. */
  makeDirectory(path: string): Promise<{ shown: string; created: boolean }>
  removeFile(path: string): Promise<{ shown: string }>
  /** Removes a directory; with everything in it only when `recursive`. Links in it are removed, not followed. */
  removeDirectory(path: string, recursive: boolean): Promise<{ shown: string; removed: number }>
  /** Renames a file, directory or link itself; the destination must not exist. */
  move(source: string, destination: string): Promise<{ source: string; destination: string }>
  /** Removes temporary files of killed processes; also done before the first change. */
  recover(): Promise<number>
  /** A directory outside all roots for long outputs: the file tools can read there by absolute path, nothing lists or writes it. */
  outputDirectory(): Promise<string>
}

/**
 * @throws ToolwrightError `INVALID_ROOT`
 * @example
 * const workspace = createWorkspace({ roots: [{ path: "/my/project", access: "read-write" }] })
 * const { bytes } = await workspace.read("src/index.ts")
 */
export function createWorkspace(config: WorkspaceConfig): Workspace {
  let stateDirectory: Promise<string> | undefined
  const state = () => (stateDirectory ??= ownDirectory(config.stateDirectory ?? defaultStateDirectory()))
  const hidden: Root[] = []
  const policy = createPathPolicy(config, hidden)
  const journal = createJournal(state)
  const lock = createLocks()
  let recovered: Promise<number> | undefined

  const recover = () =>
    (recovered ??= journal.recover(async (path) => {
      try {
        return await pinDirectory(policy, policy.locate(path, "write"), "write")
      } catch {
        return undefined
      }
    }))

  const place = async (asked: string): Promise<Place> => {
    const located = policy.locate(asked, "write")
    assertNotRoot(policy, located)
    await recover()
    const { parent, name } = await pinParent(policy, located)
    const path = join(parent.real, name)
    try {
      policy.admit(path, "write", asked)
    } catch (thrown) {
      await parent[Symbol.asyncDispose]()
      throw thrown
    }
    return { parent, name, path, asked, [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() }
  }

  const inParent = async <Value>(asked: string, task: (place: Place) => Promise<Value>) => {
    await using there = await place(asked)
    return await lock([there.path], () => task(there))
  }

  const read = async (asked: string, limit: number): Promise<FileContent> => {
    await using file = await openFile(policy, asked)
    const bytes = await readWhole(file.handle, file.stat, limit, asked)
    return { bytes, stat: file.stat, shown: file.shown, hash: hashOf(bytes) }
  }

  const write = async (asked: string, bytes: Uint8Array, options: WriteOptions | undefined): Promise<Written> => {
    assertSize(bytes.byteLength, FILE_LIMIT_BYTES, asked)
    return inParent(asked, async ({ parent, name, path }) => {
      const { stat, created } = await replaceFile(parent, name, bytes, journal, asked, options)
      return { stat, created, shown: policy.show(path), hash: hashOf(bytes) }
    })
  }

  return {
    roots: policy.roots,
    policy,
    recover,
    locate: (path, access) => policy.locate(path, access),
    async realPath(path, access) {
      await using pinned = await pin(policy, policy.locate(path, access), access)
      return pinned.real
    },
    open: (path) => openFile(policy, path),
    read: (path, limit = FILE_LIMIT_BYTES) => read(path, limit),
    write: (path, content, options) =>
      write(path, typeof content === "string" ? Buffer.from(content, "utf8") : content, options),
    update: (asked, change) =>
      inParent(asked, async ({ parent, name, path }) => {
        const content = await read(path, FILE_LIMIT_BYTES).catch((thrown: unknown) => {
          throw renamed(thrown, path, asked)
        })
        const bytes = change(content)
        if (bytes === undefined) return undefined
        assertSize(bytes.byteLength, FILE_LIMIT_BYTES, asked)
        const options = { expected: fingerprint(content.stat) }
        const { stat, created } = await replaceFile(parent, name, bytes, journal, asked, options)
        return { stat, created, shown: policy.show(path), hash: hashOf(bytes) }
      }),
    async stat(asked) {
      await using pinned = await pin(policy, policy.locate(asked, "read"), "read")
      return { stat: pinned.stat, real: pinned.real, shown: policy.show(pinned.real) }
    },
    async list(asked, select) {
      await using directory = await pinDirectory(policy, policy.locate(asked, "read"), "read")
      const all = await readdir(directory.at(), { withFileTypes: true })
      const entries = all.filter((entry) => !isTemporaryName(entry.name))
      const stats = new Map<string, Stats>()
      const wanted = select?.(entries) ?? []
      for (let index = 0; index < wanted.length; index += 32) {
        const names = wanted.slice(index, index + 32).map((entry) => entry.name)
        const found = await Promise.all(names.map((name) => lstat(directory.at(name)).catch(() => undefined)))
        for (const [at, stat] of found.entries()) if (stat !== undefined) stats.set(names[at]!, stat)
      }
      return { entries, stats, shown: policy.show(directory.real) }
    },
    async walk(asked, visit, options) {
      await using start = await pinDirectory(policy, policy.locate(asked, "read"), "read")
      const place = { real: start.real, shown: policy.show(start.real) }
      const summary = await walk(policy, start, (entry) => visit(entry, place), options)
      return { ...summary, shown: place.shown }
    },
    async inDirectory(asked, task, access = "read") {
      await using directory = await pinDirectory(policy, policy.locate(asked, access), access)
      return await task(directory.at(), directory.real)
    },
    async makeDirectory(asked) {
      const located = policy.locate(asked, "write")
      await recover()
      return { created: await makeDirectories(policy, located), shown: located.shown }
    },
    removeFile: (asked) =>
      inParent(asked, async ({ parent, name, path }) => {
        await removeFileEntry(parent, name, asked)
        return { shown: policy.show(path) }
      }),
    removeDirectory: (asked, recursive) =>
      inParent(asked, async ({ parent, name, path }) => {
        assertHoldsNoRoot(policy, path, asked)
        const removed = await removeDirectoryTree(policy, parent, name, asked, recursive)
        return { shown: policy.show(path), removed }
      }),
    async move(source, destination) {
      await using from = await place(source)
      await using to = await place(destination)
      return await lock([from.path, to.path], async () => {
        assertHoldsNoRoot(policy, from.path, source)
        await moveEntry(from, to)
        return { source: policy.show(from.path), destination: policy.show(to.path) }
      })
    },
    async outputDirectory() {
      const real = await openOutputDirectory(await state())
      if (!hidden.some((root) => root.real === real)) hidden.push({ path: real, local: real, real, access: "read-only" })
      return real
    },
  }
}

/** First 16 hexadecimal digits of the SHA-256 of a content. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16)
}

async function openFile(policy: PathPolicy, asked: string): Promise<OpenedFile> {
  await using pinned = await pinFile(policy, policy.locate(asked, "read"), "read")
  const handle = await pinned.reopen()
  return { handle, stat: pinned.stat, shown: policy.show(pinned.real), [Symbol.asyncDispose]: () => handle.close() }
}

/** Reads to the end; the size in the status is not trusted, since a file may grow or lie about it. */
async function readWhole(handle: FileHandle, stat: Stats, limit: number, asked: string): Promise<Buffer> {
  assertSize(stat.size, limit, asked)
  let buffer = Buffer.allocUnsafe(stat.size + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    length += bytesRead
    if (bytesRead === 0) return buffer.subarray(0, length)
    assertSize(length, limit, asked)
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2)
      buffer.copy(larger)
      buffer = larger
    }
  }
}

function assertSize(size: number, limit: number, asked: string): void {
  if (size <= limit) return
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(bytes % (1024 * 1024) === 0 ? 0 : 1)} MB`
  throw new ToolwrightError("FILE_TOO_LARGE", `File too large: ${printable(asked)} is ${megabytes(size)}, the limit is ${megabytes(limit)}`, {
    hint: "Read a part of it with head, tail or start_line and end_line of read_text_file.",
  })
}

function assertNotRoot(policy: PathPolicy, located: Located): void {
  if (!policy.roots.some((root) => root.real === located.path)) return
  throw new ToolwrightError("ACCESS_DENIED", `Access denied: ${printable(located.asked)} is an allowed directory itself`, {
    hint: "Name a file or directory inside it.",
  })
}

function assertHoldsNoRoot(policy: PathPolicy, path: string, asked: string): void {
  if (!policy.roots.some((root) => root.real.startsWith(`${path}/`))) return
  throw new ToolwrightError("ACCESS_DENIED", `Access denied: ${printable(asked)} contains another allowed directory`)
}

async function makeDirectories(policy: PathPolicy, located: Located): Promise<boolean> {
  const missing: string[] = []
  let path = located.path
  while (path !== located.root.real && (await lstat(path).catch(() => undefined)) === undefined) {
    missing.unshift(basename(path))
    path = dirname(path)
  }
  let current = await pinDirectory(policy, { ...located, path }, "write")
  try {
    for (const name of missing) {
      path = join(current.real, name)
      await mkdir(current.at(name)).catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== "EEXIST") throw thrown
      })
      const next = await pinDirectory(policy, { ...located, path }, "write")
      await current[Symbol.asyncDispose]()
      current = next
    }
  } finally {
    await current[Symbol.asyncDispose]()
  }
  return missing.length > 0
}

/** An error about the real path, told about the path that was asked for. */
function renamed(thrown: unknown, real: string, asked: string): unknown {
  if (!ToolwrightError.isInstance(thrown)) return thrown
  const hint = thrown.hint === undefined ? {} : { hint: thrown.hint }
  return new ToolwrightError(thrown.code, thrown.message.replaceAll(real, asked), hint)
}
