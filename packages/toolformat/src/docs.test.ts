import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { formatterOf, listFormats } from "./index.ts"
import { formatById } from "./selector/index.ts"

const DOCS = new URL("../../../docs/", import.meta.url)
const CACHE = new URL("../../../node_modules/.cache/docs/", import.meta.url)
const read = (page: string) => readFileSync(new URL(page, DOCS), "utf8")
const BEGIN = "<!-- generated: formats -->\n"
const END = "<!-- end -->"

/** The table of formats: what a call looks like is printed, not written down. */
function table(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", "⏎")
  const rows = listFormats().map((format) => {
    const call =
      format.apiOnly === undefined
        ? `\`${cell(formatterOf(format).printCalls([{ id: format.ids === "nine" ? "abcDEF123" : "0", name: "f", arguments: { k: "v" } }]))}\``
        : "in the API's own fields"
    const codecs =
      format.apiOnly === undefined ? [...new Set(format.calls.map((syntax) => syntax.codec))].join(", ") : ""
    return (
      `| \`${format.id}\` | ${format.aliases.map((alias) => `\`${alias}\``).join(", ")} | ` +
      `${cell(format.title.split(": ").at(-1) ?? "")} | ${codecs} | ${call} |`
    )
  })
  return (
    `| id | also | models | codecs | a call \`f(k="v")\` (⏎ is a line break) |\n| --- | --- | --- | --- | --- |\n` +
    `${rows.join("\n")}\n`
  )
}

it("the table of formats is what the code says (else: UPDATE_DOCS=1 and run this test again)", () => {
  const page = read("formats.md")
  const [before = "", rest = ""] = page.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  const made = `${before}${BEGIN}${table()}${after}`
  if (process.env.UPDATE_DOCS === "1") writeFileSync(new URL("formats.md", DOCS), made)
  expect(read("formats.md")).toBe(made)
})

it("the names that engines give are those of the formats that the page says", () => {
  const rows = /<!-- engines -->\n([^]*?)<!-- end of engines -->/.exec(read("formats.md"))?.[1] ?? ""
  const pairs = [...rows.matchAll(/((?:`[^`]+` )+)→ `([^`]+)`/g)].flatMap(([, names = "", id = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => [name, id]),
  )
  expect(pairs.length).toBeGreaterThan(90)
  expect(pairs.map(([name = ""]) => [name, formatById(name).id])).toEqual(pairs)
})

it("the example of adding a format runs and prints what its page says", () => {
  const page = read("adding-a-format.md")
  expect(runExample("adding-a-format", page)).toBe(blocksOf(page, "").at(-1))
})

it("the example of the package's README runs and reads the call", () => {
  const printed = runExample("toolformat-readme", readFileSync(new URL("../README.md", import.meta.url), "utf8"))
  expect(printed).toMatch(
    /text-delta[^]*call-start[^]*call: \{ id: 'call_0', name: 'get_forecast', arguments: \{ city: 'Zürich' \}/,
  )
})

function blocksOf(page: string, language: string): string[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].flatMap(([, named, text = ""]) =>
    named === language ? [text] : [],
  )
}

/** Runs the first block of TypeScript of a page as a module of the repository; answers what it printed. */
function runExample(name: string, page: string): string {
  mkdirSync(CACHE, { recursive: true })
  const file = fileURLToPath(new URL(`${name}.mjs`, CACHE))
  writeFileSync(file, stripTypeScriptTypes(blocksOf(page, "ts")[0] ?? ""))
  const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=toolwright-source", file], { encoding: "utf8" })
  expect(stderr).toBe("")
  return stdout
}
