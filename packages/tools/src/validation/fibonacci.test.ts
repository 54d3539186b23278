import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const hasPython = (() => {
  try {
    execFileSync("python3", ["-c", "0"])
    return true
  } catch {
    return false
  }
})()

const PYTHON_TESTS = `import unittest

from fibonacci import fibonacci


class FibonacciTest(unittest.TestCase):
    def test_values(self):
        self.assertEqual([fibonacci(n) for n in (0, 1, 10)], [0, 1, 55])

    def test_negative(self):
        try:
            fibonacci(-1)
        except ValueError:
            return
        self.fail("Missing input validation")
`

const JAVASCRIPT_TESTS = `import { test } from "node:test"
import assert from "node:assert/strict"
import { fibonacci } from "../fibonacci.js"

test("values", () => assert.deepEqual([0, 1, 10].map((n) => fibonacci(n)), [0, 1, 55]))
test("negative", () => {
  let thrown
  try { fibonacci(-1) } catch (error) { thrown = error }
  if (!(thrown instanceof RangeError)) throw new Error("Missing input validation")
})
`

const artifact = (body: string): JsonObject => ({
  element_type: "function",
  element_data: {
    name: "fibonacci",
    docstring: "Calculate a Fibonacci number.",
    parameters: [{ name: "n", type: "int" }],
    return_type: "int",
    body,
  },
})

const languages: {
  language: string
  file: string
  files: Record<string, string>
  signature: string
  first: string
  second: string
  runs: boolean
}[] = [
  {
    language: "Python",
    file: "fibonacci.py",
    files: { "tests/test_fibonacci.py": PYTHON_TESTS },
    signature: "def fibonacci(n: int) -> int:",
    first: "return n if n <= 1 else fibonacci(n-1) + fibonacci(n-2)",
    second:
      'if n < 0:\n    raise ValueError("n must not be negative")\na, b = 0, 1\nfor _ in range(n):\n    a, b = b, ' +
      "a + b\nreturn a",
    runs: hasPython,
  },
  {
    language: "JavaScript",
    file: "fibonacci.js",
    files: {
      "package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
      "tests/fibonacci.test.js": JAVASCRIPT_TESTS,
    },
    signature: "export function fibonacci(n) {",
    first: "return n <= 1 ? n : fibonacci(n - 1) + fibonacci(n - 2)",
    second:
      'if (n < 0) {\n  throw new RangeError("n must not be negative")\n}\nlet [a, b] = [0, 1]\nfor (let i = 0; i ' +
      "< n; i++) {\n  [a, b] = [b, a + b]\n}\nreturn a",
    runs: true,
  },
]

describe.for(languages)(
  "a function written as an artifact in $language",
  ({ file, files, signature, first, second, runs }) => {
    const call = (fixture: WorkspaceFixture, tool: string, args: JsonObject) => callTool(fixture.tools.get(tool)!, args)

    test.skipIf(!runs)("fails validation, is corrected, passes and is committed", async () => {
      using fixture = workspaceFixture(files)
      fixture.gits(["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=Add tests"])

      const written = await call(fixture, "workspace", { action: "write", path: file, json_artifact: artifact(first) })
      expect(written.error).toBeUndefined()
      expect(written.modifiedFiles).toEqual([file, `.meta/${file}.json`])
      expect(readFileSync(join(fixture.root, file), "utf8")).toContain(signature)
      expect(readFileSync(join(fixture.root, `.meta/${file}.json`), "utf8")).toContain('"fibonacci"')

      const failed = await call(fixture, "validation", { file_paths: [file] })
      expect(failed.success).toBe(false)
      const report = failed.data as {
        checks: { name: string; status: string }[]
        errors: { check: string; message: string; file?: string; line?: number }[]
      }
      expect(Object.fromEntries(report.checks.map((one) => [one.name, one.status]))).toEqual({
        syntax: "passed",
        tests: "failed",
        "file-length": "passed",
        "pre-commit": "skipped",
      })
      expect(report.errors).toHaveLength(1)
      expect(report.errors[0]!.message).toContain("Missing input validation")
      expect(report.errors[0]!.file).toBe(Object.keys(files).at(-1))
      expect(report.errors[0]!.line).toBeGreaterThan(1)
      expect(failed.output).toContain("Missing input validation")

      const rewritten = await call(fixture, "workspace", {
        action: "write",
        path: file,
        json_artifact: artifact(second),
      })
      expect(rewritten.output).toContain("replaced")
      expect(readFileSync(join(fixture.root, file), "utf8").split("fibonacci(n").length).toBe(2)

      const passed = await call(fixture, "validation", { file_paths: [file] })
      expect(passed.error).toBeUndefined()
      expect(passed.output).toContain("not configured")

      const committed = await call(fixture, "git_operations", {
        operation: "commit",
        message: "Add fibonacci implementation",
      })
      expect(committed.error).toBeUndefined()
      expect(fixture.git("log", "--format=%s").trim().split("\n")).toEqual([
        "Add fibonacci implementation",
        "Add tests",
      ])
      expect(fixture.git("show", "--name-only", "--format=").trim().split("\n").sort()).toEqual([
        `.meta/${file}.json`,
        file,
      ])
      expect(fixture.git("status", "--porcelain")).toBe("")
    })
  },
)
