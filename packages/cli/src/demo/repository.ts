import { execFile } from "node:child_process"
import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { packageJson } from "./package-json.ts"

const run = promisify(execFile)

/** The planted failure: the first implementation lets negative numbers through. */
const TESTS = `import assert from "node:assert/strict"
import { test } from "node:test"
import { fibonacci } from "../fibonacci.ts"

test("gives the first numbers", () => {
  assert.deepEqual([0, 1, 10].map((n) => fibonacci(n)), [0, 1, 55])
})

test("refuses negative numbers", () => {
  assert.throws(() => fibonacci(-1), RangeError, "Missing input validation")
})
`

const FIBONACCI = {
  "tests/fibonacci.test.ts": TESTS,
  "package.json": packageJson("fibonacci"),
}

/** A fresh temporary git repository with one commit. */
export interface DemoRepository {
  path: string
  git(...args: string[]): Promise<string>
}

/** The repository of the Fibonacci task: a test, and nothing that it could test yet. */
export function createFibonacciRepository(): Promise<DemoRepository> {
  return createDemoRepository(FIBONACCI, "Say what a Fibonacci function has to do")
}

/**
 * @param files texts by their paths
 * @throws ToolwrightError `NO_GIT` when there is no git to be found
 */
export async function createDemoRepository(
  files: Readonly<Record<string, string>>,
  message: string,
): Promise<DemoRepository> {
  const path = await mkdtemp(join(tmpdir(), "toolwright-demo-"))
  const git = async (...args: string[]): Promise<string> => {
    try {
      return (await run("git", args, { cwd: path, encoding: "utf8" })).stdout
    } catch (cause) {
      if ((cause as { code?: string }).code === "ENOENT") {
        throw new ToolwrightError("NO_GIT", "The demonstration needs git, which is not installed here.", {
          hint: "Install it from https://git-scm.com, then try again.",
        })
      }
      throw new ToolwrightError("GIT_FAILED", `git ${args[0]} failed: ${messageOf(cause)}`, { cause })
    }
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
  await git("init", "-q", "-b", "main")
  await git("config", "user.name", "Toolwright demo")
  await git("config", "user.email", "demo@example.invalid")
  await git("config", "commit.gpgsign", "false")
  await git("add", "-A")
  await git("commit", "-q", "-m", message)
  return { path, git }
}
