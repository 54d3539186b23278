import {
  defineTool,
  failure,
  success,
  type JsonObject,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
  type JsonSchema,
} from "@toolwright/toolbox"
import { failureOf, isContained, programDoubt, type ProcessHost } from "@toolwright/host/process"
import { plainOutput } from "@toolwright/host/text"
import { detectFrameworks, FRAMEWORKS, type Framework } from "./detect.ts"
import type { TestRun } from "./run-tests.ts"
import { grounded } from "../ground/grounded.ts"

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    framework: { type: "string", description: "Several are joined by commas." },
    complete: { type: "boolean", description: "Whether all tests of every framework were run." },
    passed: { type: "integer" },
    failed: { type: "integer" },
    skipped: { type: "integer" },
    failures: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          message: { type: "string" },
          file: { type: "string" },
          line: { type: "integer" },
          stack: { type: "string" },
        },
        required: ["name", "message"],
      },
    },
    exit_code: { type: ["integer", "null"] },
    duration_ms: { type: "number" },
  },
}

/** The `test` tool: runs the project's tests and tells which failed, where and why. */
export function createTestTool(host: ProcessHost): ToolDefinition {
  return defineTool({
    name: "test",
    sets: ["coding", "general", "handing-in"],
    brief: ["files", "name"],
    title: "Run tests",
    description: "Run the project's tests; failures come with file, line and message",
    category: "build",
    optionality: "optional",
    usageHint:
      "Use when: something was changed, or failures are to be seen; without arguments it finds the framework " +
      "itself. Don't use when: another program is to run (use bash).",
    tags: ["tests"],
    aliases: {
      arguments: { path: "files", file_paths: "files", test_path: "files", pattern: "name" },
    },
    effects: { readOnly: false, idempotent: true, writes: [] },
    role: "validates",
    parameters: {
      type: "object",
      properties: {
        framework: {
          type: "string",
          enum: ["auto", "python", ...FRAMEWORKS],
          description: "How to run them; auto unless given.",
        },
        files: {
          type: "array",
          items: grounded({ type: "string" }, "path"),
          description: "Test files or folders; all tests unless given.",
        },
        name: { type: "string", description: "Only tests whose name matches." },
        timeout_ms: {
          type: "integer",
          minimum: 1,
          maximum: 3_600_000,
          description: "Time limit in milliseconds; 300000 unless given.",
        },
      },
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    examples: [{ description: "Run all tests", input: {} }],
    timeoutMs: 3_605_000,
    doubts: () => programDoubt(host),
    execute: (args, context) => runTestTool(host, args, context),
  })
}

async function runTestTool(host: ProcessHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  try {
    const { assertNoLinksOut, testFilesOf } = await import("./files.ts")
    const files = await testFilesOf(host, Array.isArray(args.files) ? args.files.map(String) : [])
    const found = await detectFrameworks(host.root)
    const frameworks = choose(found, args.framework, files)
    if (frameworks.length === 0) {
      return failure({
        code: "NO_TESTS",
        message:
          "No tests found: neither a test script in package.json, nor Cargo.toml, go.mod, *.test.js, *.test.ts " +
          "or test_*.py files.",
        hint: 'Write tests first, or name the framework: {"framework": "node", "files": ["test/all.mjs"]}.',
      })
    }
    if (!(await isContained(host))) await assertNoLinksOut(host.root)
    const { runTests } = await import("./run-tests.ts")
    const runs: TestRun[] = []
    for (const framework of frameworks) {
      const run = await runTests(host, {
        framework,
        files: frameworks.length === 1 ? files : files.filter((file) => fits(framework, file)),
        signal: context.signal,
        onProgress: (message) => context.progress({ message }),
        ...(typeof args.name === "string" ? { name: args.name } : {}),
        ...(typeof args.timeout_ms === "number" ? { timeoutMs: args.timeout_ms } : {}),
      })
      runs.push(run)
    }
    const complete =
      files.length === 0 && args.name === undefined && found.every((framework) => frameworks.includes(framework))
    return resultOf(runs, complete)
  } catch (thrown) {
    const { code, path } = thrown as NodeJS.ErrnoException
    if (code === "ENOENT")
      return failure({
        code: "RUNNER_MISSING",
        message: `${path ?? "The test runner"} is not installed on this machine.`,
      })
    return failureOf(thrown)
  }
}

/** Which frameworks a call means: the one that it names, those of the files that it names, or all that were found. */
function choose(found: readonly Framework[], asked: unknown, files: readonly string[]): Framework[] {
  if (typeof asked === "string" && (FRAMEWORKS as readonly string[]).includes(asked)) return [asked as Framework]
  if (asked === "python") return [found.find((one) => one === "pytest" || one === "unittest") ?? "unittest"]
  if (files.length === 0) return [...found]
  const fitting = found.filter((framework) => files.some((file) => fits(framework, file)))
  return fitting.length > 0 ? fitting : found.slice(0, 1)
}

const ENDINGS: Partial<Record<Framework, RegExp>> = {
  pytest: /\.py$/u,
  unittest: /\.py$/u,
  go: /\.go$/u,
  cargo: /\.rs$/u,
}

/** Whether a framework may run a file, by its ending; a folder may hold anything. */
function fits(framework: Framework, file: string): boolean {
  if (!/\.\w+$/u.test(file)) return true
  return (ENDINGS[framework] ?? /\.[cm]?[jt]sx?$/u).test(file)
}

/** Failures as text: name, place, message. */
export function describeRun(run: TestRun): string {
  const { passed, failed, skipped, failures } = run.report
  const isSilent = run.success && passed + failed + skipped === 0
  const lines = [
    isSilent
      ? `${run.framework}: it ended well, and does not say which tests ran.`
      : `${run.framework}: ${passed} passed, ${failed} failed, ${skipped} skipped.`,
  ]
  for (const { name, file, line, message } of failures.slice(0, 20)) {
    const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`
    lines.push(
      `FAILED ${name}${place}`,
      ...message
        .split("\n")
        .slice(0, 12)
        .map((text) => `  ${text}`),
    )
  }
  if (failures.length > 20) lines.push(`[... ${failures.length - 20} more failures in the data ...]`)
  if (run.problem !== undefined) lines.push(run.problem)
  return lines.join("\n")
}

/** What several runs come to: the first that broke, or else those that failed, or else all. */
function resultOf(runs: readonly TestRun[], complete: boolean): ToolResult {
  const first = runs.find((run) => !run.success) ?? runs[0]!
  const sum = (part: "passed" | "failed" | "skipped"): number =>
    runs.reduce((total, { report }) => total + report[part], 0)
  const data = {
    framework: runs.map(({ framework }) => framework).join(", "),
    complete,
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    failures: runs.flatMap(({ report }) => report.failures),
    exit_code: first.outcome.exitCode,
    ended: first.outcome.ended,
    duration_ms: runs.reduce((total, { outcome }) => total + outcome.durationMs, 0),
    log: runs
      .map(({ log }) => log)
      .join("\n")
      .slice(-20_000),
  }
  const { sandbox } = first
  const warning = sandbox.kind === "none" ? `\nWARNING: the tests ran WITHOUT a sandbox (${sandbox.reason}).` : ""
  const output = plainOutput(runs.map(describeRun).join("\n")) + warning
  const parts = { output, data, metadata: { sandbox } }
  if (runs.every(({ success: passed }) => passed)) return success(parts)
  const broken = runs.find((run) => !run.success && (run.report.failed === 0 || run.outcome.ended !== "exit"))
  if (broken === undefined) {
    return failure({
      ...parts,
      code: "TESTS_FAILED",
      message: `${data.failed} of ${data.passed + data.failed} tests failed.`,
      hint: "Correct the code at the places named, then run the tests again.",
    })
  }
  const { ended } = broken.outcome
  return failure({
    ...parts,
    code: ended === "timeout" ? "TIMEOUT" : ended === "cancelled" ? "CANCELLED" : "TEST_RUN_FAILED",
    message: broken.problem ?? "The test run failed.",
    hint: `What the runner said:\n${broken.log.slice(-3000)}`,
    output: `${output}\n${broken.log.slice(-3000)}`,
  })
}
