import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createWorkspace } from "@toolwright/host/paths"
import { createProcessHost } from "@toolwright/host/process"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { expect, onTestFinished, test } from "vitest"
import { readCheckFiles } from "./check-files.ts"
import { runEarlierChecks } from "./earlier-checks.ts"

const { program } = await probeBubblewrap()
const SECRET = "whatTheDeniedFileSays"

/** Shows what stands in a file, as any test of a model's making could. */
const showing = (file: string): string => `
import { existsSync, readFileSync } from "node:fs"
import { test } from "node:test"
const path = ${JSON.stringify(file)}
test("shows", () => {
  throw new Error(existsSync(path) ? readFileSync(path, "utf8") : "there is no such file")
})
`

async function reported(file: string, lay: (root: string, outside: string) => void): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-test-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [root, outside] = [join(folder, "work"), join(folder, "outside")]
  const files = {
    "work/package.json": '{ "type": "module", "scripts": { "test": "node --test" } }',
    "work/tests/one.test.js": showing(file),
    "work/open.txt": SECRET,
    "work/private/secret.txt": SECRET,
    "outside/secret.txt": SECRET,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  lay(root, outside)
  const workspace = createWorkspace({ roots: [{ path: root, access: "read-write" }], denyRead: ["private/*"] })
  const never = new AbortController().signal
  const before = await readCheckFiles(root, never)
  return (await runEarlierChecks(createProcessHost(workspace, {}), before, before, never)).report
}

const CASES: readonly [string, string, (root: string, outside: string) => void][] = [
  ["a denied file", "private/secret.txt", () => {}],
  [
    "another name of a denied file",
    "other.txt",
    (root) => linkSync(join(root, "private/secret.txt"), join(root, "other.txt")),
  ],
  [
    "what a link in place of installed packages leads to",
    "node_modules/secret.txt",
    (root, outside) => symlinkSync(outside, join(root, "node_modules")),
  ],
]

test.skipIf(program === undefined).each(CASES)("%s is no part of the work that checks are run on", async (...given) => {
  const [, file, lay] = given
  const report = await reported(file, lay)
  expect(report).not.toContain(SECRET)
  expect(report).toMatch(/no such file|ENOENT/)
})

test.skipIf(program === undefined)("what tools may read, and what is installed in the workspace, is", async () => {
  expect(await reported("open.txt", () => {})).toContain(SECRET)
  const installed = (root: string): void => {
    mkdirSync(join(root, "node_modules"))
    writeFileSync(join(root, "node_modules/mine.txt"), SECRET)
  }
  expect(await reported("node_modules/mine.txt", installed)).toContain(SECRET)
})
