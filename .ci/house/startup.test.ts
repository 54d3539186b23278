import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const CLI = join(root, "packages/cli/src")

/** What a module of ours is where it is named by its package: the file of the sources. */
const entries = new Map(
  globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
      name: string
      exports?: Record<string, string | Record<string, string>>
    }
    return Object.entries(exports).flatMap(([path, to]) => {
      const source = typeof to === "string" ? undefined : to["toolwright-source"]
      return source === undefined ? [] : [[name + path.slice(1), join(root, dirname(file), source)] as const]
    })
  }),
)

/** The modules of ours that a module needs before it runs: neither types nor what it loads when it comes to that. */
function needed(file: string): string[] {
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
  const named = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^"'`;=()]*?\sfrom\s+)?["']([^"']+)["']/gm)
  return [...named].flatMap(([, name]) => {
    const found = name!.startsWith(".") ? join(dirname(file), name!) : entries.get(name!)
    return found === undefined || !existsSync(found) ? [] : [found]
  })
}

/** All that is loaded with these modules. */
function loadedWith(...files: readonly string[]): string[] {
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const each of needed(file)) load(each)
  }
  for (const file of files) load(file)
  return [...loaded].map((file) => relative(root, file))
}

/** Where agents, models and tools are: hundreds of modules, which take longer than all that a help needs. */
const LARGE = /^packages\/(?:agents|dialogue|logits|toolformat|tools|mcp|server)\//

const COMMANDS = [
  ...new Set(readFileSync(join(CLI, "commands/index.ts"), "utf8").match(/(?<=import\("\.\/)[\w-]+(?=\.ts")/g)),
].map((name) => [name, join(CLI, "commands", `${name}.ts`)] as const)

describe("a command's help loads none of the modules that agents, models and tools are made of", () => {
  test("which is seen of all commands", () => expect(COMMANDS.length).toBeGreaterThan(30))

  test.each(COMMANDS)("%s", (_, file) => {
    const loaded = loadedWith(join(CLI, "main.ts"), file)
    expect(loaded.filter((each) => LARGE.test(each))).toEqual([])
    expect(loaded.length, loaded.join("\n")).toBeLessThan(160)
  })
})

/** What of these rooms belongs to the record alone. */
const OF_RECORD = /^packages\/(?:agents\/src\/record|toolformat\/src\/model)\//

test("records are read without the modules that runs are made of", () => {
  const records = entries.get("@toolwright/runtime/records")!
  for (const name of ["runs", "audit", "db", "approvals"]) {
    const loaded = loadedWith(join(CLI, "main.ts"), join(CLI, `commands/${name}.ts`), records)
    expect(loaded).toContain("packages/agents/src/record/reader.ts")
    expect(loaded.filter((each) => LARGE.test(each) && !OF_RECORD.test(each))).toEqual([])
    expect(loaded.length, loaded.join("\n")).toBeLessThan(210)
  }
})
