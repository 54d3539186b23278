import type { Stats } from "node:fs"
import { lstat, readdir, rename, rmdir, unlink } from "node:fs/promises"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { alreadyExists } from "./atomic-write.ts"
import { directoryNotFound, fileNotFound, notADirectory, notAFile, printable } from "./path-errors.ts"
import { pinChild, type Pinned, type PinnedChild } from "./pin.ts"
import type { PathPolicy } from "./policy.ts"
import { isInside } from "./roots.ts"

/** Unlinks a file, or a symbolic link itself. @throws ToolwrightError `NOT_FOUND`, `NOT_A_FILE` */
export async function removeFileEntry(parent: Pinned, name: string, asked: string): Promise<void> {
  const stat = await statusOf(parent, name)
  if (stat === undefined) throw fileNotFound(asked)
  if (stat.isDirectory()) throw notAFile(asked, "It is a directory.", "delete a directory")
  await unlink(parent.at(name))
}

/** Deeper trees are refused: each level holds a descriptor while what is below it is looked at. */
const DEEPEST = 500

/**
 * Removes a directory, with everything in it when `recursive`.
 *
 * Works from descriptor to descriptor and never follows a link. Before anything is removed, the tree is looked through
 * for what must not be changed (`.git`, secrets), and refused as a whole when it holds some.
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
  if (stat.isSymbolicLink())
    throw notADirectory(asked, "It is a symbolic link; only the link can be deleted.", "delete a file")
  if (!stat.isDirectory()) throw notADirectory(asked, "It is a file.", "delete a file")
  if (!recursive) {
    await rmdir(parent.at(name)).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOTEMPTY" && thrown.code !== "EEXIST") throw thrown
      throw new ToolwrightError("NOT_EMPTY", `Directory not empty: ${printable(asked)}`, {
        hint: "Set recursive to true to delete it with everything in it.",
      })
    })
    return 1
  }
  await assertRemovable(policy, parent, name, { real: join(parent.real, name), asked })
  return removeBelow(parent, name)
}

async function assertRemovable(
  policy: PathPolicy,
  parent: PinnedChild,
  name: string,
  place: { real: string; asked: string },
  depth = 0,
): Promise<void> {
  if (depth > DEEPEST) throw tooDeep(place.asked)
  await using directory = await pinChild(parent, name)
  for (const entry of await readdir(directory.at(), { withFileTypes: true })) {
    const below = { real: join(place.real, entry.name), asked: `${place.asked}/${entry.name}` }
    policy.admit(below.real, "write", below.asked)
    if (entry.isDirectory()) await assertRemovable(policy, directory, entry.name, below, depth + 1)
  }
}

async function removeBelow(parent: PinnedChild, name: string): Promise<number> {
  let removed = 1
  {
    await using directory = await pinChild(parent, name)
    for (const entry of await readdir(directory.at(), { withFileTypes: true })) {
      if (entry.isDirectory()) {
        removed += await removeBelow(directory, entry.name)
      } else {
        await unlink(directory.at(entry.name))
        removed += 1
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

/**
 * Renames an entry itself, links included. @throws ToolwrightError `NOT_FOUND`, `ALREADY_EXISTS`, `INVALID_PATH`,
 * `CROSS_DEVICE`
 */
export async function moveEntry(policy: PathPolicy, from: Place, to: Place): Promise<void> {
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
  if (stat.isDirectory()) {
    await using directory = await pinChild(from.parent, from.name)
    await assertMovable(policy, directory, { from: from.path, to: to.path, asked: from.asked, depth: 0 })
  }
  await rename(from.parent.at(from.name), to.parent.at(to.name)).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "EXDEV") throw thrown
    throw new ToolwrightError("CROSS_DEVICE", `Cannot move ${asked[0]} to another file system in one step`, {
      hint: "Write the file at its destination, then delete the source.",
    })
  })
}

/** What its place alone protects must not be carried to another place with the directory above it. */
async function assertMovable(
  policy: PathPolicy,
  directory: PinnedChild,
  move: { from: string; to: string; asked: string; depth: number },
): Promise<void> {
  if (move.depth > DEEPEST) throw tooDeep(move.asked)
  for (const entry of await readdir(directory.at(), { withFileTypes: true })) {
    const { name } = entry
    const below = {
      from: join(move.from, name),
      to: join(move.to, name),
      asked: `${move.asked}/${name}`,
      depth: move.depth + 1,
    }
    if (policy.bindsPlace(below.from, below.to)) policy.admit(below.from, "write", below.asked)
    if (!entry.isDirectory()) continue
    await using child = await pinChild(directory, name)
    await assertMovable(policy, child, below)
  }
}

function tooDeep(asked: string): ToolwrightError {
  return new ToolwrightError("TOO_DEEP", `Directory deeper than ${DEEPEST} levels: ${printable(asked)}`)
}

async function statusOf(parent: Pinned, name: string): Promise<Stats | undefined> {
  return lstat(parent.at(name)).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined
    throw thrown
  })
}
