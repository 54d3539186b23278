import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { formatterOf, listFormats } from "./index.ts"

const DOCS = new URL("../../../docs/", import.meta.url)
const CACHE = new URL("../../../node_modules/.cache/docs/", import.meta.url)
const read = (page: string) => readFileSync(new URL(page, DOCS), "utf8")
const BEGIN = "<!-- generated: formats -->\n"
const END = "<!-- end -->"

/** The table of formats: what a call looks like is printed, not written down. */
function table(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", "⏎")
  const rows = listFormats().map((format) => {
    const call = format.apiOnly === undefined ? `\`${cell(formatterOf(format).printCalls([{ id: format.ids === "nine" ? "abcDEF123" : "0", name: "f", args: { k: "v" } }]))}\`` : "in the API's own fields"
    const codecs = format.apiOnly === undefined ? [...new Set(format.calls.map((syntax) => syntax.codec))].join(", ") : ""
    return `| \`${format.id}\` | ${format.aliases.map((alias) => `\`${alias}\``).join(", ")} | ${cell(format.title.split(": ").at(-1) ?? "")} | ${codecs} | ${call} |`
  })
  return `| id | also | models | codecs | a call \`f(k="v")\` (⏎ is a line break) |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}\n`
}

it("the table of formats is what the code says (else: UPDATE_DOCS=1 and run this test again)", () => {
  const page = read("formats.md")
  const [before = "", rest = ""] = page.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  const made = `${before}${BEGIN}${table()}${after}`
  if (process.env.UPDATE_DOCS === "1") writeFileSync(new URL("formats.md", DOCS), made)
  expect(read("formats.md")).toBe(made)
})

it("the example of adding a format runs and prints what its page says", () => {
  const blocks = [...read("adding-a-format.md").matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
  const code = blocks.find(([, language]) => language === "ts")?.[2] ?? ""
  const printed = blocks.filter(([, language]) => language === "").at(-1)?.[2] ?? ""
  mkdirSync(CACHE, { recursive: true })
  const file = fileURLToPath(new URL("adding-a-format.mjs", CACHE))
  writeFileSync(file, stripTypeScriptTypes(code))
  const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=toolwright-source", file], { encoding: "utf8" })
  expect(stdout, stderr).toBe(printed)
})
