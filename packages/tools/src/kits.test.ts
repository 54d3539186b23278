import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { splitActions, validate } from "@toolwright/toolbox"
import { describe, expect, it } from "vitest"
import { createBuiltinTools } from "./builtin.ts"
import { ALL_KITS } from "./testing/all-kits.ts"

const root = join(import.meta.dirname, "../../..")
const run = promisify(execFile)
const node = (args: string[], cwd: string) =>
  run(process.execPath, ["--conditions=toolwright-source", "--disable-warning=ExperimentalWarning", ...args], { cwd })

function cache(): string {
  const folder = join(root, "node_modules/.cache/docs")
  mkdirSync(folder, { recursive: true })
  return folder
}

const NAMES = [
  "get_github_pull_request_info",
  "web_search",
  "webscrape",
  "rss_feed",
  "static_links",
  "calendar",
  "analyze_prompt",
  "generate_outline",
  "expand_section",
  "assemble_content",
  "newsletter",
  "generate_social_posts",
  "blog_notion",
  "db_migrate",
  "db_status",
]
const tools = createBuiltinTools({ roots: [{ path: root, access: "read-only" }], kits: ALL_KITS, env: {} })

describe.each(NAMES)("%s", (name) => {
  const tool = tools.find((one) => one.name === name)!

  it("says what it is for, when to use it and when not, what it does to the world and what it gives", () => {
    expect(tool.usageHint).toMatch(/^Use when: .+ Don't use when: .+/s)
    expect(tool.description.length).toBeGreaterThan(40)
    expect(
      [tool.title, tool.effects, tool.outputSchema, tool.optionality, tool.category].includes(undefined as never),
    ).toBe(false)
    expect(tool.examples?.length).toBeGreaterThan(0)
    for (const property of Object.values(tool.parameters.properties ?? {})) expect(property).toHaveProperty("type")
  })

  it("has examples that its own schema accepts, with a branch and a single-action tool for each action", async () => {
    for (const { input } of tool.examples ?? [])
      expect([input, await validate(tool.parameters, input)]).toEqual([input, []])
    if (tool.actions === undefined) return
    expect(tool.parameters.oneOf?.map((branch) => branch.properties?.action?.const)).toEqual(
      tool.actions.list.map(({ action }) => action),
    )
    for (const single of splitActions(tool)) {
      expect(single.name).toMatch(new RegExp(`^${name}_[a-z_]+$`))
      expect(single.parameters.properties).not.toHaveProperty("action")
      for (const { input } of single.examples ?? [])
        expect([input, await validate(single.parameters, input)]).toEqual([input, []])
    }
  })
})

/** Makes the tools, and prints which packages were loaded for it. */
const LIST_IMPORTS = `
import { registerHooks } from "node:module"
const packages = new Set()
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(found.url)?.[1]
    if (name !== undefined) packages.add(name)
    return found
  },
})
const { createBuiltinTools } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "builtin.ts")).href)})
const { ALL_KITS } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "testing/all-kits.ts")).href)})
const tools = createBuiltinTools({ roots: [{ path: process.cwd(), access: "read-only" }], kits: ALL_KITS, env: {} })
if (process.argv[2] === "call") await tools.find(({ name }) => name === "rss_feed").handler({ action: "fetch", url: "http://127.0.0.1/" }, { signal: new AbortController().signal })
process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), packages: [...packages] }))
`

it("loads no package until a tool is called", async () => {
  const file = join(cache(), "list-imports.mjs")
  writeFileSync(file, LIST_IMPORTS)
  const { stdout } = await node([file], root)
  const seen = JSON.parse(stdout) as { tools: string[]; packages: string[] }
  expect(seen.tools).toEqual(expect.arrayContaining(NAMES))
  expect(seen.packages).toEqual([])
  expect(JSON.parse((await node([file, "call"], root)).stdout)).toMatchObject({
    packages: expect.arrayContaining(["ipaddr.js"]),
  })
})

it.each(["web-tools", "blog-tools", "database-tools"])(
  "the example of docs/%s.md prints what it says",
  async (page) => {
    const text = readFileSync(join(root, "docs", `${page}.md`), "utf8")
    const code = /^```ts\n([^]*?)^```/m.exec(text)?.[1] ?? ""
    const promised = [...code.matchAll(/^\/\/ ?(.*)$/gm)].map(([, line]) => line).join("\n")
    const folder = cache()
    writeFileSync(join(folder, `${page}.mjs`), stripTypeScriptTypes(code))
    const { stdout } = await node([join(folder, `${page}.mjs`)], folder)
    expect(promised.length).toBeGreaterThan(0)
    expect(stdout.trim()).toBe(promised)
  },
)
