import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fileFixture } from "../testing/file-fixture.ts"
import { createWorkspace } from "@toolwright/host/paths"

/** TOOLWRIGHT_FULL=1 kills as often as the target asks for; the default keeps the suite short. */
const KILLS = process.env["TOOLWRIGHT_FULL"] === "1" ? 500 : 6
const LINES = 3000

/** Starts a writer and kills it at some moment while it writes. */
async function writeUntilKilled(root: string, state: string): Promise<void> {
  const writer = spawn(
    process.execPath,
    ["--conditions=toolwright-source", join(import.meta.dirname, "../testing/restless-writer.ts"), root, state],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  )
  let complaint = ""
  writer.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()))
  await new Promise<void>((resolve, reject) => {
    writer.stdout.once("data", () => setTimeout(() => writer.kill("SIGKILL"), Math.random() * 25))
    writer.once("close", (_, signal) =>
      signal === "SIGKILL" ? resolve() : reject(new Error(`The writer ended by itself: ${complaint}`)),
    )
  })
}

test(
  `a file is whole after kill -9 at any moment, ${KILLS} times, and the next start leaves nothing of it`,
  { timeout: 3_600_000 },
  async () => {
    using files = fileFixture({
      "edited.txt": "version 0 of the file\n".repeat(LINES),
      "written.txt": "version 0 of the file\n".repeat(LINES),
    })
    const state = join(files.folder, "state")
    let debris = 0
    let removed = 0
    for (let kill = 0; kill < KILLS; kill += 1) {
      await writeUntilKilled(files.root, state)
      for (const name of ["written.txt", "edited.txt"]) {
        const lines = files.text(name).split("\n")
        expect(lines).toHaveLength(LINES + 1)
        expect(new Set(lines.slice(0, -1)).size).toBe(1)
      }
      debris += readdirSync(files.root).length - 2
      const next = createWorkspace({ roots: [{ path: files.root, access: "read-write" }], stateDirectory: state })
      removed += await next.recover()
      expect(readdirSync(files.root).sort()).toEqual(["edited.txt", "written.txt"])
      expect(readdirSync(join(state, "writes"))).toEqual([])
    }
    expect(removed).toBe(debris)
    if (KILLS > 100) {
      expect(debris).toBeGreaterThan(0)
      console.log(`${KILLS} kills left ${debris} temporary files, all removed`)
    }
  },
)

test("before the first change, recovery removes only what dead processes of this tool left in directories that may be written", async () => {
  using files = fileFixture({})
  const state = join(files.folder, "state")
  const journal = join(state, "writes")
  mkdirSync(journal, { recursive: true })
  mkdirSync(join(files.folder, "outside"))
  const dead = "999999999-123"
  const debris = `.toolwright-${dead}-abc.tmp`
  const alive = `.toolwright-${process.pid}-0-abc.tmp`
  for (const directory of [files.root, join(files.folder, "outside")]) {
    for (const name of [debris, alive, ".toolwright-1-2-x.tmp", "kept.tmp"]) writeFileSync(join(directory, name), "")
  }
  writeFileSync(
    join(journal, dead),
    [files.root, join(files.folder, "outside"), join(files.folder, "gone")]
      .map((path) => JSON.stringify(path))
      .join("\n"),
  )
  writeFileSync(join(journal, `${process.pid}-0`), JSON.stringify(files.root))
  await files.workspace.write("first-change.txt", "")
  expect(readdirSync(files.root).sort()).toEqual(
    [".toolwright-1-2-x.tmp", alive, "first-change.txt", "kept.tmp"].sort(),
  )
  expect(await files.workspace.recover()).toBe(1)
  expect(readdirSync(join(files.folder, "outside"))).toContain(debris)
  expect(readdirSync(journal)).toHaveLength(3)
  // What is cleaned or gone is not looked at again by every start that comes; what could not be cleaned is.
  expect(readFileSync(join(journal, dead), "utf8")).toBe(`${JSON.stringify(join(files.folder, "outside"))}\n`)
})
