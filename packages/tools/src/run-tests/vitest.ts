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
  const start = stdout.search(/\{"(?:numTotalTestSuites|numFailedTestSuites)"/u)
  if (start === -1) return report
  let json: JsonReport
  try {
    json = JSON.parse(stdout.slice(start, stdout.lastIndexOf("}") + 1)) as JsonReport
  } catch {
    return report
  }
  report.complete = true
  for (const file of json.testResults ?? []) {
    const path = belowRoot(root, file.name)
    if (file.assertionResults.length === 0 && file.status === "failed") {
      report.failed++
      report.failures.push({
        name: path,
        file: path,
        message: file.message ?? "The file could not be loaded.",
        ...placeInStack(root, file.message ?? ""),
      })
    }
    for (const test of file.assertionResults) {
      if (test.status === "passed") report.passed++
      else if (test.status !== "failed") report.skipped++
      else {
        const stack = test.failureMessages?.join("\n") ?? ""
        report.failed++
        report.failures.push({
          name: test.fullName.trim(),
          message: stack.split("\n    at ")[0] ?? "failed",
          file: path,
          ...(test.location == null ? {} : { line: test.location.line }),
          ...placeInStack(root, stack),
          ...(stack === "" ? {} : { stack: stack.slice(0, 4000) }),
        })
      }
    }
  }
  return report
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
const { status } = spawnSync(process.execPath, [program, "run", "--reporter=json", "--outputFile=" + file, "--includeTaskLocation", ...rest], { stdio: ["ignore", "inherit", "inherit"] })
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
