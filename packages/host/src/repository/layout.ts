import { lstat, realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
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
export async function resolveRepository(top: string, roots: readonly string[]): Promise<RepositoryLayout | undefined> {
  const dotGit = join(top, ".git")
  const stat = await lstat(dotGit).catch(() => undefined)
  if (stat === undefined || stat.isSymbolicLink()) return undefined
  const linked = stat.isFile()
  if (!linked && !stat.isDirectory()) throw refused(`${dotGit} is neither a folder nor a file`)
  const gitDir = linked ? await pointedTo(dotGit) : dotGit
  const inRoots = (path: string) => roots.some((root) => isInside(root, path))
  const commonDir = await commonOf(gitDir)
  const layout = { top, gitDir, commonDir, linked }
  if (inRoots(gitDir) && inRoots(commonDir)) {
    await holdObjects(layout, inRoots)
    return layout
  }
  if (!linked || !(await pointsBack(layout, dotGit)))
    throw refused(`${dotGit} points to ${inRoots(gitDir) ? commonDir : gitDir}, outside the workspace`)
  const outside = isInside(commonDir, gitDir) ? commonDir : gitDir
  await holdObjects(layout, (path) => inRoots(path) || isInside(outside, path))
  return { ...layout, outside }
}

/** The error for a repository that tools do not touch. */
export function refused(why: string): ToolwrightError {
  return new ToolwrightError("REPOSITORY_REFUSED", `This repository is not used here: ${why}.`, {
    hint: "A person must look at it; the tools for files work all the same.",
  })
}

async function pointedTo(dotGit: string): Promise<string> {
  const text = await textOf(dotGit, POINTER_BYTES)
  const target = /^gitdir: ([^\0\n]+?)\s*$/u.exec(text ?? "")?.[1]
  if (target === undefined) throw refused(`${dotGit} names no repository`)
  return (await real(resolve(dirname(dotGit), target))) ?? refuse(`${dotGit} points to ${target}, which is not there`)
}

async function commonOf(gitDir: string): Promise<string> {
  const file = join(gitDir, "commondir")
  const text = await textOf(file, POINTER_BYTES)
  if (text === undefined) return gitDir
  return (await real(resolve(gitDir, text.trim()))) ?? refuse(`${file} points to what is not there`)
}

/** A linked working tree is named by `worktrees/<id>/gitdir`, a submodule's by `core.worktree`. */
async function pointsBack({ top, gitDir, commonDir }: RepositoryLayout, dotGit: string): Promise<boolean> {
  const back = (await textOf(join(gitDir, "gitdir"), POINTER_BYTES))?.trim()
  if (back !== undefined)
    return (
      (await real(resolve(gitDir, back))) === (await real(dotGit)) &&
      dirname(dirname(gitDir)) === (await real(commonDir))
    )
  if (gitDir !== commonDir) return false
  const config = (await textOf(join(gitDir, "config"), 1024 * 1024)) ?? ""
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/imu.exec(config)?.[1]
  return worktree !== undefined && (await real(resolve(gitDir, worktree))) === top
}

/** Objects may be borrowed from elsewhere (`objects/info/alternates`), and what is borrowed from likewise. */
async function holdObjects(layout: RepositoryLayout, allowed: (path: string) => boolean): Promise<void> {
  const pending = [join(layout.commonDir, "objects")]
  const seen = new Set<string>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const objects = await real(path)
    if (objects === undefined || seen.has(objects)) continue
    seen.add(objects)
    if (!allowed(objects)) throw refused(`it takes objects from ${objects}, outside the workspace`)
    if (seen.size > 32) throw refused("it takes objects from too many others")
    const list = (await textOf(join(objects, "info/alternates"), ALTERNATES_BYTES)) ?? ""
    for (const line of list.split("\n")) {
      if (line.startsWith('"')) throw refused(`${objects}/info/alternates has a quoted name`)
      if (line !== "" && !line.startsWith("#")) pending.push(resolve(objects, line))
    }
  }
}

async function textOf(path: string, limit: number): Promise<string | undefined> {
  try {
    return (await readPlainFile(path, limit))?.toString("utf8")
  } catch (thrown) {
    throw refused(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

function real(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}

function refuse(why: string): never {
  throw refused(why)
}
