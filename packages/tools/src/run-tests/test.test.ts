import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "../testing/workspace-fixture.ts"
import { detectFrameworks, type Framework } from "./detect.ts"
import type { TestFailure } from "./report.ts"

const works = (...argv: [string, ...string[]]) => {
  try {
    execFileSync(argv[0], argv.slice(1), { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const hasPython = works("python3", "-c", "0")
const hasPytest = works("python3", "-c", "import pytest")
const hasCargo = works("cargo", "--version") && works("rustc", "--version")

interface Report {
  framework: Framework
  passed: number
  failed: number
  skipped: number
  failures: TestFailure[]
}

const NODE_TEST = `import { test, describe, it } from "node:test"
import assert from "node:assert/strict"
import { mean } from "../mean.js"

test("mean of two", () => {
  console.log("noise from a test")
  assert.equal(mean([1, 3]), 2)
})
describe("edge cases", () => {
  it("of none", () => assert.equal(mean([]), 0))
  it.skip("later", () => {})
  it("of one", () => assert.equal(mean([7]), 7))
})
`
const MEAN = "export const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length\n"

describe("the test tool runs", () => {
  test("node's runner", async () => {
    using fixture = workspaceFixture({
      "package.json": '{ "type": "module" }',
      "mean.js": MEAN,
      "test/mean.test.js": NODE_TEST,
    })
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result).toMatchObject({ success: false, error: { code: "TESTS_FAILED", message: "1 of 3 tests failed." } })
    const report = result.data as Report
    expect(report).toMatchObject({ framework: "node", passed: 2, failed: 1, skipped: 1 })
    expect(report.failures[0]).toMatchObject({ name: "of none", file: "test/mean.test.js", line: 10 })
    expect(report.failures[0]!.message).toContain("NaN")
    expect(result.output).toMatch(/^node: 2 passed, 1 failed, 1 skipped\.\nFAILED of none \(test\/mean\.test\.js:10\)/u)
    fixture.write({ "mean.js": MEAN.replace("values.reduce", "values.length === 0 ? 0 : values.reduce") })
    expect(await callTool(fixture.tools.get("test")!, {})).toMatchObject({
      success: true,
      data: { passed: 3, failed: 0 },
    })
    expect((await callTool(fixture.tools.get("test")!, { name: "of one" })).data).toMatchObject({ passed: 1 })
  })

  test("node's runner on TypeScript, and tells a file that cannot be loaded", async () => {
    using fixture = workspaceFixture({
      "a.test.ts": 'import { test } from "node:test"\nconst x: number = 1\ntest("typed", () => {})\n',
      "b.test.ts": "import './missing.ts'\n",
    })
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result.data).toMatchObject({ framework: "node", passed: 1, failed: 1 })
    expect((result.data as Report).failures[0]!.file).toBe("b.test.ts")
  })

  test.skipIf(!hasPython)("unittest", async () => {
    using fixture = workspaceFixture({
      "mean.py": "def mean(values):\n    return sum(values) / len(values)\n",
      "tests/test_mean.py":
        "import unittest\nfrom mean import mean\n\nclass MeanTest(unittest.TestCase):\n    def test_two(self):\n " +
        "       print('noise')\n        self.assertEqual(mean([1, 3]), 2)\n    def test_none(self):\n        " +
        "self.assertEqual(mean([]), 0)\n    @unittest.skip('later')\n    def test_later(self): pass\n    def " +
        "test_wrong(self):\n        self.assertEqual(mean([1]), 2, 'mean of one')\n",
    })
    const report = (await callTool(fixture.tools.get("test")!, {})).data as Report
    expect(report).toMatchObject({ framework: "unittest", passed: 1, failed: 2, skipped: 1 })
    expect(report.failures).toMatchObject([
      {
        name: "test_mean.MeanTest.test_none",
        file: "mean.py",
        line: 2,
        message: "ZeroDivisionError: division by zero",
      },
      {
        name: "test_mean.MeanTest.test_wrong",
        file: "tests/test_mean.py",
        line: 13,
        message: "1.0 != 2 : mean of one",
      },
    ])
    expect((await callTool(fixture.tools.get("test")!, { name: "test_two" })).data).toMatchObject({
      passed: 1,
      failed: 0,
    })
    expect(
      (await callTool(fixture.tools.get("test")!, { framework: "python", files: ["tests/test_mean.py"] })).data,
    ).toMatchObject({
      framework: "unittest",
      failed: 2,
    })
  })

  test.skipIf(!hasPython)("unittest on a module that cannot be imported", async () => {
    using fixture = workspaceFixture({ "tests/test_x.py": "import unittest\nimport no_such_module_here\n" })
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result.success).toBe(false)
    expect((result.data as Report).failures[0]!.message).toContain("no_such_module_here")
  })

  test.skipIf(!hasPytest)("pytest", async () => {
    using fixture = workspaceFixture({
      "mean.py": "def mean(values):\n    return sum(values) / len(values)\n",
      "conftest.py": "",
      "test_mean.py":
        "import pytest\nfrom mean import mean\n\ndef test_two():\n    assert mean([1, 3]) == 2\n\n" +
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_same(n):\n    assert mean([n]) == 1\n\n" +
        "@pytest.mark.skip\ndef test_later(): pass\n\ndef test_none():\n    mean([])\n",
    })
    const report = (await callTool(fixture.tools.get("test")!, {})).data as Report
    expect(report).toMatchObject({ framework: "pytest", passed: 2, failed: 2, skipped: 1 })
    expect(report.failures).toMatchObject([
      { name: "test_mean.py::test_same[2]", file: "test_mean.py", line: 9 },
      { name: "test_mean.py::test_none", file: "mean.py", line: 2, message: "ZeroDivisionError: division by zero" },
    ])
  })

  test.skipIf(!hasPytest)(
    "pytest, which is told what its user says of plugins, and nothing else of theirs",
    async () => {
      vi.stubEnv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
      vi.stubEnv("PYTEST_ADDOPTS", "--collect-only")
      using fixture = workspaceFixture({
        "test_told.py":
          "import os\n\ndef test_told():\n    assert [name for name in os.environ if name in " +
          '("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS")] == ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]\n',
      })
      const { success, output } = await callTool(fixture.tools.get("test")!, {})
      vi.unstubAllEnvs()
      expect(success, output).toBe(true)
    },
  )

  test("vitest", async () => {
    using fixture = workspaceFixture(
      {
        "package.json": '{ "type": "module", "scripts": { "test": "vitest run" } }',
        "a.test.js":
          'import { expect, test } from "vitest"\ntest("adds", () => {\n  expect(1 + 1).toBe(3)\n})\n' +
          'test("holds", () => {})\ntest.skip("later", () => {})\n',
      },
      { sandbox: "off" },
    )
    symlinkSync(join(import.meta.dirname, "../../../../node_modules"), join(fixture.root, "node_modules"))
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result.data).toMatchObject({
      framework: "vitest",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: "adds", file: "a.test.js", line: 3 }],
    })
    expect((result.data as Report).failures[0]!.message).toContain("expected 2 to be 3")
    expect(result.output).toContain("WITHOUT a sandbox")
  })

  test("whatever npm test runs", async () => {
    using fixture = workspaceFixture({
      "package.json": '{ "scripts": { "test": "node check.js" } }',
      "check.js":
        "console.log(\"TAP version 13\\nok 1 - first\\nnot ok 2 - second\\n  ---\\n  message: 'no good'\\n  at: " +
        '" + __filename + ":7:3\\n  ...\\nok 3 - third # SKIP later"); process.exit(1)\n',
    })
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result.data).toMatchObject({
      framework: "npm",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: "second", message: "no good", file: "check.js", line: 7 }],
    })
    fixture.write({ "check.js": "console.error('it broke'); process.exit(2)\n" })
    const broken = await callTool(fixture.tools.get("test")!, {})
    expect(broken).toMatchObject({ success: false, data: { failed: 1 } })
    expect(broken.output).toContain("it broke")
    fixture.write({ "check.js": "console.log('fine')\n" })
    expect((await callTool(fixture.tools.get("test")!, {})).success).toBe(true)
  })

  test("a script that calls node's runner with arguments", async () => {
    const scripts = '{ "type": "module", "scripts": { "test": "node --test test/mean.test.js" } }'
    using fixture = workspaceFixture({ "package.json": scripts, "mean.js": MEAN, "test/mean.test.js": NODE_TEST })
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result.data).toMatchObject({
      framework: "npm",
      passed: 2,
      failed: 1,
      skipped: 1,
      failures: [{ name: "of none", file: "test/mean.test.js" }],
    })
    expect((result.data as Report).failures[0]!.message).toMatch(/Expected values|NaN/u)
  })

  test.skipIf(!hasCargo)("cargo", async () => {
    using fixture = workspaceFixture({
      "Cargo.toml": '[package]\nname = "mean"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs":
        "pub fn mean(values: &[i32]) -> i32 { values.iter().sum::<i32>() / values.len() as i32 }\n#[cfg(test)]\n" +
        "mod tests {\n    use super::*;\n    #[test]\n    fn two() { assert_eq!(mean(&[1, 3]), 2); }\n    " +
        '#[test]\n    fn wrong() {\n        assert_eq!(mean(&[1]), 2, "mean of one");\n    }\n}\n',
    })
    const result = await callTool(fixture.tools.get("test")!, {})
    expect({ output: result.output, data: result.data }).toMatchObject({
      data: {
        framework: "cargo",
        passed: 1,
        failed: 1,
        failures: [{ name: "tests::wrong", file: "src/lib.rs", line: 9 }],
      },
    })
    expect((result.data as Report).failures[0]!.message).toContain("mean of one")
    fixture.write({ "src/lib.rs": "pub fn broken() -> i32 { true }\n" })
    expect((await callTool(fixture.tools.get("test")!, {})).data).toMatchObject({
      failures: [{ name: "build", file: "src/lib.rs", line: 1, message: "mismatched types" }],
    })
  })
})

