import type { Stats } from "node:fs"
import { lstat, readdir, rename, rmdir, unlink } from "node:fs/promises"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { alreadyExists } from "./atomic-write.ts"
import { directoryNotFound, fileNotFound, notADirectory, notAFile, printable } from "./path-errors.ts"
import { pinDirectory, type Pinned } from "./pin.ts"
import type { PathPolicy } from "./policy.ts"
import { isInside } from "./roots.ts"

/** Unlinks a file, or a symbolic link itself. @throws ToolwrightError `NOT_FOUND`, `NOT_A_FILE` */
export async function removeFileEntry(parent: Pinned, name: string, asked: string): Promise<void> {
  const stat = await statusOf(parent, name)
  if (stat === undefined) throw fileNotFound(asked)
  if (stat.isDirectory()) throw notAFile(asked, "It is a directory; use delete_directory.")
  await unlink(parent.at(name))
}

/** Deeper than this, a directory is first moved up, so that no path gets too long and few descriptors are held. */
const DEEPEST = 64

/**
 * Removes a directory, with everything in it when `recursive`.
 *
 * Works from descriptor to descriptor and never follows a link. Before anything is removed, the tree is looked through for what
 * must not be changed (`.git`, secrets), and refused as a whole when it holds some.
 *
 * @returns how many entries were removed, the directory itself included
 * @throws ToolwrightError `NOT_FOUND`, `NOT_A_DIRECTORY`, `NOT_EMPTY`, `ACCESS_DENIED`
 */
export async function removeDirectoryTree(
  policy: PathPolicy,
  parent: Pinned,
  name: string,
  asked: string,
  recursive: boolean,
): Promise<number> {
  const stat = await statusOf(parent, name)
  if (stat === undefined) throw directoryNotFound(asked)
  if (stat.isSymbolicLink()) throw notADirectory(asked, "It is a symbolic link; use delete_file to remove the link.")
  if (!stat.isDirectory()) throw notADirectory(asked, "It is a file; use delete_file.")
  if (!recursive) {
    await rmdir(parent.at(name)).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOTEMPTY" && thrown.code !== "EEXIST") throw thrown
      throw new ToolwrightError("NOT_EMPTY", `Directory not empty: ${printable(asked)}`, {
        hint: "Set recursive to true to delete it with everything in it.",
      })
    })
    return 1
  }
  await assertRemovable(policy, join(parent.real, name), asked)
  return removeBelow(policy, parent, name, asked, { directory: parent, count: 0 }, 0)
}

async function assertRemovable(policy: PathPolicy, real: string, asked: string): Promise<void> {
  const pending = [real]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const below = join(path, entry.name)
      policy.admit(below, "write", `${asked}${below.slice(real.length)}`)
      if (entry.isDirectory()) pending.push(below)
    }
  }
}

async function removeBelow(
  policy: PathPolicy,
  parent: Pinned,
  name: string,
  asked: string,
  shallow: { directory: Pinned; count: number },
  depth: number,
): Promise<number> {
  let removed = 1
  {
    const path = join(parent.real, name)
    const stat = await statusOf(parent, name)
    if (stat === undefined) return 0
    await using directory = await pinDirectory(policy, { ...parent.located, path, asked }, "write")
    if (directory.real !== path) throw notADirectory(asked)
    for (const entry of await readdir(directory.at(), { withFileTypes: true })) {
      if (!entry.isDirectory()) {
        await unlink(directory.at(entry.name))
        removed += 1
      } else if (depth < DEEPEST) {
        removed += await removeBelow(policy, directory, entry.name, asked, shallow, depth + 1)
      } else {
        const raised = `.toolwright-removed-${process.pid}-${(shallow.count += 1)}`
        await rename(directory.at(entry.name), shallow.directory.at(raised))
        removed += await removeBelow(policy, shallow.directory, raised, asked, shallow, 0)
      }
    }
  }
  await rmdir(parent.at(name))
  return removed
}

/** A name in a pinned directory. */
export interface Place extends AsyncDisposable {
  readonly parent: Pinned
  readonly name: string
  /** Its real path. */
  readonly path: string
  readonly asked: string
}

/** Renames an entry itself, links included. @throws ToolwrightError `NOT_FOUND`, `ALREADY_EXISTS`, `INVALID_PATH`, `CROSS_DEVICE` */
export async function moveEntry(from: Place, to: Place): Promise<void> {
  const stat = await statusOf(from.parent, from.name)
  if (stat === undefined) throw fileNotFound(from.asked)
  const asked = [printable(from.asked), printable(to.asked)]
  if (stat.isDirectory() && isInside(from.path, to.path)) {
    throw new ToolwrightError("INVALID_PATH", `Cannot move ${asked[0]} into itself: ${asked[1]}`)
  }
  const existing = await statusOf(to.parent, to.name)
  if (existing !== undefined) {
    const hint = existing.isDirectory()
      ? `It is a directory; to move into it, give the new path in full: ${to.asked.replace(/\/+$/u, "")}/${from.name}`
      : "Delete it first, or choose another destination."
    throw alreadyExists(to.asked, hint)
  }
  await rename(from.parent.at(from.name), to.parent.at(to.name)).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "EXDEV") throw thrown
    throw new ToolwrightError("CROSS_DEVICE", `Cannot move ${asked[0]} to another file system in one step`, {
      hint: "Write the file at its destination, then delete the source.",
    })
  })
}

async function statusOf(parent: Pinned, name: string): Promise<Stats | undefined> {
  return lstat(parent.at(name)).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined
    throw thrown
  })
}
