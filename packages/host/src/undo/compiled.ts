import { lstatSync, readdirSync, type Dirent } from "node:fs"
import { basename, join } from "node:path"

/** Where Python keeps what it compiled; it makes the folder again whenever it is missing. */
const COMPILED = "__pycache__"
/** A compiled module, or one that is being written. */
const MODULE = /\.py[co](?:\.\d+)?$/

export function mayBeCompiled(name: string): boolean {
  return name === COMPILED
}

/** What lies among compiled modules and is none: that counts as any other change does. */
export function strangersIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => (entry.isFile() && MODULE.test(entry.name) ? [] : [entry.name]))
}

/** The compiled modules of a folder that holds nothing else; undefined of any other. */
export function compiledIn(folder: string): string[] | undefined {
  if (basename(folder) !== COMPILED || !lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined
  return strangersIn(folder).length === 0 ? entriesOf(folder).map(({ name }) => name) : undefined
}

/** The folder of compiled modules in a folder, where there is one with nothing else in it. */
export function compiledBelow(folder: string): { path: string; names: readonly string[] } | undefined {
  const path = join(folder, COMPILED)
  const names = compiledIn(path)
  return names === undefined ? undefined : { path, names }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
