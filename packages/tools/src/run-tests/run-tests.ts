import { randomBytes } from "node:crypto"
import {
  childEnvironment,
  runInWorkspace,
  type ProcessHost,
  endingOf,
  outcomeText,
  type ProcessOutcome,
} from "@toolwright/host/process"
import type { SandboxReport } from "@toolwright/host/sandbox"
import type { Framework } from "./detect.ts"
import type { TestFramework, TestReport } from "./report.ts"
import { namesRunner, NODE_WITNESS, whyNotShown } from "./shown.ts"

export interface TestRunOptions {
  readonly framework: Framework
  readonly files?: readonly string[]
  readonly name?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (message: string) => void
}

/** A test run: the report, and the process it came from. */
export interface TestRun {
  readonly framework: Framework
  readonly report: TestReport
  readonly outcome: ProcessOutcome
  readonly sandbox: SandboxReport
  /** What the runner wrote, without the marked lines. */
  readonly log: string
  readonly success: boolean
  /** Why the run is no success although no test is known to have failed. */
  readonly problem?: string
}

const DEFAULT_TIMEOUT_MS = 300_000
/** What a user says of a runner's own start: plugins of the machine that no test needs may take it ten times as long. */
const OF_RUNNERS: readonly string[] = ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]

async function load(framework: Framework): Promise<TestFramework> {
  switch (framework) {
    case "node":
      return (await import("./node.ts")).nodeTest
    case "vitest":
      return (await import("./vitest.ts")).vitest
    case "jest":
      return (await import("./vitest.ts")).jest
    case "unittest":
      return (await import("./python.ts")).unittest
    case "pytest":
      return (await import("./python.ts")).pytest
    case "go":
      return (await import("./go.ts")).go
    case "cargo":
      return (await import("./cargo.ts")).cargo
    case "npm":
      return (await import("./npm.ts")).npm
  }
}

/**
 * Runs a project's tests in the sandbox and reads their results. A run counts as a success only when the runner
 * finished, exited with 0 and at least one test passed: a run that tested nothing has shown nothing.
 */
export async function runTests(host: ProcessHost, options: TestRunOptions): Promise<TestRun> {
  const { framework, timeoutMs = host.config.test?.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options
  const implementation = await load(framework)
  // So that no runner takes a name for an option.
  const files = (options.files ?? []).map((file) => (file.startsWith("-") ? `./${file}` : file))
  const marker = `@${randomBytes(9).toString("hex")}@`
  const request = {
    root: host.root,
    files,
    node: process.execPath,
    ...(options.name === undefined ? {} : { name: options.name }),
  }
  const { outcome, sandbox } = await runInWorkspace(host, {
    argv: implementation.argv(request, marker),
    cwd: host.root,
    env: childEnvironment(
      {
        TOOLWRIGHT_TEST_MARKER: marker,
        CI: "1",
        NO_COLOR: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        ...(framework === "npm" ? { NODE_OPTIONS: `--test-reporter=tap --import=${NODE_WITNESS}` } : {}),
      },
      [...OF_RUNNERS, ...(host.config.passEnvironment ?? [])],
    ),
    timeoutMs,
    limits: { headBytes: 8 * 1024 * 1024, tailBytes: 1024 * 1024 },
    network: host.config.test?.network === true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.onProgress === undefined
      ? {}
      : { onProgress: ({ lastLine }) => options.onProgress!(lastLine.replace(/^@[0-9a-f]+@.*$/u, "running")) }),
  })
  const streams = { stdout: outcome.stdout.text, stderr: outcome.stderr.text, exitCode: outcome.exitCode }
  const report = implementation.parse(streams, request, marker)
  const stripped = withoutMarks(outcome.stdout, marker)
  const shown = { ...outcome, stdout: stripped, stderr: withoutMarks(outcome.stderr, marker) }
  const log = outcomeText(shown, sandbox, timeoutMs)
  const problem =
    problemOf(report, outcome, framework, timeoutMs, streams.stderr) ??
    (report.failed > 0 ? undefined : unshown(host, framework, report, { ...streams, marker }))
  const success = problem === undefined && report.failed === 0
  return { framework, report, outcome, sandbox, log, success, ...(problem === undefined ? {} : { problem }) }
}

const saysNothing = ({ passed, failed, skipped }: TestReport): boolean => passed + failed + skipped === 0

/** Why a run without a failure shows nothing; nothing where it does show something. */
function unshown(
  { root }: ProcessHost,
  framework: Framework,
  report: TestReport,
  { stdout, stderr, marker }: { stdout: string; stderr: string; marker: string },
): string | undefined {
  const why = whyNotShown(`${stdout}\n${stderr}`, marker, root)
  return why ?? (framework === "npm" && saysNothing(report) && namesRunner(root) ? "No test ran." : undefined)
}

function withoutMarks(stream: ProcessOutcome["stdout"], marker: string): ProcessOutcome["stdout"] {
  const lines = stream.text.split("\n").filter((line) => !line.includes(marker))
  return { ...stream, text: lines.join("\n") }
}

function problemOf(
  report: TestReport,
  outcome: ProcessOutcome,
  framework: Framework,
  timeoutMs: number,
  stderr: string,
): string | undefined {
  if (outcome.ended !== "exit") return `The test run did not finish: ${endingOf(outcome, timeoutMs)}.`
  const said = stderr.trim().split("\n").slice(-8).join("\n")
  if (/execvp .*: No such file|: command not found|exec: .*: not found/u.test(stderr))
    return `${framework} could not be started: ${said}`
  if (report.failed > 0) return undefined
  if (/No module named ['"]?pytest/u.test(stderr))
    return "pytest is not installed for python3; use framework unittest, or install it."
  if (!report.complete) return `The test runner broke off before it reported: ${said || endingOf(outcome, timeoutMs)}`
  if (outcome.exitCode !== 0 && report.passed + report.skipped > 0)
    return `No test failed, but the runner ended with ${endingOf(outcome, timeoutMs)}: ${said}`
  if (report.passed === 0 && framework !== "npm") return "No test ran."
  if (outcome.exitCode !== 0) return `The runner ended with ${endingOf(outcome, timeoutMs)}: ${said}`
  return undefined
}
