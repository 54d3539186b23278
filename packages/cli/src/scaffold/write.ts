import { lstatSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { isOwnFolder, makeStateFolder, writeStateFile } from "@toolwright/host/state-files"
import { usageError } from "../options.ts"
import type { MadeFiles } from "./project.ts"

/**
 * Writes files that are not there yet. The folder may be somebody else's: a link in it would lead what is written
 * elsewhere, so links are not followed, and count as something that is there.
 *
 * @param otherwise What to do where one is there
 * @throws ToolwrightError `USAGE` where one is, or a link in the place of a folder, and then nothing was written
 */
export function writeNew(folder: string, files: MadeFiles, otherwise = "Give another name."): void {
  const names = Object.keys(files)
  const there = names.find((name) => isThere(join(folder, name)))
  if (there !== undefined)
    throw usageError(`${join(folder, there)} is there already, so nothing was written.`, otherwise)
  const wrong = names.flatMap((name) => foldersOf(name)).find((name) => !mayHold(join(folder, name)))
  if (wrong !== undefined) {
    throw usageError(
      `${join(folder, wrong)} is a link or no folder, so nothing was written.`,
      "What is made lies in the folder itself: look at where that leads, and put a folder in its place.",
    )
  }
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    makeStateFolder(folder, ...name.split("/").slice(0, -1))
    writeStateFile(join(folder, name), text, { how: "create" })
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** Whether files may be made in a folder that is there, or one may be made in its place. */
const mayHold = (path: string): boolean => !isThere(path) || isOwnFolder(path)

/** The folders that a file lies in, from the top. */
function foldersOf(name: string): string[] {
  const above = dirname(name)
  return above === "." ? [] : [...foldersOf(above), above]
}
