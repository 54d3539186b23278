import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** A fresh git repository with one commit, holding these files; removed when it is disposed of. */
export interface FixtureRepository extends Disposable {
  readonly path: string
  git(...args: string[]): string
}

const CONFIG = "[user]\n\tname = Fixture\n\temail = fixture@example.invalid\n[maintenance]\n\tauto = false\n"
const BEGIN = 'git init -q -b main --template=; printf %s "$0" >> .git/config; git add -A; git commit -q -m Begin'

/** Repositories as they are at the beginning, by what they hold: many tests begin with the same one. */
const beginnings = new Map<string, string>()

function beginning(files: Readonly<Record<string, string>>): string {
  const holds = JSON.stringify(files)
  const known = beginnings.get(holds)
  if (known !== undefined) return known
  const path = mkdtempSync(join(tmpdir(), "toolwright-beginning-"))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  // One process of ours for three of git's: forking a process as large as a test's costs more than what it starts.
  execFileSync("sh", ["-ec", BEGIN, CONFIG], { cwd: path, stdio: ["ignore", "ignore", "pipe"] })
  for (const folder of ["hooks", "info"]) mkdirSync(join(path, ".git", folder), { recursive: true })
  if (beginnings.size === 0) process.once("exit", () => beginnings.forEach((each) => rmSync(each, { recursive: true })))
  beginnings.set(holds, path)
  return path
}

export function repositoryWith(files: Readonly<Record<string, string>>): FixtureRepository {
  const path = mkdtempSync(join(tmpdir(), "toolwright-scenario-"))
  cpSync(beginning(files), path, { recursive: true, preserveTimestamps: true })
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: path, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd()
  return { path, git, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Tests of a Fibonacci function that fail, with a message of their own, when a negative number is let through. */
export const PYTHON_FIBONACCI_TESTS = `import unittest

from fibonacci import fibonacci


class FibonacciTest(unittest.TestCase):
    def test_values(self):
        self.assertEqual([fibonacci(0), fibonacci(1), fibonacci(10)], [0, 1, 55])

    def test_negative(self):
        try:
            fibonacci(-1)
        except ValueError:
            return
        self.fail("Missing input validation")


if __name__ == "__main__":
    unittest.main()
`

/** A project whose `add` subtracts, and the test that shows it. */
export const FIX_ADD = {
  "package.json": '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/add.js": "export function add(a, b) {\n  return a - b\n}\n",
  "tests/add.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { add } from "../src/add.js"

test("adds", () => assert.equal(add(2, 3), 5))
`,
}
