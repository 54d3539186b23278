/** Installs what a benchmark compares against into `bench/.peers/<name>/`, so that it never becomes a dependency. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/**
 * @param name the benchmark's name
 * @param packages package names with exact versions; an alias is written `{ "ai-7": "npm:ai@7.0.0" }`
 * @returns the folder, and `load`, which imports one of the packages from there
 */
export function installPeers(name: string, packages: Record<string, string>) {
  const folder = join(import.meta.dirname, ".peers", name)
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: packages }, null, 2)
  const manifestFile = join(folder, "package.json")
  const installed = join(folder, "node_modules", ".package-lock.json")
  if (!existsSync(installed) || !existsSync(manifestFile) || readFileSync(manifestFile, "utf8") !== manifest) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(manifestFile, manifest)
    execFileSync(
      "npm",
      ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--loglevel=error"],
      {
        cwd: folder,
        stdio: ["ignore", "ignore", "inherit"],
      },
    )
  }
  const require = createRequire(manifestFile)
  return {
    folder,
    load: async <Module = Record<string, unknown>>(specifier: string): Promise<Module> =>
      (await import(pathToFileURL(require.resolve(specifier)).href)) as Module,
  }
}
