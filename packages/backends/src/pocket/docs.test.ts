import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { built } from "../../../cli/src/testing/built-command.ts"
import { POCKET_TOOLS } from "./tools.ts"

const root = fileURLToPath(new URL("../../../../", import.meta.url))

const examples = [...readFileSync(join(root, "docs/pocket.md"), "utf8").matchAll(/^```ts\n([^]*?)^```/gm)].map(
  (match) => match[1]!,
)

test.each(examples.map((code, at) => [at + 1, code] as const))(
  "example %i of the page on the pocket model runs, and prints what its comment says",
  async (number, code) => {
    // The engine tries its binary in a process of its own with this one's flags, so the code must stand in a file.
    const folder = mkdtempSync(join(await built(), "docs-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, `pocket-${number}.mjs`)
    writeFileSync(file, code)
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root })
    const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1]!)
    expect(said.length).toBeGreaterThan(0)
    expect(stdout.trimEnd().split("\n")).toEqual(said)
  },
)

test("the model card names the tools that the model knows", () => {
  const card = readFileSync(join(root, "packages/pocket/README.md"), "utf8")
  expect([...card.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1])).toEqual(POCKET_TOOLS)
})
