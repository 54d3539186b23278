import { lstatSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { isInside } from "@toolwright/host/paths"
import type { SimpleCommand } from "./simple-command.ts"

/** A command of a line, or one in the arguments of another. */
export type MetCommand = Pick<SimpleCommand, "program" | "args" | "redirects">

const MOST_FOLDERS = 64

/** Where a command line may be by what it tells `cd`, which may have failed each time; nothing for too many places. */
export function foldersOf(cwd: string, met: readonly MetCommand[]): string[] | undefined {
  let folders = [cwd]
  for (const { program, args } of met) {
    if (program !== "cd") continue
    folders = [...new Set([...folders, ...folders.map((folder) => resolve(folder, args[0]?.text ?? "."))])]
    if (folders.length > MOST_FOLDERS) return undefined
  }
  return folders
}

/** A folder and those above it, up to one of them. */
export function foldersUpTo(top: string, folder: string): string[] {
  const above = dirname(folder)
  return folder === top || above === folder ? [folder] : [folder, ...foldersUpTo(top, above)]
}

/** The first target of a redirection, or of `cd`, that leads out of the roots or into a repository's own files. */
export function leadsOut(
  roots: readonly string[],
  folders: readonly string[],
  met: readonly MetCommand[],
): string | undefined {
  const gone = folders.find((folder) => !isIn(roots, folder))
  if (gone !== undefined) return gone
  const targets = met
    .flatMap(({ redirects }) => redirects.map(({ text }) => text))
    .filter((text) => !OF_SHELL.test(text))
  return targets.find((text) => folders.some((folder) => !isIn(roots, resolve(folder, text), GITS_OWN)))
}

/** A part of a path that git, or what tells tools their rules, has for itself. */
const GITS_OWN = /[/\\]\.(?:git|toolwright)(?:[/\\]|$)/iu

/** Descriptors, and files of the system that a redirection may name. */
const OF_SHELL = /^(?:\d+|-|\/dev\/.*)$/u

function isIn(roots: readonly string[], path: string, except?: RegExp): boolean {
  const real = ending(path)
  return (
    real !== undefined && roots.some((root) => isInside(root, real) && except?.test(real.slice(root.length)) !== true)
  )
}

/** Where a path ends, as far as it is there; nothing where it is a link to what is not. */
function ending(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return undefined
    const above = dirname(path)
    const real = above === path ? path : ending(above)
    return real === undefined ? undefined : join(real, basename(path))
  }
}
