import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { usageError } from "../options.ts"
import type { MadeFiles } from "./project.ts"

/**
 * Writes files that are not there yet.
 *
 * @param otherwise What to do where one is there
 * @throws ToolwrightError `USAGE` where one is, and then nothing was written
 */
export function writeNew(folder: string, files: MadeFiles, otherwise = "Give another name."): void {
  const there = Object.keys(files).find((name) => existsSync(join(folder, name)))
  if (there !== undefined)
    throw usageError(`${join(folder, there)} is there already, so nothing was written.`, otherwise)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { flag: "wx" })
  }
}
