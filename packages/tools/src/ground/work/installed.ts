import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"

/** What was installed in a workspace at one moment, by name alone: what changed since is found by its times. */
export interface Installed {
  readonly since: number
  /** Packages that were there, as paths from the workspace's top. */
  readonly packages: readonly string[]
}

const FOLDERS = ["node_modules", ".venv", "venv"]
/** What runners and bundlers write below node_modules while they run. */
const CACHES = new Set([".cache", ".vite", ".vite-temp", ".vitest", ".tmp", "__pycache__"])
/** What runs tests, or compares in them, wherever it comes from. */
const RUNNERS =
  /(?:^|\/)(?:\.bin|@vitest|vitest|@jest|jest[\w-]*|expect|@?mocha[\w-]*|chai[\w-]*|ava|tap|@tapjs|tape|jasmine[\w-]*|uvu|qunit|node-tap|c8|nyc|tsx|ts-node|playwright[\w-]*|@playwright|pytest|_pytest|pluggy)(?:\/|$)/u
const MOST_ENTRIES = 100_000

/** Notes which packages are installed at the workspace's top. */
export async function noteInstalled(root: string): Promise<Installed> {
  const since = Date.now()
  const packages: string[] = []
  for (const folder of FOLDERS) packages.push(...(await packagesIn(root, folder)))
  return { since, packages }
}

/**
 * Files of installed packages that were changed since in place: of packages that were there before, and that no package
 * manager has installed anew meanwhile; of what runs tests, in any case. The time of a file's status cannot be set
 * back.
 */
export async function changedInstalled(
  root: string,
  { since, packages }: Installed,
  signal: AbortSignal,
): Promise<string[]> {
  const changed: string[] = []
  let budget = MOST_ENTRIES
  for (const one of packages) {
    const found: string[] = []
    const pending = [one]
    for (let at = pending.pop(); at !== undefined && budget > 0; at = pending.pop()) {
      signal.throwIfAborted()
      budget--
      const stat = await lstat(join(root, at)).catch(() => undefined)
      if (stat === undefined || stat.ctimeMs > since) found.push(at)
      if (stat?.isDirectory() !== true) continue
      for (const { name } of await readdir(join(root, at), { withFileTypes: true }).catch(() => []))
        if (!CACHES.has(name)) pending.push(`${at}/${name}`)
    }
    const isAnew = found.includes(`${one}/package.json`) && !RUNNERS.test(one)
    if (!isAnew) changed.push(...found)
  }
  const folders = new Set(changed.map((path) => path.slice(0, path.lastIndexOf("/"))))
  // A folder whose entry is named is named by it.
  return changed.filter((path) => !folders.has(path)).sort()
}

async function packagesIn(root: string, folder: string): Promise<string[]> {
  const top = folder === "node_modules" ? [folder] : await sitePackages(root, folder)
  const found: string[] = folder === "node_modules" ? [] : [`${folder}/bin`]
  for (const at of top) {
    for (const name of await foldersIn(join(root, at))) {
      if (CACHES.has(name)) continue
      if (name.startsWith("@")) {
        for (const inner of await foldersIn(join(root, at, name))) found.push(`${at}/${name}/${inner}`)
      } else found.push(`${at}/${name}`)
    }
  }
  const there = await Promise.all(found.map((path) => lstat(join(root, path)).catch(() => undefined)))
  return found.filter((_, at) => there[at] !== undefined)
}

async function sitePackages(root: string, venv: string): Promise<string[]> {
  const versions = await foldersIn(join(root, venv, "lib"))
  return versions.map((version) => `${venv}/lib/${version}/site-packages`)
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
