import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { bubblewrapArgv } from "./bubblewrap.ts"

test("a toolchain that PATH names is there as a whole, in whoever's home it lies", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-toolchain-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const paths = [".pyenv/shims", ".pyenv/libexec", ".cargo/bin", ".cargo/private", "tools/bin", "workspace"]
  for (const path of paths) mkdirSync(join(folder, path), { recursive: true })
  const root = join(folder, "workspace")
  const PATH = [".pyenv/shims", ".cargo/bin", "tools/bin"].map((path) => join(folder, path)).join(":")
  const argv = bubblewrapArgv("bwrap", ["true"], { root, cwd: root, env: { PATH } })
  const shown = argv.filter((each, at) => argv[at - 1] === "--ro-bind" && each.startsWith(folder))
  expect(shown.map((path) => path.slice(folder.length + 1))).toEqual([".pyenv", ".cargo/bin", "tools/bin"])
})

test.skipIf(process.platform !== "linux")(
  "a program has a sandbox of its own only where all that runs lies with the system's programs",
  () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-alone-")))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const own = join(folder, "git")
    writeFileSync(own, "")
    const isNarrow = (first: string, alone?: string, network = false) => {
      const plan = { root: folder, cwd: folder, env: {}, network, ...(alone === undefined ? {} : { alone }) }
      return !bubblewrapArgv("bwrap", [first], plan).includes("--proc")
    }
    expect(isNarrow("/bin/sh", "/bin/sh")).toBe(true)
    expect([isNarrow("/bin/sh"), isNarrow("/bin/sh", own), isNarrow(own, "/bin/sh")]).toEqual([false, false, false])
    expect(isNarrow("/bin/sh", "/bin/sh", true)).toBe(false)
  },
)
