import { existsSync, readdirSync, statSync } from "node:fs"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { stateTextOf } from "@toolwright/host/state-files"
import { messageOf, ToolwrightError } from "@toolwright/toolbox/errors"

/** What a module of tools may end in. */
const MODULE = /\.(?:ts|mts|js|mjs)$/
/** Files beside tools that hold none. */
const NO_TOOLS = /\.(?:test|spec)\.\w+$|\.d\.m?ts$|^[._]/

/**
 * Where an entry of the setting `tools` lies: a file or folder from the folder of whoever names it, or an npm package
 * that is installed there or above.
 *
 * @param folder of the configuration file, or the one that a command was started in
 * @returns an absolute path, whether or not something is there
 */
export function placeOfTools(entry: string, folder: string): string {
  if (isAbsolute(entry) || entry.startsWith(".") || existsSync(resolve(folder, entry))) return resolve(folder, entry)
  for (let above = folder; ; above = dirname(above)) {
    const installed = join(above, "node_modules", entry)
    if (existsSync(installed)) return installed
    if (dirname(above) === above) return join(folder, "node_modules", entry)
  }
}

/**
 * The modules of an entry: the file itself, the entry of a package, or every module of a folder, by name.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where nothing is there
 */
export function modulesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw missing(path)
  if (!stat.isDirectory()) return [path]
  const manifest = join(path, "package.json")
  if (existsSync(manifest)) return [join(path, entryOf(manifest))]
  const modules = readdirSync(path).filter((name) => MODULE.test(name) && !NO_TOOLS.test(name))
  return modules.sort().map((name) => join(path, name))
}

function missing(path: string): ToolwrightError {
  const inPackages = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)$/.exec(path)
  const message =
    inPackages === null ? `There are no tools at ${path}.` : `The package '${inPackages[1]}' is not installed.`
  return new ToolwrightError("INVALID_CONFIGURATION", message, {
    hint:
      inPackages === null
        ? "The setting 'tools' names files, folders and packages: ./my-tools.ts, ./tools, @me/tools."
        : `Install it (npm install ${inPackages[1]}), or write ./${basename(path)} for a file or folder.`,
  })
}

/** What a package is imported by: the first condition of its `exports` that Node would take, else `main`. */
function entryOf(manifest: string): string {
  let said: { exports?: unknown; main?: unknown }
  try {
    said = JSON.parse(stateTextOf(manifest, { follow: true }) ?? "") as typeof said
  } catch (cause) {
    throw new ToolwrightError("INVALID_CONFIGURATION", `${manifest} cannot be read: ${messageOf(cause)}`, { cause })
  }
  return exported(said.exports) ?? (typeof said.main === "string" ? said.main : "index.js")
}

function exported(node: unknown): string | undefined {
  if (typeof node === "string") return node
  if (typeof node !== "object" || node === null) return undefined
  const conditions = node as Record<string, unknown>
  for (const key of [".", "node", "import", "default"]) {
    const found = exported(conditions[key])
    if (found !== undefined) return found
  }
  return undefined
}
