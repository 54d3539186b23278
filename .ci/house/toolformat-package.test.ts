import { execFileSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { bundleForBrowser, EXPECTED, packAndInstall, runAsBrowser, useInNode } from "../../bench/toolformat-package.ts"

const root = join(import.meta.dirname, "../..")

test("the formats stand alone: packed, installed in an empty folder, used in Node and in a browser", async () => {
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b", "packages/toolformat"], {
    cwd: root,
  })
  const { folder } = packAndInstall()
  try {
    expect(useInNode(folder)).toBe(EXPECTED)
    expect(runAsBrowser(await bundleForBrowser(folder))).toBe(EXPECTED)
    expect(existsSync(join(folder, "node_modules/@toolwright/toolformat/src"))).toBe(false)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
