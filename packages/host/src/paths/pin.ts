import { closeSync, constants, fstatSync, open as openDescriptor, openSync, readlinkSync, type Stats } from "node:fs"
import { lstat, open, readdir, realpath, type FileHandle } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { nearest, ToolwrightError } from "@toolwright/toolbox"
import { visibleName } from "../text/escapes.ts"
import { descriptorPath, HAS_DESCRIPTOR_PATHS, O_PATH } from "./descriptors.ts"
import {
  directoryNotFound,
  fileNotFound,
  invalidPath,
  notADirectory,
  notAFile,
  outsideRoots,
  printable,
  systemCode,
} from "./path-errors.ts"
import { accessDenied, type Access, type Located, type PathPolicy } from "./policy.ts"
import { isWarm, keepWarm } from "./local-devices.ts"

/**
 * A file or directory that was opened first and checked afterwards, on the descriptor: whatever happens to the names in
 * the meantime, every later operation is about the very thing that passed the check. Dispose of it.
 */
export interface Pinned extends AsyncDisposable {
  /** Where it really lies, symbolic links resolved. */
  readonly real: string
  readonly located: Located
  readonly stat: Stats
  /**
   * A path that leads to the pinned thing itself, or to a name in the pinned directory, without looking up its parents
   * again.
   */
  at(name?: string): string
  /** Opens the pinned file's content. Never blocks, whatever it is. */
  reopen(flags?: number): Promise<FileHandle>
}

/**
 * Opens whatever lies at a path and checks where that really is.
 *
 * On Linux the check reads `/proc/self/fd/<n>` of the opened descriptor, so no rename or link swapped in between
 * matters.
 * Elsewhere there is no such view: the real path is resolved before and after opening, and both must be the file that
 * was opened.
 * A racing attacker with write access to the workspace has a small window there.
 *
 * @throws ToolwrightError `ACCESS_DENIED` when it lies outside, `NOT_FOUND` when there is nothing; system errors
 *   otherwise
 */
export async function pin(policy: PathPolicy, located: Located, access: Access): Promise<Pinned> {
  try {
    return HAS_DESCRIPTOR_PATHS
      ? await pinByDescriptor(policy, located, access)
      : await pinByName(policy, located, access)
  } catch (thrown) {
    const code = systemCode(thrown)
    if (code === undefined) throw thrown
    await assertAncestorInside(policy, located, access)
    if (code === "ENOENT") throw fileNotFound(located.asked, await suggestion(policy, located))
    if (code === "ENOTDIR") throw notADirectory(located.asked, "A part of the path is a file.")
    if (code === "ELOOP") throw invalidPath(located.asked, "its symbolic links form a loop")
    throw thrown
  }
}

const openOnly = promisify(openDescriptor)

async function pinByDescriptor(policy: PathPolicy, located: Located, access: Access): Promise<Pinned> {
  const descriptor = isWarm(located.path) ? openSync(located.path, O_PATH) : await openOnly(located.path, O_PATH)
  let isOpen = true
  const close = (): void => {
    if (isOpen) closeSync(descriptor)
    isOpen = false
  }
  try {
    const self = descriptorPath(descriptor)
    // Of an open descriptor the kernel knows both by heart: no disk is asked, and a trip to the thread pool would cost
    // far more.
    // The same holds for closing one that only names a file.
    const [real, stat] = [readlinkSync(self), fstatSync(descriptor)]
    if (real === located.path) keepWarm(real, stat.dev)
    return {
      real,
      stat,
      located: policy.admit(real, access, located.asked),
      at: (name) => (name === undefined ? self : `${self}/${name}`),
      reopen: (flags = constants.O_RDONLY) => open(self, flags | constants.O_NONBLOCK),
      [Symbol.asyncDispose]: async () => close(),
    }
  } catch (thrown) {
    close()
    throw thrown
  }
}

