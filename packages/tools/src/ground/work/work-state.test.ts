import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs"
import { utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createWorkspace } from "@toolwright/host/paths"
import { createProcessHost } from "@toolwright/host/process"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { expect, onTestFinished, test, vi } from "vitest"
import { noteChecks } from "./baseline.ts"
import { stateOfWork } from "./work-state.ts"

const { program } = await probeBubblewrap()
const never = new AbortController().signal

/** A check that fails with other words each time that it runs. */
const CHECK =
  'import { test } from "node:test"\n\ntest("never the same", () => {\n  throw new Error(`said ${Math.random()}`)\n})\n'

function workspace(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-test-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ["tests", "src", "node_modules/one", ".git"]) mkdirSync(join(root, folder), { recursive: true })
  const files = { "tests/one.test.js": CHECK, "src/a.js": "1", "node_modules/one/a.js": "1", "package.json": "{}" }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return root
}

/** The state as it is once what was written is no longer of this moment. */
const settled = (root: string): Promise<string> =>
  vi.waitFor(async () => {
    const state = await stateOfWork(root, never)
    expect(state).toBeDefined()
    return state!
  })

test.each<[string, (root: string) => void]>([
  ["a file of other content and the same size, with its old times set", (root) => rewritten(join(root, "src/a.js"))],
  ["an installed one", (root) => rewritten(join(root, "node_modules/one/a.js"))],
  ["a file more", (root) => writeFileSync(join(root, "src/b.js"), "")],
  ["a file less", (root) => rmSync(join(root, "src/a.js"))],
  ["another name", (root) => renameSync(join(root, "src/a.js"), join(root, "src/b.js"))],
])("%s is another state", async (_, change) => {
  const root = workspace()
  const before = await settled(root)
  expect(await stateOfWork(root, never)).toBe(before)
  change(root)
  expect(await stateOfWork(root, never)).not.toBe(before)
  expect(await settled(root)).not.toBe(before)
})

function rewritten(path: string): void {
  const { atime, mtime } = statSync(path)
  writeFileSync(path, "2")
  utimesSync(path, atime, mtime)
}

test("the repository's own files are none of the work", async () => {
  const root = workspace()
  const before = await settled(root)
  writeFileSync(join(root, ".git/index"), "")
  expect(await stateOfWork(root, never)).toBe(before)
})

test("what was written just now, and what is installed elsewhere, has no state that can be told", async () => {
  const root = workspace()
  await settled(root)
  writeFileSync(join(root, "src/a.js"), "2")
  expect(await stateOfWork(root, never)).toBeUndefined()
  await settled(root)
  renameSync(join(root, "node_modules"), join(root, "elsewhere"))
  symlinkSync("elsewhere", join(root, "node_modules"))
  expect(await stateOfWork(root, never)).toBeUndefined()
})

test.skipIf(program === undefined)("the checks as they were run once for each state of the work", async () => {
  const root = workspace()
  const host = createProcessHost(createWorkspace({ roots: [{ path: root, access: "read-write" }] }), {})
  const baseline = await noteChecks(host, never)
  writeFileSync(join(root, "tests/one.test.js"), CHECK.replace("throw", "return"))
  const said = async () => {
    await settled(root)
    const { passed, report } = (await baseline.compare(never))!
    expect(passed).toBe(false)
    return /said 0\.\d+/.exec(report)![0]
  }
  const first = await said()
  expect(await said()).toBe(first)
  writeFileSync(join(root, "src/a.js"), "2")
  const second = await said()
  expect(second).not.toBe(first)
  // A hook lies beside the work, and is one of the checks all the same.
  mkdirSync(join(root, ".git/hooks"))
  writeFileSync(join(root, ".git/hooks/pre-commit"), "exit 1\n")
  expect(await said()).not.toBe(second)
  expect(await said()).not.toBe(first)
})
