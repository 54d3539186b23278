import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { createPresetRegistry, SAFETY_CATEGORIES, SAFETY_LEVELS } from "./index.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const page = readFileSync(new URL("../../../docs/sampling.md", import.meta.url), "utf8")

test("the examples of the page on sampling run, and print what their comments say", async () => {
  const examples = [...page.matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)
  expect(examples.length).toBeGreaterThan(6)
  await Promise.all(
    examples.map(async (code) => {
      const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=toolwright-source", "--input-type=module-typescript", "--eval", code], { cwd: root })
      expect(stdout.trimEnd().split("\n")).toEqual([...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1]!))
    }),
  )
})

test("every preset, safety level and category is on the page", () => {
  for (const { name } of createPresetRegistry().list()) expect(page).toContain(`| \`${name}\` |`)
  for (const word of [...SAFETY_CATEGORIES, ...SAFETY_LEVELS]) expect(page).toContain(`\`${word}\``)
})
