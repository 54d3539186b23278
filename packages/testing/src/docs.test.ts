import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { beforeAll, expect, test } from "vitest"

const root = join(import.meta.dirname, "../../..")
const page = readFileSync(join(root, "docs/testing.md"), "utf8")
const examples = [...page.matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)
const printed: string[] = []

/** All in one process, as modules of the repository, so that they find the packages as a user's project would. */
beforeAll(() => {
  const cache = join(root, "node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "testing-"))
  try {
    for (const [at, code] of examples.entries()) writeFileSync(join(folder, `${at}.mjs`), stripTypeScriptTypes(code))
    const all = examples.map((_, at) => `await import("./${at}.mjs"); console.log("\\0")`).join("\n")
    writeFileSync(join(folder, "all.mjs"), all)
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--conditions=toolwright-source", join(folder, "all.mjs")],
      { encoding: "utf8" },
    )
    printed.push(...stdout.split("\0\n"), stderr)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("the page has examples", () => expect(examples.length).toBeGreaterThan(7))

test.each(examples.map((code, at) => [at + 1, code] as const))(
  "example %i of the page runs, and prints what its comments say",
  (number, code) => {
    const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1]!)
    expect(said.length).toBeGreaterThan(0)
    expect(printed[number - 1]?.trimEnd().split("\n"), printed.at(-1)).toEqual(said)
  },
)

test("every name that the package gives is on the page", async () => {
  const names = Object.keys(await import("./index.ts")).filter(
    (name) => !["isTestModel", "parseScreenplay"].includes(name),
  )
  expect(names.filter((name) => !page.includes(`${name}(`) && !page.includes(`\`${name}\``))).toEqual([])
})
