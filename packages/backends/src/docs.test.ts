import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { built } from "../../cli/src/testing/built-command.ts"
import { DIALECTS } from "./openai-compatible/dialect.ts"
import { parseScreenplay } from "./scripted/load.ts"
import { SCREENPLAY_SCHEMA } from "./scripted/schema.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** The code blocks of a page in one language. */
function blocks(page: string, language: string): string[] {
  const text = readFileSync(join(root, "docs", page), "utf8")
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))].map((match) => match[1]!)
}

test.each(["backends.md", "screenplays.md"])(
  "the examples of %s run, and print what their comments say",
  async (page) => {
    const examples = blocks(page, "ts")
    expect(examples.length).toBeGreaterThan(2)
    await Promise.all(
      examples.map(async (code) => {
        const { stdout } = await run(code)
        const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1]!)
        expect(stdout.trimEnd().split("\n")).toEqual(said)
      }),
    )
  },
)

/** Runs a module where it finds the packages as a user's project would. */
async function run(code: string): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", code], {
    cwd: await built(),
  })
}

test("the screenplays of the page are screenplays", async () => {
  const examples = blocks("screenplays.md", "yaml")
  expect(examples).toHaveLength(2)
  for (const example of examples) expect((await parseScreenplay(example)).steps.length).toBeGreaterThan(1)
})

test("every key of a screenplay and every dialect is explained", () => {
  const page = readFileSync(join(root, "docs/screenplays.md"), "utf8")
  const keys = (schema: typeof SCREENPLAY_SCHEMA): string[] => Object.keys(schema.properties ?? {})
  const step = (SCREENPLAY_SCHEMA.properties!.steps!.items as typeof SCREENPLAY_SCHEMA).properties!
  const all = [...keys(SCREENPLAY_SCHEMA), ...Object.keys(step), ...keys(step.expect!), ...keys(step.reply!)]
  for (const key of all.filter((each) => each !== "$schema")) expect(page).toContain(key)
  const backends = readFileSync(join(root, "docs/backends.md"), "utf8")
  for (const dialect of DIALECTS) expect(backends).toContain(`| \`${dialect}\` |`)
})
