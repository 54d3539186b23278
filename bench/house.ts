/**
 * The order of the sources in figures, of this tree or of another one beside it (`TOOLWRIGHT_HOUSE`, a folder with
 * `packages/`): what users import, what is long or knotted, and who knows the tools by name. `--write-docs` puts the
 * table of them into `docs/architecture.md`.
 */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createBuiltinTools } from "@toolwright/tools"
import { blogKit } from "@toolwright/tools-blog"
import { databaseKit } from "@toolwright/tools-database"
import { webKit } from "@toolwright/tools-web"
import { installedMegabytes } from "../.ci/house/installed.ts"
import type { BenchmarkResult } from "./run.ts"

const HERE = join(import.meta.dirname, "..")

export async function run(): Promise<BenchmarkResult> {
  const tree = process.env["TOOLWRIGHT_HOUSE"] ?? HERE
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: tree }).filter(
    (file) => !/\.test\.tsx?$|\/(fixtures|testing|dist)\//.test(file),
  )
  const texts = new Map(files.map((file) => [file, readFileSync(join(tree, file), "utf8")] as const))
  const lines = [...texts.values()].flatMap((text) => text.split("\n"))
  const result = {
    figures: {
      names_exported: exportedNames(tree, "packages/cli/src/index.ts").size,
      files_that_name_tools: filesThatNameTools(texts),
      functions_over_60_lines: overLimit(tree, "max-lines-per-function"),
      functions_over_complexity_15: overLimit(tree, "complexity"),
      lines_over_120: lines.filter((line) => line.length > 120).length,
      longest_line: lines.reduce((longest, line) => Math.max(longest, line.length), 0),
      circles_within_rooms: circles(texts),
      dependencies_of_toolwright: outsideDependencies(tree, "packages/cli"),
      source_files: files.length,
      source_lines: lines.length,
      install_mb: installedMegabytes(tree),
    },
    ratios: {},
  }
  if (process.argv.includes("--write-docs")) writePage(result.figures)
  return result
}

/** What the page of the architecture says of each figure, and what it was at revision 7861876. */
const ROWS: readonly (readonly [figure: string, what: string, before: string])[] = [
  ["names_exported", "names that `toolwright` exports, most of them types", "278"],
  ["files_that_name_tools", "files outside the tools that have a tool's telling name", "8"],
  ["functions_over_60_lines", "functions over 60 lines", "58"],
  ["functions_over_complexity_15", "functions over complexity 15", "98"],
  ["lines_over_120", "lines over 120 characters", "2,966"],
  ["longest_line", "longest line", "326"],
  ["circles_within_rooms", "circles of imports within a room", "15"],
  ["dependencies_of_toolwright", "packages of others that the command needs", "26"],
  ["source_files", "source files", "700"],
  ["source_lines", "source lines", "57,559"],
  ["install_mb", "megabytes that `npm ci` leaves, of which 189 are the Node that it brings", "not measured"],
]
const PAGE = join(HERE, "docs/architecture.md")
const [BEGIN, END] = ["<!-- generated: bench house -->\n", "<!-- end -->"]

function writePage(figures: Readonly<Record<string, number>>): void {
  const rows = ROWS.map(
    ([figure, what, before]) => `| ${what} | ${before} | ${Math.round(figures[figure]!).toLocaleString("en")} |\n`,
  )
  const page = readFileSync(PAGE, "utf8")
  const [before = "", rest = ""] = page.split(BEGIN)
  const table = `| | before | today |\n| --- | --- | --- |\n${rows.join("")}`
  writeFileSync(PAGE, `${before}${BEGIN}${table}${rest.slice(rest.indexOf(END))}`)
}

/** The names that a file exports, by way of `export *` too. */
function exportedNames(tree: string, file: string, seen = new Set<string>()): Set<string> {
  const names = new Set<string>()
  if (seen.has(file) || !existsSync(join(tree, file))) return names
  seen.add(file)
  const text = readFileSync(join(tree, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "")
  for (const [, list] of text.matchAll(/export (?:type )?\{([^}]*)\}/g))
    for (const one of list!.split(",")) names.add(one.trim().split(/\s+/).at(-1)!)
  const declared = /export (?:declare |abstract |async )*(?:const|function\*?|class|interface|type|enum) (\w+)/g
  for (const [, name] of text.matchAll(declared)) names.add(name!)
  for (const [, from] of text.matchAll(/export (?:type )?\* from "([^"]+)"/g))
    for (const name of exportedNames(tree, sourceOf(file, from!), seen)) names.add(name)
  names.delete("")
  return names
}

function sourceOf(file: string, from: string): string {
  if (from.startsWith(".")) return join(dirname(file), from)
  return join("packages", from.replace("@toolwright/", ""), "src/index.ts")
}

/** Functions beyond one of the limits that `.ci/house` holds. */
function overLimit(tree: string, rule: string): number {
  const { stdout } = spawnSync(
    join(HERE, ".ci/checks/node_modules/.bin/oxlint"),
    ["-c", join(HERE, ".ci/house/limits.oxlintrc.json"), "-f", "json", "packages"],
    { cwd: tree, encoding: "utf8", maxBuffer: 1 << 26 },
  )
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] }
  return diagnostics.filter(
    ({ code, filename }) => code.includes(rule) && !/\.test\.ts$|\/(dist|fixtures|testing)\//.test(filename),
  ).length
}

/** Files outside the tools in which the telling name of a tool stands, comments apart. */
function filesThatNameTools(texts: ReadonlyMap<string, string>): number {
  const roots = [{ path: HERE, access: "read-only" as const }]
  const kits = [webKit(), blogKit(), databaseKit()]
  const names = createBuiltinTools({ roots, kits })
    .map(({ name }) => name)
    .filter((name) => name.includes("_"))
  const named = new RegExp(`["'\`](?:${names.join("|")})\\b`)
  return [...texts].filter(
    ([file, text]) =>
      !/^packages\/tools(-\w+)?\//.test(file) && named.test(text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")),
  ).length
}

/** Groups of files of one room that reach each other by their imports. */
function circles(texts: ReadonlyMap<string, string>): number {
  const edges = new Map(
    [...texts].map(([file, text]) => {
      const found = [...text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)]
      return [file, found.map(([, to]) => join(dirname(file), to!)).filter((to) => texts.has(to))] as const
    }),
  )
  const reached = new Map([...edges.keys()].map((file) => [file, reachableFrom(file, edges)] as const))
  const groups = new Set<string>()
  for (const [file, all] of reached)
    if (all.has(file)) groups.add([...all].filter((other) => reached.get(other)!.has(file)).toSorted()[0]!)
  return groups.size
}

function reachableFrom(start: string, edges: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>()
  const queue = [...edges.get(start)!]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    queue.push(...edges.get(file)!)
  }
  return seen
}

/** Packages of others that the command installs, by way of our own packages too. */
function outsideDependencies(tree: string, start: string): number {
  const outside = new Set<string>()
  const seen = new Set<string>()
  const visit = (folder: string): void => {
    if (seen.has(folder)) return
    seen.add(folder)
    const { dependencies = {} } = JSON.parse(readFileSync(join(tree, folder, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>
    }
    for (const name of Object.keys(dependencies))
      if (name.startsWith("@toolwright/")) visit(join("packages", name.slice("@toolwright/".length)))
      else outside.add(name)
  }
  visit(start)
  return outside.size
}
