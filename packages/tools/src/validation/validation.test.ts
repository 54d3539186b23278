import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { describe, expect, test } from "vitest"
import { ToolRegistry, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { ProcessToolsConfig } from "@toolwright/host/process"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()
const GOOD = { "good.js": "export const x = 1\n", "good.test.js": 'require("node:test")("ok", () => {})\n' }

const validate = (fixture: WorkspaceFixture, args: JsonObject = {}) => callTool(fixture.tools.get("validation")!, args)
const statuses = (result: ToolResult) =>
  Object.fromEntries(
    (result.data as { checks: { name: string; status: string }[] }).checks.map((one) => [one.name, one.status]),
  )

function withHook(script: string, config: ProcessToolsConfig = {}): WorkspaceFixture {
  const fixture = workspaceFixture(GOOD, config)
  fixture.git("init", "--quiet")
  mkdirSync(join(fixture.root, ".git/hooks"), { recursive: true })
  writeFileSync(join(fixture.root, ".git/hooks/pre-commit"), script)
  chmodSync(join(fixture.root, ".git/hooks/pre-commit"), 0o755)
  return fixture
}

describe("validation", () => {
  test("makes all checks without an operation, and one with", async () => {
    using fixture = workspaceFixture(GOOD)
    const all = await validate(fixture)
    expect(all.success).toBe(true)
    expect(statuses(all)).toEqual({
      syntax: "passed",
      tests: "passed",
      "file-length": "passed",
      "pre-commit": "skipped",
    })
    expect(statuses(await validate(fixture, { operation: "all" }))).toEqual(statuses(all))
    expect(statuses(await validate(fixture, { operation: "file-length" }))).toEqual({ "file-length": "passed" })
  })

  test("calls what is not configured skipped, never passed", async () => {
    using fixture = workspaceFixture({ "notes.md": "x" })
    const result = await validate(fixture)
    expect(statuses(result)).toEqual({
      syntax: "skipped",
      tests: "skipped",
      "file-length": "skipped",
      "pre-commit": "skipped",
    })
    expect(result.output).toMatch(/tests: SKIPPED: not configured/u)
  })

  test("names file and line of a syntax error, in each language", async () => {
    using fixture = workspaceFixture({
      "a.py": "x = 1\ndef f(:\n    pass\n",
      "b.ts": "const a = 1\nconst b: = 2\n",
      "c.json": '{\n  "a": 1,\n}\n',
      "d.js": "let x: number = 1\n",
    })
    const result = await validate(fixture, { operation: "syntax", file_paths: ["b.ts", "c.json", "d.js"] })
    expect(result.success).toBe(false)
    expect((result.data as { errors: unknown[] }).errors).toMatchObject([
      { check: "syntax", file: "b.ts", line: 2 },
      { check: "syntax", file: "c.json" },
      { check: "syntax", file: "d.js", line: 1, message: expect.stringContaining("TypeScript") as string },
    ])
    const python = await validate(fixture, { operation: "syntax", file_paths: ["a.py"] })
    if (statuses(python).syntax !== "skipped")
      expect((python.data as { errors: unknown[] }).errors).toMatchObject([{ file: "a.py", line: 2 }])
  })

  test("refuses files that are too long; the limit is configured", async () => {
    using fixture = workspaceFixture(
      { "long.ts": "x()\n".repeat(21), "short.ts": "x()\n".repeat(20) },
      { validation: { maxLines: 20 } },
    )
    const result = await validate(fixture, { operation: "file-length" })
    expect((result.data as { errors: unknown[] }).errors).toEqual([
      { check: "file-length", file: "long.ts", message: "long.ts has 21 lines; at most 20 are allowed. Split it." },
    ])
  })

  test("takes a folder for its source files", async () => {
    using fixture = workspaceFixture({
      "src/deep/bad.ts": "const = 1\n",
      "src/good.ts": "",
      "other/bad.ts": "const = 1\n",
    })
    const result = await validate(fixture, { operation: "syntax", file_paths: ["src"] })
    expect((result.data as { errors: unknown[] }).errors).toMatchObject([{ file: "src/deep/bad.ts" }])
  })

  test("does not pass a file that is not there, nor look outside", async () => {
    using fixture = workspaceFixture(GOOD)
    expect(await validate(fixture, { file_paths: ["missing.js"] })).toMatchObject({
      success: false,
      error: { code: "NOT_FOUND" },
    })
    expect(await validate(fixture, { file_paths: ["../x.js"] })).toMatchObject({
      success: false,
      error: { code: "ACCESS_DENIED" },
    })
  })

  test("understands the spellings that models use", async () => {
    using fixture = workspaceFixture(GOOD)
    const registry = new ToolRegistry()
    registry.register(fixture.tools.get("validation")!)
    for (const args of [
      { file_path: "good.js" },
      { files: ["good.js"], action: "syntax" },
      { file_paths: "good.js" },
    ]) {
      const result = await registry.execute("validation_tool", args)
      expect({ args, error: result.error }).toEqual({ args, error: undefined })
    }
    const wrong = await registry.execute("validation", { operation: "lint" })
    expect(wrong.success).toBe(false)
    expect(wrong.output).toMatch(/syntax.*tests.*file-length.*pre-commit/su)
  })
})

describe("the pre-commit check", () => {
  test("passes and fails with the hook, and shows what it said", async () => {
    using good = withHook("#!/bin/sh\nexit 0\n")
    expect(statuses(await validate(good))).toMatchObject({ "pre-commit": "passed" })
    using bad = withHook("#!/bin/sh\necho 'line 3 is ugly'; exit 1\n")
    const result = await validate(bad)
    expect(statuses(result)).toMatchObject({ "pre-commit": "failed" })
    expect(result.output).toContain("line 3 is ugly")
  })

  test("tells which files a hook changed", async () => {
    using fixture = withHook("#!/bin/sh\necho 'export const x = 2' > good.js\n")
    const result = await validate(fixture, { operation: "pre-commit" })
    expect(result).toMatchObject({ success: true, modifiedFiles: ["good.js"] })
    expect(result.output).toContain("It changed good.js")
  })

  test.skipIf(program === undefined)("contains a hook: it sees and changes nothing outside the workspace", async () => {
    using fixture = withHook("#!/bin/sh\ntouch ../escaped; cat ../secret.txt; echo evil >> .git/config; env\n")
    writeFileSync(join(fixture.root, "../secret.txt"), "SECRET")
    process.env.TOOLWRIGHT_CANARY_HOOK = "canary-hook"
    const result = await validate(fixture, { operation: "pre-commit" })
    delete process.env.TOOLWRIGHT_CANARY_HOOK
    expect(existsSync(join(fixture.root, "../escaped"))).toBe(false)
    expect(JSON.stringify(result)).not.toMatch(/SECRET|canary-hook/u)
    expect(readFileSync(join(fixture.root, ".git/config"), "utf8")).not.toContain("evil")
  })

  test("finds hooks where the repository says, but only inside the workspace", async () => {
    using fixture = withHook("#!/bin/sh\nexit 1\n")
    fixture.write({ "hooks/pre-commit": "#!/bin/sh\necho from the configured folder; exit 1\n" })
    chmodSync(join(fixture.root, "hooks/pre-commit"), 0o755)
    fixture.git("config", "core.hooksPath", "hooks")
    expect((await validate(fixture, { operation: "pre-commit" })).output).toContain("from the configured folder")
  })

  test("does not pass when pre-commit is configured but missing", async () => {
    using fixture = workspaceFixture({ ...GOOD, ".pre-commit-config.yaml": "repos: []\n" })
    const path = process.env.PATH
    process.env.PATH = "/nonexistent"
    const result = await validate(fixture, { operation: "pre-commit" })
    process.env.PATH = path
    expect(result.output).toMatch(/pre-commit is not installed/u)
    expect(result.success).toBe(false)
  })

  test.each([
    ["a folder of the workspace", (root: string) => join(root, "bin")],
    ["packages that the folder brings along", (root: string) => join(root, "../node_modules/.bin")],
  ])("starts no pre-commit from %s on the PATH", async (_, folderOn) => {
    using fixture = workspaceFixture({ ...GOOD, ".pre-commit-config.yaml": "repos: []\n" })
    const path = process.env.PATH
    const folder = folderOn(fixture.root)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "pre-commit"), `#!/bin/sh\ntouch ${fixture.root}/started\n`)
    chmodSync(join(folder, "pre-commit"), 0o755)
    process.env.PATH = [folder, "/nonexistent"].join(delimiter)
    try {
      const result = await validate(fixture, { operation: "pre-commit" })
      expect(result.output).toMatch(/not installed outside of the workspace/u)
    } finally {
      process.env.PATH = path
    }
    expect(existsSync(join(fixture.root, "started"))).toBe(false)
  })
})
