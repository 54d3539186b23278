import { createHash } from "node:crypto"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build, type Plugin } from "vite"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    builtCommand: string
  }
}

const CLI = fileURLToPath(new URL("../..", import.meta.url))
const PACKAGES = dirname(CLI.replace(/[\\/]$/, ""))
const CACHE = join(PACKAGES, "../node_modules/.cache")

/** Packages of others in many files, of which many commands load every one. */
const SMALL_PARTS = ["yaml", "ajv"]

/**
 * Builds the command once before the tests: they start it hundreds of times, and from eight hundred files of sources
 * each start takes three times as long as from one. Like an installed package it has `bin` and `dist`.
 */
export default async function setup(project: TestProject): Promise<void> {
  project.provide("builtCommand", await builtCommand())
}

/** Where the built command is; made unless it stands there, of the sources as they are. */
export async function builtCommand(): Promise<string> {
  const target = join(CACHE, `command-${stampOf(PACKAGES)}`)
  if (!existsSync(target)) await buildInto(target)
  return join(target, "bin/toolwright.js")
}

/** What the command is made of, as one hash. */
function stampOf(packages: string): string {
  const hash = createHash("sha256")
  for (const name of readdirSync(packages).toSorted())
    for (const folder of ["src", "bin"].map((part) => join(packages, name, part)).filter((path) => existsSync(path)))
      for (const file of (readdirSync(folder, { recursive: true }) as string[]).toSorted())
        if (/\.(?:ts|js|json)$/.test(file) && !file.endsWith(".test.ts"))
          hash
            .update(join(name, file))
            .update("\0")
            .update(readFileSync(join(folder, file)))
            .update("\0")
  return hash.digest("hex").slice(0, 16)
}

async function buildInto(target: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const making = mkdtempSync(join(CACHE, "command-"))
  try {
    await build({
      root: CLI,
      configFile: false,
      logLevel: "error",
      plugins: [WHERE_IT_STOOD],
      ssr: { noExternal: [/^@toolwright\//, ...SMALL_PARTS], resolve: { conditions: ["toolwright-source"] } },
      build: {
        ssr: join(CLI, "src/main.ts"),
        outDir: join(making, "dist"),
        target: "node22",
        minify: false,
        rolldownOptions: { output: { entryFileNames: "main.js" } },
      },
    })
    cpSync(join(CLI, "bin"), join(making, "bin"), { recursive: true })
    writeFileSync(join(making, "package.json"), '{ "type": "module" }')
    removeOld()
    renameSync(making, target)
  } catch (error) {
    // Another run of tests may have built the same.
    if (!existsSync(target)) throw error
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** What older sources were built into; not what another run of tests may be using. */
function removeOld(): void {
  for (const name of readdirSync(CACHE).filter((each) => /^command-[0-9a-f]{16}$/.test(each))) {
    const old = join(CACHE, name)
    const { mtimeMs } = statSync(old, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity }
    if (mtimeMs < Date.now() - 24 * 3_600_000) rmSync(old, { recursive: true, force: true })
  }
}

/** Files that a module finds beside itself stay where they are. */
const WHERE_IT_STOOD: Plugin = {
  name: "where-it-stood",
  transform(code, id) {
    if (!/import\.meta\.(?:url|dirname)/.test(code)) return undefined
    return code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
  },
}