/** The check by names, for systems without a view of descriptors' paths. */
export async function pinByName(policy: PathPolicy, located: Located, access: Access): Promise<Pinned> {
  const real = await realpath(located.path)
  const admitted = policy.admit(real, access, located.asked)
  const stat = await lstat(real)
  const unchanged = async () => {
    const now = await lstat(await realpath(located.path))
    if (now.dev !== stat.dev || now.ino !== stat.ino) throw outsideRoots(located.asked, policy.roots)
  }
  await unchanged()
  return {
    real,
    stat,
    located: admitted,
    at: (name) => (name === undefined ? real : join(real, name)),
    async reopen(flags = constants.O_RDONLY) {
      const handle = await open(real, flags | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
      try {
        const opened = await handle.stat()
        if (opened.dev !== stat.dev || opened.ino !== stat.ino) throw outsideRoots(located.asked, policy.roots)
        await unchanged()
        return handle
      } catch (thrown) {
        await handle.close()
        throw thrown
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/**
 * A missing file below a link that leads outside gets the answer for outside paths, or names could be probed through
 * it.
 */
async function assertAncestorInside(policy: PathPolicy, located: Located, access: Access): Promise<void> {
  for (let path = dirname(located.path); path.length >= located.root.real.length; path = dirname(path)) {
    const real = await realpath(path).catch(() => undefined)
    if (real !== undefined) {
      policy.admit(real, access, located.asked)
      return
    }
    if (path === dirname(path)) return
  }
}

const MOST_NAMES_COMPARED = 5000

/** Names beside the missing one that it may have meant; what may not be read is not named. */
async function suggestion(policy: PathPolicy, located: Located): Promise<string | undefined> {
  try {
    await using parent = await pinDirectory(policy, { ...located, path: dirname(located.path) }, "read")
    const entries = await readdir(parent.at())
    // It is there, and still nothing was found.
    if (entries.includes(basename(located.path)))
      return basename(located.path).includes("\uFFFD")
        ? "Its name holds bytes that are no UTF-8, and tools open no such file: give it another name first."
        : "It is a symbolic link to something that does not exist."
    const names = entries.slice(0, MOST_NAMES_COMPARED).filter(policy.readableIn(parent.real))
    const near = nearest(basename(located.path), names)
    if (near.length === 0) return undefined
    const directory = located.asked.slice(0, located.asked.length - basename(located.asked).length)
    return `Did you mean ${near.map((name) => visibleName(directory + name)).join(", ")}?`
  } catch {
    return undefined
  }
}

/** {@link pin}, for a regular file. */
export async function pinFile(policy: PathPolicy, located: Located, access: Access): Promise<Pinned> {
  const pinned = await pin(policy, located, access)
  if (pinned.stat.isFile()) {
    if (pinned.stat.nlink < 2 || !(await policy.denied.holds(pinned.stat))) return pinned
    await pinned[Symbol.asyncDispose]()
    throw accessDenied(located.asked, "another name of the same file", access)
  }
  await pinned[Symbol.asyncDispose]()
  throw notAFile(
    located.asked,
    ...(pinned.stat.isDirectory() ? (["It is a directory.", "list a directory"] as const) : []),
  )
}

/** {@link pin}, for a directory. */
export async function pinDirectory(policy: PathPolicy, located: Located, access: Access): Promise<Pinned> {
  const pinned = await pin(policy, located, access).catch((thrown: unknown) => {
    const missing = ToolwrightError.isInstance(thrown) && thrown.code === "NOT_FOUND"
    throw missing ? directoryNotFound(located.asked, thrown.hint) : thrown
  })
  if (pinned.stat.isDirectory()) return pinned
  await pinned[Symbol.asyncDispose]()
  throw notADirectory(located.asked, ...(pinned.stat.isFile() ? (["It is a file.", "read a file"] as const) : []))
}

/**
 * A directory below a pinned one, opened by its name in there, links not followed: its path may be longer than a path
 * can be.
 */
export interface PinnedChild extends AsyncDisposable {
  at(name?: string): string
}

/** @throws a system error (`ENOTDIR`, `ELOOP`) when the name is no directory */
export async function pinChild(parent: PinnedChild, name: string): Promise<PinnedChild> {
  const path = parent.at(name)
  if (!HAS_DESCRIPTOR_PATHS) {
    if (!(await lstat(path)).isDirectory()) throw notADirectory(name)
    return {
      at: (below) => (below === undefined ? path : join(path, below)),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  }
  const handle = await open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const self = descriptorPath(handle.fd)
  return {
    at: (below) => (below === undefined ? self : `${self}/${below}`),
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/**
 * Pins the directory in which a name is about to be created, replaced or removed.
 * @returns the directory, and the name in it
 * @throws ToolwrightError `PARENT_NOT_FOUND`, `PARENT_NOT_A_DIRECTORY`, and those of {@link pin}
 */
export async function pinParent(policy: PathPolicy, located: Located): Promise<{ parent: Pinned; name: string }> {
  const path = dirname(located.path)
  const name = basename(located.path)
  const parent = await pin(policy, { ...located, path }, "write").catch((thrown: unknown) => {
    const code = ToolwrightError.isInstance(thrown) ? thrown.code : undefined
    if (code === "NOT_FOUND") throw parentError(policy, path, "PARENT_NOT_FOUND", "Parent directory does not exist")
    if (code === "NOT_A_DIRECTORY")
      throw parentError(policy, path, "PARENT_NOT_A_DIRECTORY", "Parent is not a directory")
    throw thrown
  })
  if (parent.stat.isDirectory()) return { parent, name }
  await parent[Symbol.asyncDispose]()
  throw parentError(policy, path, "PARENT_NOT_A_DIRECTORY", "Parent is not a directory")
}

function parentError(policy: PathPolicy, path: string, code: string, message: string): ToolwrightError {
  const shown = printable(policy.show(path))
  return new ToolwrightError(
    code,
    `${message}: ${shown}`,
    code === "PARENT_NOT_FOUND"
      ? { hint: "Make it first.", next: { does: "make a directory", arguments: { path: shown } } }
      : { hint: "Choose a path below a directory." },
  )
}
