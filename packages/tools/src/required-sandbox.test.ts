import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "./testing/workspace-fixture.ts"

// In a file of its own: whether there is a sandbox is found out once for the process.
let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-required-"))
  writeFileSync(join(folder, "bwrap"), "#!/bin/sh\nexit 1\n")
  chmodSync(join(folder, "bwrap"), 0o755)
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

test.each([
  ["bash", { command: "touch ran" }],
  ["test", { framework: "node", files: ["a.test.js"] }],
  ["validation", { operation: "tests" }],
  ["git", { action: "status" }],
  ["git", { action: "commit", message: "x" }],
])("where a sandbox is required and there is none, %s %j starts nothing", async (name, args) => {
  using fixture = workspaceFixture(
    { "a.test.js": 'import { writeFileSync } from "node:fs"\nwriteFileSync("ran", "")\n', "package.json": "{}" },
    { sandbox: "required" },
  )
  fixture.gits(["init", "--quiet"], ["add", "."])
  const result = await callTool(fixture.tools.get(name)!, args)
  expect(result).toMatchObject({ success: false })
  expect(JSON.stringify(result)).toContain("there is no sandbox: bubblewrap is installed but cannot start here")
  expect(existsSync(join(fixture.root, "ran"))).toBe(false)
  expect(fixture.git("rev-list", "--all", "--count")).toBe("0\n")
})
