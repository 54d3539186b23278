import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ToolRegistry } from "@toolwright/toolbox"
import { beforeEach, describe, expect, test } from "vitest"
import { createBuiltinTools } from "../index.ts"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "traps-"))
  mkdirSync(join(root, "sub/deep"), { recursive: true })
  mkdirSync(join(root, ".git/info"), { recursive: true })
  writeFileSync(join(root, "a.txt"), "needle\n")
  writeFileSync(join(root, "sub/deep/b.txt"), "needle\n")
  return () => rmSync(root, { recursive: true, force: true })
})

const TRAPS = {
  "a pipe": (path: string) => void execFileSync("mkfifo", [path]),
  "a device without end": (path: string) => symlinkSync("/dev/zero", path),
}

describe.skipIf(process.platform === "win32").each(Object.entries(TRAPS))("%s", (_what, lay) => {
  test.each([".gitignore", ".ignore", ".rgignore", ".git/info/exclude", "sub/.gitignore", "sub/deep/.ignore"])(
    "in the place of %s does not hold up a search",
    async (place) => {
      lay(join(root, place))
      const tools = new ToolRegistry()
      for (const tool of createBuiltinTools({ roots: [{ path: root, access: "read-only" }] })) tools.register(tool)
      for (const path of [root, join(root, "sub")]) {
        const result = await tools.execute("search", { action: "grep", pattern: "needle", path })
        expect(result.output).toContain("b.txt:1: needle")
      }
    },
  )
})
