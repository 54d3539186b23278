import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * What `npm ci` leaves of a tree on this machine, in MB: the packages of its lock file, without what was put beside
 * them since.
 */
export function installedMegabytes(tree: string): number {
  const { packages } = JSON.parse(readFileSync(join(tree, "package-lock.json"), "utf8")) as {
    packages: Record<string, { link?: boolean }>
  }
  const bytes = Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && link !== true)
    .map(([path]) => (existsSync(join(tree, path)) ? diskUse(join(tree, path)) : 0))
  return bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20
}

/** What the files of a package take in blocks of 4 KB; packages inside it are counted by themselves. */
function diskUse(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === "node_modules" ? 0 : diskUse(path)
    else bytes += Math.ceil(lstatSync(path).size / 4096) * 4096
  }
  return bytes
}
