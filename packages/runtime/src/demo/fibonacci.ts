import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { AgentResponse } from "@toolwright/agents"
import { createScriptedBackend, loadScreenplay } from "@toolwright/backends"
import { messageOf, ToolwrightError, type RunEvent } from "@toolwright/toolbox"
import { createToolwright } from "../toolwright.ts"

/** A demonstration that is ready to run. */
export interface Demo {
  /** The fresh git repository in which the agent works. It is left behind, to be looked at. */
  readonly folder: string
  readonly task: string
  run(signal?: AbortSignal): AsyncGenerator<RunEvent, AgentResponse>
  /** What the agent has made: the file, and the history of the repository. */
  outcome(): { file: string; source: string; log: string }
}

const FILE = "fibonacci.ts"
const TASK = "Create fibonacci function with proper error handling"

const TESTS = `import assert from "node:assert/strict"
import { test } from "node:test"
import { fibonacci } from "../fibonacci.ts"

test("the first, the second and the tenth number", () => {
  assert.deepEqual([fibonacci(0), fibonacci(1), fibonacci(10)], [0, 1, 55])
})

test("a negative number is refused", () => {
  assert.throws(() => fibonacci(-1), RangeError, "Missing input validation")
})
`

/**
 * Sets up the demonstration: an agent that owns one file implements a function, sees its test fail, is refused the commit,
 * corrects the function and commits it. The tools, the tests and git are real; the model is a screenplay.
 *
 * @throws ToolwrightError `GIT_MISSING` where there is no git
 */
export function fibonacciDemo(): Demo {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"))
  prepare(folder)
  return {
    folder,
    task: TASK,
    async *run(signal) {
      const screenplay = await loadScreenplay(fileURLToPath(new URL("../../screenplays/fibonacci.yaml", import.meta.url)))
      await using toolwright = await createToolwright({
        backend: createScriptedBackend(screenplay),
        cwd: folder,
        workspace: { roots: [folder] },
      })
      const agent = await toolwright.fileOwner("FibonacciAgent", [FILE])
      return yield* agent.run({ message: TASK, task_type: "code_generation" }, signal === undefined ? {} : { signal })
    },
    outcome: () => ({
      file: FILE,
      source: readFileSync(join(folder, FILE), "utf8"),
      log: git(folder, "log", "--stat", "--format=%h %s"),
    }),
  }
}

function prepare(folder: string): void {
  mkdirSync(join(folder, "tests"))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "fibonacci", type: "module", scripts: { test: "node --test" } }, null, 2)}\n`)
  writeFileSync(join(folder, "tests", "fibonacci.test.js"), TESTS)
  git(folder, "init", "-q", "-b", "main")
  git(folder, "config", "user.name", "Toolwright demo")
  git(folder, "config", "user.email", "demo@example.invalid")
  git(folder, "add", "-A")
  git(folder, "commit", "-q", "-m", "Say what Fibonacci numbers are, in tests")
}

function git(folder: string, ...args: string[]): string {
  try {
    return execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd()
  } catch (cause) {
    if ((cause as { code?: string }).code !== "ENOENT") throw cause
    throw new ToolwrightError("GIT_MISSING", `The demonstration works in a git repository, and git cannot be run: ${messageOf(cause)}`, {
      cause,
      hint: "Install git and try again.",
    })
  }
}
