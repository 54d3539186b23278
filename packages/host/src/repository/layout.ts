import { dirname, join, resolve } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { lookAt, realOf } from "../look.ts"
import { isInside } from "../paths/roots.ts"
import { readPlainFile } from "./plain-file.ts"

/** Where the parts of a repository really lie; all absolute, without symbolic links. */
export interface RepositoryLayout {
  /** The top of the working tree: the folder that holds `.git`. */
  readonly top: string
  /** What belongs to this working tree alone: HEAD, index. */
  readonly gitDir: string
  /** What all working trees share: configuration, refs, objects. */
  readonly commonDir: string
  /** `.git` is a file that points to `gitDir`. */
  readonly linked: boolean
  /** A folder outside the roots that belongs to this working tree nevertheless, since it points back at it. */
  readonly outside?: string
}

const POINTER_BYTES = 4096
const ALTERNATES_BYTES = 64 * 1024

/**
 * Resolves the repository of a working tree and holds it to the roots. `.git`, `commondir` and
 * `objects/info/alternates` are files that can point anywhere, and whoever can write to the workspace, or made the
 * archive that it came from, can make them do so. What lies outside the roots counts only when it points back at this
 * working tree, as git itself keeps it (gitrepository-layout(5)): nothing inside a sandbox can write that.
 *
 * @param top the folder that holds `.git`, without symbolic links
 * @param roots the folders that tools may touch, likewise
 * @returns undefined where there is no repository (no `.git`, or one that is a link)
 * @throws ToolwrightError `REPOSITORY_REFUSED` when a part of it lies elsewhere or cannot be read
 */
export function resolveRepository(top: string, roots: readonly string[]): RepositoryLayout | undefined {
  const dotGit = join(top, ".git")
  const stat = lookAt(dotGit)
  if (stat === undefined || stat.isSymbolicLink()) return undefined
  const linked = stat.isFile()
  if (!linked && !stat.isDirectory()) throw refused(`${dotGit} is neither a folder nor a file`)
  const gitDir = linked ? pointedTo(dotGit) : dotGit
  const inRoots = (path: string) => roots.some((root) => isInside(root, path))
  const commonDir = commonOf(gitDir)
  const layout = { top, gitDir, commonDir, linked }
  if (inRoots(gitDir) && inRoots(commonDir)) {
    holdObjects(layout, inRoots)
    return layout
  }
  if (!linked || !pointsBack(layout, dotGit))
    throw refused(`${dotGit} points to ${inRoots(gitDir) ? commonDir : gitDir}, outside the workspace`)
  const outside = isInside(commonDir, gitDir) ? commonDir : gitDir
  holdObjects(layout, (path) => inRoots(path) || isInside(outside, path))
  return { ...layout, outside }
}

/** The same where it makes no difference why there is none that tools may touch. */
export function repositoryOrNothing(top: string, roots: readonly string[]): RepositoryLayout | undefined {
  try {
    return resolveRepository(top, roots)
  } catch {
    return undefined
  }
}

/** The error for a repository that tools do not touch. */
export function refused(why: string): ToolwrightError {
  return new ToolwrightError("REPOSITORY_REFUSED", `This repository is not used here: ${why}.`, {
    hint: "A person must look at it; the tools for files work all the same.",
  })
}

function pointedTo(dotGit: string): string {
  const text = textOf(dotGit, POINTER_BYTES)
  const target = /^gitdir: ([^\0\n]+?)\s*$/u.exec(text ?? "")?.[1]
  if (target === undefined) throw refused(`${dotGit} names no repository`)
  return realOf(resolve(dirname(dotGit), target)) ?? refuse(`${dotGit} points to ${target}, which is not there`)
}

function commonOf(gitDir: string): string {
  const file = join(gitDir, "commondir")
  const text = textOf(file, POINTER_BYTES)
  if (text === undefined) return gitDir
  return realOf(resolve(gitDir, text.trim())) ?? refuse(`${file} points to what is not there`)
}

/** A linked working tree is named by `worktrees/<id>/gitdir`, a submodule's by `core.worktree`. */
function pointsBack({ top, gitDir, commonDir }: RepositoryLayout, dotGit: string): boolean {
  const back = textOf(join(gitDir, "gitdir"), POINTER_BYTES)?.trim()
  if (back !== undefined)
    return realOf(resolve(gitDir, back)) === realOf(dotGit) && dirname(dirname(gitDir)) === realOf(commonDir)
  if (gitDir !== commonDir) return false
  const config = textOf(join(gitDir, "config"), 1024 * 1024) ?? ""
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/imu.exec(config)?.[1]
  return worktree !== undefined && realOf(resolve(gitDir, worktree)) === top
}

/** Objects may be borrowed from elsewhere (`objects/info/alternates`), and what is borrowed from likewise. */
function holdObjects(layout: RepositoryLayout, allowed: (path: string) => boolean): void {
  for (const objects of borrowed(layout.commonDir))
    if (!allowed(objects)) throw refused(`it takes objects from ${objects}, outside the workspace`)
}

/** Where a repository's objects lie, those that it borrows among them, as far as its lists can be read. */
export function objectFolders(commonDir: string): string[] {
  const found: string[] = []
  try {
    for (const objects of borrowed(commonDir)) found.push(objects)
  } catch {
    // What git itself does not follow, or not so far.
  }
  return found
}

function* borrowed(commonDir: string): Generator<string> {
  const pending = [join(commonDir, "objects")]
  const seen = new Set<string>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const objects = realOf(path)
    if (objects === undefined || seen.has(objects)) continue
    seen.add(objects)
    yield objects
    if (seen.size > 32) throw refused("it takes objects from too many others")
    const list = textOf(join(objects, "info/alternates"), ALTERNATES_BYTES) ?? ""
    for (const line of list.split("\n")) {
      if (line.startsWith('"')) throw refused(`${objects}/info/alternates has a quoted name`)
      if (line !== "" && !line.startsWith("#")) pending.push(resolve(objects, line))
    }
  }
}

function textOf(path: string, limit: number): string | undefined {
  try {
    return readPlainFile(path, limit)?.toString("utf8")
  } catch (thrown) {
    throw refused(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

function refuse(why: string): never {
  throw refused(why)
}

/** The nearest folder with a `.git`, from a folder upwards and never above the root. */
export function repositoryTop(root: string, folder: string): string | undefined {
  for (let at = resolve(folder); isInside(root, at); at = dirname(at)) {
    const stat = lookAt(join(at, ".git"))
    if (stat !== undefined && !stat.isSymbolicLink()) return at
    if (at === dirname(at)) break
  }
  return undefined
}