describe("a run that has shown nothing is no success", () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ["no tests at all", { "a.txt": "" }, /No tests found/u],
    [
      "a test file without tests that pass",
      { "a.test.js": 'import { test } from "node:test"\ntest.skip("x")\n', "package.json": '{ "type": "module" }' },
      /No test ran/u,
    ],
    [
      "a runner that breaks off",
      { "a.test.js": "process.kill(process.ppid, 'SIGKILL')\n" },
      /broke off|did not finish|exit code|killed/u,
    ],
  ])("%s", async (_, files, message) => {
    using fixture = workspaceFixture(files)
    const result = await callTool(fixture.tools.get("test")!, {})
    expect(result.success).toBe(false)
    expect(result.output).toMatch(message)
  })

  test("a time limit", async () => {
    using fixture = workspaceFixture({
      "a.test.js": 'require("node:test")("slow", () => new Promise((done) => setTimeout(done, 60_000)))\n',
    })
    const result = await callTool(fixture.tools.get("test")!, { timeout_ms: 700 })
    expect(result).toMatchObject({ success: false, error: { code: "TIMEOUT" } })
  })

  test.for([["off"], ["auto"]] as const)(
    "nothing outside the workspace by links and patterns, sandbox %s",
    async ([sandbox]) => {
      using fixture = workspaceFixture({ "a.test.js": 'import "node:test"\n', "package.json": "{}" }, { sandbox })
      const outside = join(fixture.root, "../outside")
      mkdirSync(outside)
      const ran = join(fixture.root, "../ran")
      const code =
        `import { test } from "node:test"\nimport { writeFileSync } from "node:fs"\ntest("CANARY", () => ` +
        `writeFileSync(${JSON.stringify(ran)}, ""))\n`
      writeFileSync(join(outside, "b.test.js"), code)
      const links: readonly (readonly [string, string])[] = [
        ["../outside/b.test.js", "b.test.js"],
        ["../outside", "folder"],
        [join(outside, "b.test.js"), "*.test.js"],
        ["b.test.js", "c.test.js"],
      ]
      for (const [target, name] of links) symlinkSync(target, join(fixture.root, name))
      const calls = [
        {},
        { framework: "node" },
        { files: ["."] },
        ...["b.test.js", "c.test.js", "folder", "folder/b.test.js", "*.test.js", "fol*/b.test.js", "{b,c}.test.js"].map(
          (file) => ({ framework: "node", files: [file] }),
        ),
        ...["../outside/b.test.js", "folder/../../outside/b.test.js", "**/b.test.js", "./*/*.js"].map((file) => ({
          framework: "node",
          files: [file],
        })),
      ]
      for (const args of calls) {
        const result = await callTool(fixture.tools.get("test")!, args)
        expect({ args, said: JSON.stringify(result).includes("CANARY"), ran: existsSync(ran) }).toEqual({
          args,
          said: false,
          ran: false,
        })
        if (sandbox === "off") expect({ args, ...result }).toMatchObject({ args, success: false })
      }
    },
  )

  test("names of files that begin with a dash or hold shell characters run nothing", async () => {
    using fixture = workspaceFixture({
      "evil.js": "require('fs').writeFileSync('ran', '')",
      "a.test.js": 'require("node:test")("ok", () => {})\n',
    })
    await callTool(fixture.tools.get("test")!, { framework: "node", files: ["--require=./evil.js", "$(touch ran)"] })
    expect((await fixture.workspace.list(".")).entries.map((entry) => entry.name)).not.toContain("ran")
  })
})

