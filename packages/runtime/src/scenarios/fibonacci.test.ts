import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, loadScreenplay } from "@toolwright/backends"
import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { PYTHON_FIBONACCI_TESTS, repositoryWith } from "../testing/repository.ts"
import { createToolwright } from "../toolwright.ts"

const SCREENPLAY = join(import.meta.dirname, "fixtures/fibonacci-python.yaml")
const repository = () =>
  repositoryWith({
    "tests/__init__.py": "",
    "tests/test_fibonacci.py": PYTHON_FIBONACCI_TESTS,
    ".gitignore": "__pycache__/\n",
  })

async function own(path: string, backend: ReturnType<typeof createScriptedBackend>) {
  const lines: string[] = []
  const events: RunEvent[] = []
  await using toolwright = await createToolwright({ backend, cwd: path, workspace: { roots: [path] } })
  const agent = await toolwright.fileOwner("FibonacciAgent", ["fibonacci.py"], (line) => lines.push(line))
  const run = agent.run(
    { message: "Create fibonacci function with proper error handling", task_type: "code_generation" },
    { runId: "h1" },
  )
  let step = await run.next()
  while (!step.done) {
    events.push(step.value)
    step = await run.next()
  }
  return { response: step.value, lines, events, record: await toolwright.readRun("h1") }
}

describe("the owner of fibonacci.py", () => {
  test("implements, fails its check, is refused the commit, corrects, and commits", async () => {
    using repo = repository()
    const backend = createScriptedBackend(await loadScreenplay(SCREENPLAY))
    const { response, lines, events, record } = await own(repo.path, backend)

    expect(response).toEqual({
      success: true,
      content: "Code generation completed using MCP tools",
      agent_id: "FibonacciAgent",
      task_type: "code_generation",
    })
    expect(backend.remaining).toBe(0)
    expect(lines).toEqual([
      "Tool workspace executed: true",
      "Tool validation executed: false",
      "Tool git_operations executed: false",
      "Tool workspace executed: true",
      "Tool validation executed: true",
      "Tool git_operations executed: true",
    ])

    const source = readFileSync(join(repo.path, "fibonacci.py"), "utf8")
    expect(source).toMatch(
      /^def fibonacci\(n: int\) -> int:\n {4}"""Calculate nth Fibonacci number"""\n {4}if n < 0:\n {8}raise ValueError/m,
    )
    expect(source.match(/def fibonacci/g)).toHaveLength(1)
    execFileSync("python3", ["-m", "py_compile", "fibonacci.py"], { cwd: repo.path })
    expect(readFileSync(join(repo.path, ".meta/fibonacci.py.json"), "utf8")).toContain("Calculate nth Fibonacci number")

    expect(repo.git("log", "--format=%s")).toBe("Add fibonacci implementation\nBegin")
    expect(repo.git("show", "--name-only", "--format=", "HEAD")).toContain("fibonacci.py")
    expect(repo.git("status", "--porcelain")).toBe("")

    const checks = events.flatMap((event) =>
      event.type === "tool-end" && event.name === "validation" ? [event.result] : [],
    )
    expect(checks[0]).toMatchObject({
      success: false,
      metadata: { repairs: [{ kind: "argument-alias", from: "file_path" }, expect.anything()] },
    })
    expect(JSON.stringify(checks[0]?.data)).toContain("Missing input validation")
    expect(checks[1]?.success).toBe(true)
    expect(statuses(checks[1]?.data)).toMatchObject({
      tests: "passed",
      "file-length": "passed",
      "pre-commit": "skipped",
    })

    const end = record.events.at(-1)
    expect(end).toMatchObject({
      type: "run-end",
      summary: { rounds: 8, calls: 6, failedCalls: 2, correctedFailures: 2 },
    })
    expect((end!.summary as RunSummary).times.overheadMs).toBeLessThan(500)
    expect(record.events.filter(({ type }) => type === "tool-end")).toHaveLength(6)
  })

  test("commits its own beside what lay there untracked before, without naming it", async () => {
    using repo = repository()
    writeFileSync(join(repo.path, "notes.txt"), "somebody's notes\n")
    const { response } = await own(repo.path, createScriptedBackend(await loadScreenplay(SCREENPLAY)))
    expect(response.success).toBe(true)
    expect(repo.git("log", "--format=%s")).toBe("Add fibonacci implementation\nBegin")
    expect(repo.git("show", "--name-only", "--format=", "HEAD").split("\n")).toEqual([
      ".meta/fibonacci.py.json",
      "fibonacci.py",
    ])
    expect(repo.git("status", "--porcelain")).toBe("?? notes.txt")
  })

  test("may not commit past a failing pre-commit hook", async () => {
    using repo = repository()
    const hook = join(repo.path, ".git/hooks/pre-commit")
    writeFileSync(hook, "#!/bin/sh\necho 'style is wrong' >&2\nexit 1\n")
    chmodSync(hook, 0o755)
    const play = await loadScreenplay(SCREENPLAY)
    const backend = createScriptedBackend({
      ...play,
      steps: [
        ...play.steps.slice(0, 6),
        {
          expect: { success: false, result: "style is wrong" },
          reply: { calls: [{ name: "git_operations", arguments: { operation: "commit", message: "x" } }] },
        },
        { reply: "TASK_COMPLETE", repeat: "always" },
      ],
    })
    const { response } = await own(repo.path, backend)
    expect(response.success).toBe(false)
    expect(repo.git("log", "--format=%s")).toBe("Begin")
  })

  test("fails when the model only talks, and writes nothing", async () => {
    using repo = repository()
    const backend = createScriptedBackend({
      abilities: { nativeTools: true },
      steps: [{ reply: "One could write a function.", repeat: "always" }],
    })
    const { response } = await own(repo.path, backend)
    expect(response).toMatchObject({ success: false, content: "LLM did not use tools as expected" })
    expect(existsSync(join(repo.path, "fibonacci.py"))).toBe(false)
    expect(repo.git("status", "--porcelain")).toBe("")
  })
})

/** The status of each check of a validation report, by its name. */
function statuses(data: unknown): Record<string, string> {
  const { checks } = data as { checks: { check?: string; name?: string; status: string }[] }
  return Object.fromEntries(checks.map(({ check, name, status }) => [check ?? name ?? "", status]))
}
