import { spawn, type ChildProcess } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { readFile, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { grep } from "../search/grep.ts"
import { createWorkspace, type Workspace } from "@toolwright/host/paths"

/** TOOLWRIGHT_FULL=1 runs as many attempts as the security target asks for; the default keeps the suite short. */
const FULL = process.env["TOOLWRIGHT_FULL"] === "1"
const ATTEMPTS = FULL ? 50_000 : 2_000
const SECRET = "SECRET outside\n"
const TIMEOUT = 300_000

let folder = ""
let root = ""
let outside = ""
let attacker: ChildProcess
let workspace: Workspace

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-race-")))
  root = join(folder, "ws")
  outside = join(folder, "outside")
  mkdirSync(root)
  mkdirSync(outside)
  writeFileSync(join(outside, "file.txt"), SECRET)
  workspace = createWorkspace({ roots: [{ path: root, access: "read-write" }], stateDirectory: join(folder, "state") })
  attacker = spawn(
    process.execPath,
    [fileURLToPath(import.meta.resolve("@toolwright/host/testing/link-attacker")), root, outside],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  )
  await new Promise<void>((resolve, reject) => {
    attacker.stdout!.once("data", () => resolve())
    attacker.once("exit", (code) => reject(new Error(`the attacker ended with ${code}`)))
  })
})
afterAll(() => {
  attacker.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Outcomes of many attempts, by what was got or the error's code. As the attacker may not get its turn for a while,
 * there are more of them until each of the wanted ones has come, up to a hundred times as many.
 */
async function attempt(
  count: number,
  once: () => Promise<string>,
  wanted: readonly string[] = [],
): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>()
  const isEnough = (index: number): boolean => index >= count && wanted.every((each) => outcomes.has(each))
  for (let index = 0; !isEnough(index) && index < 100 * count; index += 1) {
    const outcome = await once().catch((thrown: { code?: string }) => thrown.code ?? String(thrown))
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  return outcomes
}

describe.skipIf(process.platform !== "linux")("while another process swaps files for links to the outside", () => {
  test("reading a file never gives what lies outside", { timeout: TIMEOUT }, async () => {
    const read = async () => (await workspace.read("victim.txt")).bytes.toString()
    const outcomes = await attempt(ATTEMPTS, read, ["inside\n", "ACCESS_DENIED"])
    expect(outcomes.get(SECRET) ?? 0).toBe(0)
    expect(
      [...outcomes.keys()].filter((outcome) => !["inside\n", "ACCESS_DENIED", "NOT_FOUND"].includes(outcome)),
    ).toEqual([])
    expect(outcomes.get("inside\n")).toBeGreaterThan(0)
    expect(outcomes.get("ACCESS_DENIED")).toBeGreaterThan(0)
    if (FULL) console.log("read:", Object.fromEntries(outcomes))
  })

  test("reading below a directory that is swapped never gives what lies outside", { timeout: TIMEOUT }, async () => {
    const read = async () => (await workspace.read("dir/file.txt")).bytes.toString()
    const outcomes = await attempt(ATTEMPTS, read, ["inside\n"])
    expect(outcomes.get(SECRET) ?? 0).toBe(0)
    expect(outcomes.get("inside\n")).toBeGreaterThan(0)
    if (FULL) console.log("read below:", Object.fromEntries(outcomes))
  })

  test("the attack is one: resolving first and reading then gives the secret away", { timeout: TIMEOUT }, async () => {
    const naive = async (): Promise<string> => {
      const real = await realpath(join(root, "victim.txt"))
      if (!real.startsWith(`${root}/`)) throw Object.assign(new Error("denied"), { code: "ACCESS_DENIED" })
      return readFile(join(root, "victim.txt"), "utf8")
    }
    let leaks = 0
    for (let round = 0; round < 50 && leaks === 0; round += 1) leaks = (await attempt(1000, naive)).get(SECRET) ?? 0
    expect(leaks).toBeGreaterThan(0)
  })

  test("writing, making and deleting never touches what lies outside", { timeout: TIMEOUT }, async () => {
    const before = statSync(join(outside, "file.txt"))
    const write = async () => {
      await workspace.write("dir/file.txt", "inside\n")
      await workspace.makeDirectory("dir/made").catch(() => undefined)
      await workspace.removeDirectory("dir/made", true).catch(() => undefined)
      return "written"
    }
    const outcomes = await attempt(FULL ? 25_000 : 400, write, ["written"])
    expect(outcomes.get("written")).toBeGreaterThan(0)
    expect(readdirSync(outside)).toEqual(["file.txt"])
    expect(readFileSync(join(outside, "file.txt"), "utf8")).toBe(SECRET)
    expect(statSync(join(outside, "file.txt")).ino).toBe(before.ino)
    if (FULL) console.log("write:", Object.fromEntries(outcomes))
  })

  test("walking, listing and searching never shows what lies outside", { timeout: TIMEOUT }, async () => {
    const query = { pattern: "SECRET", fixed: true, ignoreCase: false, word: false, include: [], includeIgnored: true }
    mkdirSync(join(outside, "nested"))
    for (const name of ["only-outside.txt", "nested/only-outside.txt"]) writeFileSync(join(outside, name), SECRET)
    const seen = new Set<string>()
    for (let round = 0; round < (FULL ? 10_000 : 1000); round += 1) {
      await workspace.walk(".", ({ name }) => void seen.add(name)).catch(() => undefined)
      const listing = await workspace.list("dir", (entries) => entries).catch(() => undefined)
      for (const entry of listing?.entries ?? []) seen.add(entry.name)
      if (round % 100 !== 0) continue
      const { matches } = await grep(workspace, ".", query, { maxResults: 10, context: 0 })
      expect(matches.filter((match) => match.text.includes("SECRET"))).toEqual([])
    }
    for (const name of ["only-outside.txt", "nested"]) rmSync(join(outside, name), { recursive: true })
    expect(seen).toContain("victim.txt")
    expect(seen).not.toContain("only-outside.txt")
  })
})
