import { realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { filesNamedBy } from "../configuration/trust/named-files.ts"
import type { Configuration } from "../configuration/settings.ts"
import { placeOfTools } from "../own-tools/entries.ts"

/**
 * What this program loads into itself now: modules import others in the course of time, and are loaded anew. Looked at
 * again when one of them is another than before.
 *
 * @param cwd the folder that relative places start from
 * @returns asks for them; the same list as before while nothing changed
 */
export function loadedFiles(configuration: Configuration, cwd: string): () => readonly string[] {
  let known = loadedNow(configuration, cwd)
  if (known.length === 0) return () => known
  let marks = marksOf(known)
  return () => {
    const now = marksOf(known)
    if (now === marks) return known
    known = loadedNow(configuration, cwd)
    marks = marksOf(known)
    return known
  }
}

function marksOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
    })
    .join()
}

/**
 * The files and folders that this program loads into itself, which no tool and no sandboxed program may write: whoever
 * wrote them would run outside every sandbox as soon as they are loaded again.
 *
 * @param cwd the folder that relative places start from
 */
function loadedNow({ tools = [], calls, model }: Configuration, cwd: string): string[] {
  const places = tools.map((entry) => placeOfTools(entry, cwd))
  const middleware = (calls.middleware ?? []).map((file) => resolve(cwd, file))
  const formats = model.formatFile === undefined ? [] : [resolve(cwd, model.formatFile)]
  if (places.length + middleware.length + formats.length === 0) return []
  const named = new Map<string, unknown>([
    ["tools", places],
    ["calls.middleware", middleware],
    ["model.formatFile", formats],
  ])
  // What is new in a folder of tools is loaded as well, also by the path that a link to it leads to.
  const folders = places.filter((place) => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true)
  return [
    ...folders,
    ...folders.map((folder) => realpathSync(folder)),
    ...middleware,
    ...formats,
    ...filesNamedBy(named, cwd).map(({ path }) => path),
  ]
}
