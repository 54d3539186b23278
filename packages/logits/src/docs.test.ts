import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../../..")
const examples = ["grammars", "logits", "grounded-arguments"].flatMap((page) => {
  const text = readFileSync(join(root, "docs", `${page}.md`), "utf8")
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match, index) => ({
    name: `${page}-${index}`,
    code: match[1]!,
  }))
})

test.each(examples)("the example $name prints what its page says", ({ name, code }) => {
  const folder = join(root, "node_modules/.cache/docs")
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, stripTypeScriptTypes(code))
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--conditions=toolwright-source", file], {
    encoding: "utf8",
  })
  expect([status, stderr]).toEqual([0, expect.not.stringMatching(/Error/)])
  const expected = [...code.matchAll(/console\.log\(.*\) \/\/ ?(.*)$/gm)].map((match) => match[1])
  expect(stdout.replace(/\n$/, "").split("\n")).toEqual(expected)
})
