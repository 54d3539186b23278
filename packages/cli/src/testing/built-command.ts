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
import { dirname, join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Plugin } from "vite"

const CLI = fileURLToPath(new URL("../..", import.meta.url))
const PACKAGES = dirname(CLI.replace(/[\\/]$/, ""))
const CACHE = join(PACKAGES, "../node_modules/.cache")

/** Packages of others in many files, of which many commands load every one. */
const SMALL_PARTS = ["yaml", "ajv"]

/**
 * What many commands load is one file, and what nearly all do another: hundreds of small files cost a start more than
 * what of a large one it does not need. What finds the command is small, and stands alone.
 */
const PARTS = [
  { name: "entry", test: /cli[\\/]src[\\/](?:command|command-line|commands[\\/]index)\.ts$/, priority: 2 },
  { name: "base", minShareCount: 30, priority: 1 },
  { name: "core", minShareCount: 12 },
]

const SOURCE = "toolwright-source"

/** Programs that tests start as processes of their own, to kill them and the like. */
const PROGRAMS = {
  "chaos-worker": "runtime/src/tasks/testing/chaos-worker.ts",
  "crashing-agent": "testing/src/crash/testing/main.ts",
}

/**
 * Where the built command is; made unless it stands there, of the sources as they are. Tests start it hundreds of
 * times, and from eight hundred files of sources each start takes three times as long as from a few. Like an installed
 * package it has `bin` and `dist`, and beside it stand the packages that tools of one's own import.
 */
export async function builtCommand(): Promise<string> {
  return join(await built(), "bin/toolwright.js")
}

/** Where a program of the tests is, built as the command is: it starts in a third of the time that its sources take. */
export async function builtProgram(name: keyof typeof PROGRAMS): Promise<string> {
  return join(await built(), `dist/programs/${name}.js`)
}

let making: Promise<string> | undefined

/** A folder in which code finds our packages, built, as it does in a project where they are installed. */
export function built(): Promise<string> {
  return (making ??= make())
}

async function make(): Promise<string> {
  const target = join(CACHE, `command-${stampOf(PACKAGES)}`)
  if (existsSync(target)) return target
  mkdirSync(CACHE, { recursive: true })
  // Of the processes that want it at once one builds, and the others wait: a lock of SQLite's ends with its holder.
  using lock = new DatabaseSync(join(CACHE, "building.db"), { timeout: 120_000 })
  lock.exec("BEGIN EXCLUSIVE")
  if (!existsSync(target)) await buildInto(target)
  return target
}

/** What the command is made of, as one hash. */
function stampOf(packages: string): string {
  const hash = createHash("sha256")
  for (const name of readdirSync(packages).toSorted()) {
    hash.update(readFileSync(join(packages, name, "package.json")))
    for (const folder of ["src", "bin"].map((part) => join(packages, name, part)).filter((path) => existsSync(path)))
      for (const file of (readdirSync(folder, { recursive: true }) as string[]).toSorted())
        if (/\.(?:ts|js|json)$/.test(file) && !file.endsWith(".test.ts"))
          hash
            .update(join(name, file))
            .update("\0")
            .update(readFileSync(join(folder, file)))
            .update("\0")
  }
  return hash.digest("hex").slice(0, 16)
}

/** A way into a package of ours: how it is imported, and the file that stands there. */
interface Opening {
  module: string
  path: string
  source: string
}

/** What tools of one's own may import of our packages. */
function openings(): Opening[] {
  return readdirSync(PACKAGES).flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(PACKAGES, folder, "package.json"), "utf8")) as {
      name: string
      exports?: Record<string, string | Record<string, string>>
    }
    return Object.entries(exports).flatMap(([path, to]) => {
      const source = typeof to === "string" ? undefined : to[SOURCE]
      return source === undefined || source.includes("*")
        ? []
        : [{ module: name, path, source: join(PACKAGES, folder, source) }]
    })
  })
}

/** The name of the file that an opening is built into, below `dist`. */
const builtName = ({ module, path }: Opening): string => join("exports", module, path, "index")

/** Packages whose modules are those that the command itself is made of, as where it is installed. */
function writePackages(making: string, opened: readonly Opening[]): void {
  for (const [name, paths] of Map.groupBy(opened, ({ module }) => module)) {
    const folder = join(making, "node_modules", name)
    const exports = paths.map((opening, place) => {
      const built = relative(folder, join(making, "dist", `${builtName(opening)}.js`)).replaceAll("\\", "/")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `${place}.js`), `export * from ${JSON.stringify(built)}\n`)
      return [opening.path, `./${place}.js`]
    })
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name, type: "module", exports: Object.fromEntries(exports) }),
    )
  }
}

async function buildInto(target: string): Promise<void> {
  const making = mkdtempSync(join(CACHE, "command-"))
  const opened = openings()
  // It is built once for many runs, and what builds it takes long to load.
  const { build } = await import("vite")
  try {
    await build({
      root: CLI,
      configFile: false,
      logLevel: "error",
      plugins: [WHERE_IT_STOOD],
      ssr: { noExternal: [/^@toolwright\//, ...SMALL_PARTS], resolve: { conditions: [SOURCE] } },
      build: {
        ssr: true,
        outDir: join(making, "dist"),
        target: "node22",
        minify: false,
        rolldownOptions: {
          input: {
            main: join(CLI, "src/main.ts"),
            ...Object.fromEntries(opened.map((opening) => [builtName(opening), opening.source])),
            ...Object.fromEntries(
              Object.entries(PROGRAMS).map(([name, source]) => [`programs/${name}`, join(PACKAGES, source)]),
            ),
          },
          output: { entryFileNames: "[name].js", codeSplitting: { groups: PARTS } },
        },
      },
    })
    cpSync(join(CLI, "bin"), join(making, "bin"), { recursive: true })
    writeFileSync(join(making, "package.json"), '{ "type": "module" }')
    writePackages(making, opened)
    removeOld()
    renameSync(making, target)
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
