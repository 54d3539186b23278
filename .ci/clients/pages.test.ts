import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { afterAll, expect, test } from "vitest"
import { compilerLines } from "../house/compiler.ts"
import { blocks, runExample } from "../house/run-example.ts"

const folder = join(import.meta.dirname, "node_modules/.cache/pages")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The SDK by the name that its users have for it. */
const asInstalled = (code: string): string => code.replace(/from "ai(\/test)?"/g, 'from "ai-7$1"')

const [example] = blocks("docs/ai-sdk.md", "ts")
const [ours, theirs] = blocks("docs/from-the-ai-sdk.md", "ts")

test("the example of docs/ai-sdk.md prints what its comments say", async () => {
  const said = [...example!.matchAll(/^console\.log.*\n((?:\/\/ .*\n)+)/gm)].map(([, lines]) =>
    lines!.replace(/^\/\/ /gm, "").trimEnd(),
  )
  expect(said.length).toBeGreaterThan(0)
  const loose = (text: string): string => text.replace(/\s+/g, " ").trim()
  expect(loose(await runExample("ai-sdk", asInstalled(example!), folder))).toBe(loose(said.join("\n")))
})

test("both programs of docs/from-the-ai-sdk.md have no error of types, and a mistake in either is one", () => {
  const programs = { ours: ours!, theirs: asInstalled(theirs!) }
  // Checked at once: each run of the compiler reads all the sources that they import.
  const files = Object.entries(programs).flatMap(([name, code]) => [
    [`${name}.ts`, code],
    [`wrong-${name}.ts`, code.replace("celsius[0]", "kelvin[0]")],
  ])
  expect(errorsOf(Object.fromEntries(files) as Record<string, string>)).toEqual([
    expect.stringMatching(/\bwrong-ours\.ts\(/),
    expect.stringMatching(/\bwrong-theirs\.ts\(/),
  ])
})

test("the program with the AI SDK prints what ours prints, over the same server", async () => {
  const steps = [
    { reply: { calls: [{ name: "forecast", arguments: { city: "Bern" } }] } },
    { expect: { result: "4" }, reply: '{"coat": true, "why": "It has 4 degrees."}' },
  ]
  await using server = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const program = `globalThis.AI_SDK_LOG_WARNINGS = false\n${asInstalled(theirs!)}`
  const over = program.replace("http://localhost:8080/v1", server.baseUrl)
  expect(await runExample("theirs", over, folder)).toBe("degrees: 4\nyes: It has 4 degrees.\n")
})

/** What the compiler says of these two files; of the sources that they import it is asked elsewhere. */
function errorsOf(files: Readonly<Record<string, string>>): string[] {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.json", include: Object.keys(files) }),
  )
  return compilerLines(folder)
    .filter((line) => /(ours|theirs)\.ts\(.*error TS/.test(line))
    .toSorted()
}
