import { realpathSync, statSync } from "node:fs"
import { basename, dirname, extname, join, resolve } from "node:path"
import { readStateFile, stateTextOf } from "@toolwright/host/state-files"
import { modulesOf } from "../../own-tools/entries.ts"

/** A file whose content trust covers. Of what cannot be read, the reason stands for it. */
export interface NamedFile {
  readonly path: string
  readonly content: Uint8Array | string
}

/** More files of one configuration are not looked into: what they hold is not covered, and a start takes no longer. */
const MOST_FILES = 500
const LARGEST_BYTES = 16 * 1024 * 1024
const MOST_WORDS = 5000

const SCRIPT = /\.[cm]?[jt]sx?$/
/** What a module imports by relative paths, in any of the ways in which it can be written with a plain text. */
const IMPORTS = /(?:\bfrom|\bimport|\brequire)\s{0,20}\(?\s{0,20}["'`](\.{1,2}\/[^"'`\n]{1,300})["'`]/g
const ENDINGS = ["", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".json", "/index.js", "/index.ts", "/index.mjs"]
/** Programs that do what a file of the folder says, which is not named beside them. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json", ".npmrc"],
  npx: [".npmrc"],
  pnpm: ["package.json", ".npmrc"],
  yarn: ["package.json", ".yarnrc.yml", ".npmrc"],
  bun: ["package.json", "bunfig.toml"],
  bunx: ["bunfig.toml"],
  deno: ["deno.json", "deno.jsonc"],
  make: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile", ".justfile"],
}

/**
 * The files that a configuration would load or start: modules of tools, middleware and a format wherever they lie,
 * and of what its MCP servers' commands name those that lie in the configuration's own folder, with the modules that
 * all of these import by relative paths. Programs of the system are the user's own, and change with every update.
 */
export function filesNamedBy(values: ReadonlyMap<string, unknown>, folder: string): NamedFile[] {
  const found = new Found(folder)
  for (const place of textsIn(values.get("tools"))) found.addModules(place)
  for (const key of ["calls.middleware", "model.formatFile"])
    for (const file of textsIn(values.get(key))) found.add(file)
  const starts = textsIn(values.get("mcp.folder"))
  const bases = [folder, ...starts]
  for (const server of serversOf(values)) {
    const { cwd } = server as { cwd?: unknown }
    found.addWords(server, typeof cwd === "string" ? [resolve(folder, cwd), ...bases] : bases)
  }
  return found.files
}

/** Everything that may hold the words of a command: servers by name, of a file, and those that are a text alone. */
function serversOf(values: ReadonlyMap<string, unknown>): object[] {
  const named = [values.get("mcp.servers"), serversIn(values.get("mcp.file"))]
  return [
    ...named.flatMap((servers) => (isObject(servers) ? Object.values(servers).filter(isObject) : [])),
    ...textsIn(values.get("mcp.connect")).map((line) => [line]),
  ]
}

export function serversIn(file: unknown): unknown {
  if (typeof file !== "string") return undefined
  try {
    return (JSON.parse(stateTextOf(file, { follow: true }) ?? "{}") as { mcpServers?: unknown }).mcpServers
  } catch {
    return undefined
  }
}

class Found {
  readonly files: NamedFile[] = []
  readonly #seen = new Set<string>()
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = realOf(folder) ?? folder
  }

  /** A file, folder or package of tools. */
  addModules(place: string): void {
    this.add(join(place, "package.json"), { unlessAbsent: true })
    try {
      for (const module of modulesOf(place)) this.add(module)
    } catch {
      // It is not there: what comes there later is another content.
      this.add(place)
    }
  }

  /** What the texts of a command's parts name in this folder: words, and what stands behind `=` or within quotes. */
  addWords(server: object, bases: readonly string[]): void {
    const words = wordsIn(server)
    for (const base of new Set(bases)) {
      for (const word of words) {
        const path = realOf(resolve(base, word))
        if (path !== undefined && this.#isOwn(path)) this.#addNamed(path)
        for (const name of RUNNERS[basename(word)] ?? []) this.add(join(base, name), { unlessAbsent: true })
      }
    }
  }

  /** A folder is what it is started or imported as. */
  #addNamed(path: string): void {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return this.add(path)
    if (path === this.#folder) return
    for (const name of ["package.json", "index.js", "__main__.py"]) this.add(join(path, name), { unlessAbsent: true })
  }

  add(path: string, { unlessAbsent = false } = {}): void {
    const real = realOf(path)
    if (real === undefined && unlessAbsent) return
    const own = real ?? path
    if (this.#seen.has(own) || this.#seen.size >= MOST_FILES) return
    this.#seen.add(own)
    const content = contentOf(own)
    this.files.push({ path: own, content })
    if (typeof content === "string" || !SCRIPT.test(own)) return
    for (const imported of importsOf(own, Buffer.from(content).toString("utf8"))) this.add(imported)
  }

  #isOwn(path: string): boolean {
    return path === this.#folder || path.startsWith(`${this.#folder}/`) || path.startsWith(`${this.#folder}\\`)
  }
}

function importsOf(file: string, text: string): string[] {
  const specifiers = new Set([...text.matchAll(IMPORTS)].map(([, specifier]) => specifier!))
  return [...specifiers].flatMap((specifier) => {
    const path = resolve(dirname(file), specifier)
    // TypeScript may import what it will be compiled to.
    const stem = path.slice(0, path.length - extname(path).length)
    const places = [...ENDINGS.map((ending) => path + ending), `${stem}.ts`, `${stem}.mts`]
    // What is not there yet is imported as soon as it is.
    return places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile() === true) ?? path
  })
}

function contentOf(path: string): Uint8Array | string {
  try {
    return readStateFile(path, { limit: LARGEST_BYTES, follow: true }) ?? "none"
  } catch {
    return "unreadable"
  }
}

function wordsIn(value: unknown): string[] {
  const words = new Set<string>()
  const look = (each: unknown, depth: number): void => {
    if (words.size >= MOST_WORDS || depth > 5) return
    if (typeof each === "string") {
      for (const word of [each, ...each.split(/[\s"'`=;,|&<>()]+/)])
        if (word !== "" && word.length < 1000) words.add(word)
    } else if (typeof each === "object" && each !== null)
      for (const inner of Object.values(each)) look(inner, depth + 1)
  }
  look(value, 0)
  return [...words]
}

function textsIn(value: unknown): string[] {
  return [value].flat().filter((each) => typeof each === "string")
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
