import { execFile } from "node:child_process"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"

/** Makes the tools of a configuration where some packages are not there, and says what there is and what was loaded. */
const PROGRAM = `
import { registerHooks } from "node:module"
const { builtins, wanted, absent } = JSON.parse(process.argv[1])
const loaded = new Set()
registerHooks({
  resolve(specifier, context, next) {
    if (absent.includes(specifier)) {
      const error = new Error("Cannot find package '" + specifier + "' imported from here")
      throw Object.assign(error, { code: "ERR_MODULE_NOT_FOUND" })
    }
    const kit = /^@toolwright\\/tools-(\\w+)$/.exec(specifier)?.[1]
    if (kit !== undefined) loaded.add(kit)
    return next(specifier, context)
  },
})
const { builtinTools } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "builtins.ts")).href)})
const { defaultConfiguration } = await import(
  ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "../configuration/index.ts")).href)}
)
const said = await builtinTools(defaultConfiguration({ builtins }), process.cwd(), { env: {}, wanted }).then(
  (tools) => ({ tools: tools.map(({ name }) => name) }),
  ({ code, message, hint }) => ({ code, message, hint }),
)
console.log(JSON.stringify({ ...said, loaded: [...loaded] }))
`

interface Said {
  tools?: string[]
  code?: string
  message?: string
  hint?: string
  loaded: string[]
}

async function made(builtins: object, { wanted, absent = [] }: { wanted?: string; absent?: string[] } = {}) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--conditions=toolwright-source",
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "--eval",
    PROGRAM,
    JSON.stringify({ builtins, wanted, absent }),
  ])
  return JSON.parse(stdout) as Said
}

test("what nobody chose is not loaded, the web's tools apart", async () => {
  const { tools, loaded } = await made({})
  expect(loaded).toEqual(["web"])
  expect(tools).toEqual(expect.arrayContaining(["read_text_file", "bash", "webscrape"]))
  expect(tools).not.toContain("db_migrate")
  expect(await made({ kits: [] })).toMatchObject({ loaded: [] })
})

test("a kit is chosen by its name, by its settings, and by a tool's name", async () => {
  expect((await made({ kits: ["blog"] })).loaded).toEqual(["blog"])
  const databases = { shop: { dsn: "sqlite:shop.db" } }
  const configured = await made({ kits: [], databases })
  expect(configured).toMatchObject({ loaded: ["database"], tools: expect.arrayContaining(["db_status"]) as string[] })
  expect((await made({ kits: [], only: ["rss_feed"] })).tools).toEqual(["rss_feed"])
  expect((await made({}, { wanted: "db_migrate_up" })).tools).toContain("db_migrate")
})

test("a tool that is left out adds nothing", async () => {
  expect((await made({ without: ["rss_feed", "bash"] })).tools).not.toContain("calendar")
  expect(await made({ without: ["rss_fed"] })).toMatchObject({
    code: "INVALID_CONFIGURATION",
    hint: expect.stringContaining("rss_feed") as string,
  })
})

test("a kit that is not installed is done without, or named with what installs it where it was chosen", async () => {
  const absent = ["@toolwright/tools-web", "@toolwright/tools-blog"]
  const { tools } = await made({}, { absent })
  expect(tools).toContain("read_text_file")
  expect(tools).not.toContain("webscrape")
  for (const builtins of [{ kits: ["blog"] }, { blog: { feeds: [] } }]) {
    expect(await made(builtins, { absent })).toMatchObject({
      code: "INVALID_CONFIGURATION",
      message: "The tools of the kit 'blog' are not installed.",
      hint: "Install them beside toolwright: npm install @toolwright/tools-blog",
    })
  }
  expect(await made({ kits: ["blogs"] })).toMatchObject({ hint: "Did you mean 'blog'?" })
})
