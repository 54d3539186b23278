import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs"
import { utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
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
  for (const folder of ["tests", "src", "node_modules/one/target", ".git"])
    mkdirSync(join(root, folder), { recursive: true })
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
  ["an installed one that lies where the work itself is not looked at", (root) => built(root, "node_modules/one/")],
  ["an empty folder more", (root) => mkdirSync(join(root, "src/empty"))],
  ["a folder that others may enter", (root) => chmodSync(join(root, "src"), 0o700)],
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

function built(root: string, folder: string): void {
  mkdirSync(join(root, folder, "target"), { recursive: true })
  writeFileSync(join(root, folder, "target/a.js"), "2")
}

const LINKS = [
  ["out of the work", "../../elsewhere", "src/link"],
  ["to a place that is named from the top", "/elsewhere", "src/link"],
  ["to what the copy is made without", "../target", "src/link"],
  ["from what is installed to what is built", "../../target", "node_modules/one/link"],
] as const

/** A workspace with a link that leads to a folder beside or in it. */
function linked(target: string, link: string): { root: string; led: string } {
  const top = mkdtempSync(join(tmpdir(), "toolwright-test-"))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const root = join(realpathSync(top), "work")
  renameSync(workspace(), root)
  const led = target.includes("target") ? root : dirname(root)
  built(root, "")
  mkdirSync(join(led, "elsewhere"))
  writeFileSync(join(led, "elsewhere/a.js"), "1")
  const shown = target.startsWith("/") ? join(led, target) : target
  symlinkSync(shown, join(root, link))
  symlinkSync(`${shown}/a.js`, join(root, `${link}.js`))
  return { root, led: join(led, target.includes("target") ? "target" : "elsewhere") }
}

test.each(LINKS)(
  "a link that leads %s: what it leads to is of the state, and no folder can be told",
  async (...which) => {
    const [, target, link] = which
    const { root, led } = linked(target, link)
    await settles()
    expect(await stateOfWork(root, never)).toBeUndefined()
    rmSync(join(root, link))
    const before = await settled(root)
    rewritten(join(led, "a.js"))
    expect(await settled(root)).not.toBe(before)
    rmSync(join(led, "a.js"))
    expect(await settled(root)).not.toBe(before)
  },
)

/** Until what was written before is no longer of this moment. */
const settles = async (): Promise<unknown> => settled(workspace())

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