test.each<[string, Record<string, string>, Framework[]]>([
  ["a plain node script", { "package.json": '{ "scripts": { "test": "node --test" } }' }, ["node"]],
  ["vitest", { "package.json": '{ "scripts": { "test": "vitest run" } }' }, ["vitest"]],
  ["a script that does more", { "package.json": '{ "scripts": { "test": "npm run lint && vitest run" } }' }, ["npm"]],
  [
    "the script that npm init writes",
    { "package.json": '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1" } }' },
    [],
  ],
  ["test files without a manifest", { "src/a.test.ts": "" }, ["node"]],
  ["unittest files", { "tests/test_a.py": "import unittest\n" }, ["unittest"]],
  ["pytest files", { "tests/test_a.py": "def test_a(): pass\n" }, ["pytest"]],
  [
    "pytest by its configuration",
    { "tests/test_a.py": "import unittest\n", "pyproject.toml": "[tool.pytest.ini_options]\n" },
    ["pytest"],
  ],
  ["two languages", { "Cargo.toml": "", "tests/test_a.py": "import unittest\n" }, ["cargo", "unittest"]],
  ["go", { "go.mod": "" }, ["go"]],
  ["dependencies only", { "node_modules/x/a.test.js": "" }, []],
])("detects %s", async (_, files, frameworks) => {
  using fixture = workspaceFixture(files)
  expect(await detectFrameworks(fixture.root)).toEqual(frameworks)
})
