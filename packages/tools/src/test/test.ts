import {
  defineTool,
  failure,
  success,
  type JsonObject,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { failureOf, insideRoot, shownPath, type ProcessHost } from "@toolwright/host/process"
import { plainOutput } from "@toolwright/host/text"
import { detectFrameworks, FRAMEWORKS, type Framework } from "./detect.ts"
import type { TestRun } from "./run-tests.ts"

/** The `test` tool: runs the project's tests and tells which failed, where and why. */
export function createTestTool(host: ProcessHost): ToolDefinition {
  return defineTool({
    name: "test",
    title: "Run tests",
    description: "Run the project's tests; failures come with file, line and message",
    category: "build",
    optionality: "optional",
    usageHint: "Run it after every change; without arguments it finds the framework itself.",
    tags: ["tests"],
    aliases: {
      names: ["run_tests", "test_runner"],
      arguments: { path: "files", file_paths: "files", test_path: "files", pattern: "name" },
    },
    effects: { readOnly: false, writes: [] },
    input: {
      type: "object",
      properties: {
        framework: {
          type: "string",
          enum: ["auto", "python", ...FRAMEWORKS],
          description: "How to run them; auto unless given.",
        },
        files: {
          type: "array",
          items: { type: "string" },
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
    output: {
      type: "object",
      properties: {
        framework: { type: "string" },
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
    },
    examples: [{ description: "Run all tests", input: {} }],
    timeoutMs: 3_605_000,
    run: (args, context) => runTestTool(host, args, context),
  })
}

async function runTestTool(host: ProcessHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  try {
    const files = (Array.isArray(args.files) ? args.files : []).map((file) =>
      shownPath(host, insideRoot(host, String(file))),
    )
    const framework = await choose(host.root, args.framework)
    if (framework === undefined) {
      return failure({
        code: "NO_TESTS",
        message:
          "No tests found: neither a test script in package.json, nor Cargo.toml, go.mod, *.test.js, *.test.ts or test_*.py files.",
        hint: 'Write tests first, or name the framework: {"framework": "node", "files": ["test/all.mjs"]}.',
      })
    }
    const { runTests } = await import("./run-tests.ts")
    const run = await runTests(host, {
      framework,
      files,
      signal: context.signal,
      onProgress: (message) => context.progress({ message }),
      ...(typeof args.name === "string" ? { name: args.name } : {}),
      ...(typeof args.timeout_ms === "number" ? { timeoutMs: args.timeout_ms } : {}),
    })
    return resultOf(run)
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

async function choose(root: string, asked: unknown): Promise<Framework | undefined> {
  if (typeof asked === "string" && (FRAMEWORKS as readonly string[]).includes(asked)) return asked as Framework
  const found = await detectFrameworks(root)
  if (asked === "python") return found.find((one) => one === "pytest" || one === "unittest") ?? "unittest"
  return found[0]
}

/** Failures as text: name, place, message. */
export function describeRun(run: TestRun): string {
  const { passed, failed, skipped, failures } = run.report
  const lines = [`${run.framework}: ${passed} passed, ${failed} failed, ${skipped} skipped.`]
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

function resultOf(run: TestRun): ToolResult {
  const { report, outcome, sandbox, framework } = run
  const { complete: _, ...counts } = report
  const data = {
    framework,
    ...counts,
    exit_code: outcome.exitCode,
    ended: outcome.ended,
    duration_ms: outcome.durationMs,
    log: run.log.slice(-20_000),
  }
  const warning = sandbox.kind === "none" ? `\nWARNING: the tests ran WITHOUT a sandbox (${sandbox.reason}).` : ""
  const output = plainOutput(describeRun(run)) + warning
  if (run.success) return success({ output, data, metadata: { sandbox } })
  if (report.failed > 0 && outcome.ended === "exit") {
    return failure({
      code: "TESTS_FAILED",
      message: `${report.failed} of ${report.passed + report.failed} tests failed.`,
      hint: "Correct the code at the places named, then run the tests again.",
      output,
      data,
      metadata: { sandbox },
    })
  }
  const code = outcome.ended === "timeout" ? "TIMEOUT" : outcome.ended === "cancelled" ? "CANCELLED" : "TEST_RUN_FAILED"
  return failure({
    code,
    message: run.problem ?? "The test run failed.",
    hint: `What the runner said:\n${run.log.slice(-3000)}`,
    output: `${output}\n${run.log.slice(-3000)}`,
    data,
    metadata: { sandbox },
  })
}
