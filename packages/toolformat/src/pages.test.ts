import { readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { formatWithOptions } from "node:util"
import * as toolbox from "@toolwright/toolbox"
import { expect, test } from "vitest"
import * as toolformat from "./index.ts"

const MODULES: Record<string, object> = {
  "@toolwright/toolbox": toolbox,
  "@toolwright/toolformat": toolformat,
}

const pages = ["chat-templates", "schema-lowering"]
const examples = pages.flatMap((page) => {
  const text = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), "utf8")
  return [...text.matchAll(/^```ts\n([^]*?)^```/gm)].map((match, index) => ({ page, index, code: match[1]! }))
})

/** Runs an example with the modules above and gives what it printed. */
async function run(code: string): Promise<string> {
  const body = stripTypeScriptTypes(code).replace(
    /^import \{([^}]*)\} from "([^"]+)"$/gm,
    (_line, names: string, module: string) => `const {${names}} = modules["${module}"]`,
  )
  const lines: string[] = []
  const log = (...values: unknown[]): void => {
    lines.push(formatWithOptions({ breakLength: 120 }, ...values))
  }
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (modules: object, console: object) => Promise<void>
  await new AsyncFunction("modules", "console", body)(MODULES, { log })
  return lines.join("\n")
}

test.each(examples)("example $index of docs/$page.md prints what its comments say", async ({ code }) => {
  const said = [...code.matchAll(/^console\.log.*\n((?:\/\/ .*\n)+)/gm)].map((match) =>
    match[1]!.replace(/^\/\/ /gm, "").trimEnd(),
  )
  expect(said.length).toBeGreaterThan(0)
  const loose = (text: string): string => text.replace(/\s+/g, " ")
  expect(loose(await run(code))).toBe(loose(said.join("\n")))
})
