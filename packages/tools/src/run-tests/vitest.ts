import { belowRoot, emptyReport, placeInStack, type TestFramework, type TestReport } from "./report.ts"

interface JsonReport {
  testResults?: {
    name: string
    message?: string
    status?: string
    assertionResults: {
      fullName: string
      status: string
      failureMessages?: string[] | null
      location?: { line: number } | null
    }[]
  }[]
}

/** Reads the JSON report that vitest and jest share. */
export function parseJestJson(stdout: string, root: string): TestReport {
  const report = emptyReport()
  const json = reportIn(stdout)
  if (json === undefined) return report
  report.complete = true
  for (const file of json.testResults ?? []) {
    if (file.assertionResults.length === 0 && file.status === "failed") addBroken(report, file, root)
    for (const test of file.assertionResults) {
      if (test.status === "passed") report.passed++
      else if (test.status !== "failed") report.skipped++
      else addFailed(report, test, belowRoot(root, file.name), root)
    }
  }
  return report
}

function reportIn(stdout: string): JsonReport | undefined {
  const start = stdout.search(/\{"(?:numTotalTestSuites|numFailedTestSuites)"/u)
  if (start === -1) return undefined
  try {
    return JSON.parse(stdout.slice(start, stdout.lastIndexOf("}") + 1)) as JsonReport
  } catch {
    return undefined
  }
}

type JsonFile = NonNullable<JsonReport["testResults"]>[number]

/** A file that could not be loaded. */
function addBroken(report: TestReport, { name, message }: JsonFile, root: string): void {
  const path = belowRoot(root, name)
  report.failed++
  report.failures.push({
    name: path,
    file: path,
    message: message ?? "The file could not be loaded.",
    ...placeInStack(root, message ?? ""),
  })
}

function addFailed(
  report: TestReport,
  { fullName, failureMessages, location }: JsonFile["assertionResults"][number],
  file: string,
  root: string,
): void {
  const stack = failureMessages?.join("\n") ?? ""
  report.failed++
  report.failures.push({
    name: fullName.trim(),
    message: stack.split("\n    at ")[0] ?? "failed",
    file,
    ...(location == null ? {} : { line: location.line }),
    ...placeInStack(root, stack),
    ...(stack === "" ? {} : { stack: stack.slice(0, 4000) }),
  })
}

/**
 * Runs vitest with its report in a temporary file and prints that: since version 5 the report never goes to standard
 * output.
 * Arguments: those for node.
 */
const WRAPPER = `
const { spawnSync } = require("node:child_process")
const { mkdtempSync, readFileSync, rmSync } = require("node:fs")
const { join } = require("node:path")
const folder = mkdtempSync(join(require("node:os").tmpdir(), "report-"))
const file = join(folder, "report.json")
const [program, ...rest] = process.argv.slice(1)
const args = [program, "run", "--reporter=json", "--outputFile=" + file, "--includeTaskLocation", ...rest]
const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] })
try { process.stdout.write("\\n" + readFileSync(file, "utf8") + "\\n") } catch {}
rmSync(folder, { recursive: true, force: true })
process.exitCode = status ?? 1
`

/** vitest, from the project's own `node_modules`. */
export const vitest: TestFramework = {
  argv: ({ node, root, files, name }) => [
    node,
    "-e",
    WRAPPER,
    "--",
    `${root}/node_modules/vitest/vitest.mjs`,
    ...(name === undefined ? [] : [`--testNamePattern=${name}`]),
    ...files,
  ],
  parse: ({ stdout }, { root }) => parseJestJson(stdout, root),
}

/** jest, from the project's own `node_modules`. */
export const jest: TestFramework = {
  argv: ({ node, root, files, name }) => [
    node,
    `${root}/node_modules/jest/bin/jest.js`,
    "--json",
    "--testLocationInResults",
    ...(name === undefined ? [] : [`--testNamePattern=${name}`]),
    ...files,
  ],
  parse: ({ stdout }, { root }) => parseJestJson(stdout, root),
}
