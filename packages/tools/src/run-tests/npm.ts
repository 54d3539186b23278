import { plainOutput } from "@toolwright/host/text"
import { parseJestJson } from "./vitest.ts"
import { emptyReport, placeInStack, type TestFramework } from "./report.ts"

/**
 * The project's own `npm test`, whatever that runs. Test Anything Protocol lines (`ok 1 - name`, `not ok 2 - name`) and
 * the JSON report of jest and vitest are understood; of anything else only the exit code and the last lines are told.
 */
export const npm: TestFramework = {
  argv: ({ files }) => ["npm", "test", "--silent", ...(files.length === 0 ? [] : ["--", ...files])],
  parse({ stdout, stderr, exitCode }, { root }) {
    const json = parseJestJson(stdout, root)
    if (json.complete) return json
    const report = emptyReport()
    const lines = stdout.split("\n")
    for (const [index, line] of lines.entries()) {
      const test = /^\s*(not ok|ok)\b(?: \d+)?(?: -)? ?([^#]*)(# (?:SKIP|TODO))?/iu.exec(line)
      if (test === null) continue
      const block = blockAfter(lines, index)
      // A suite is as good as its tests, which are counted themselves.
      if (/^\s*type: ["']?suite|^\s*failureType: ["']?subtestsFailed/mu.test(block)) continue
      if (test[3] !== undefined) report.skipped++
      else if (test[1] === "ok") report.passed++
      else {
        report.failed++
        report.failures.push({
          name: test[2]!.trim(),
          message: messageIn(block) ?? "failed",
          ...placeInStack(root, block),
        })
      }
    }
    if (report.passed + report.failed + report.skipped > 0) return { ...report, complete: true }
    if (exitCode === 0) return { ...report, passed: countedPasses(`${stdout}\n${stderr}`), complete: true }
    const tail = `${stdout}\n${stderr}`.trim().split("\n").slice(-20).join("\n")
    return {
      ...report,
      failed: 1,
      complete: true,
      failures: [{ name: "npm test", message: tail || `exit code ${exitCode}`, ...placeInStack(root, tail) }],
    }
  },
}

/** How many tests passed by what runners print at their end, each in its way; 0 where nothing of the kind is there. */
function countedPasses(output: string): number {
  const plain = plainOutput(output)
  const counts = [
    ...plain.matchAll(/(?:^|[\s:|])(\d{1,7}) (?:tests? |specs? )?pass(?:ed|ing)?\b/gimu),
    ...plain.matchAll(/^(\d{1,7}) specs?, 0 failures/gmu),
    ...plain.matchAll(/\b(?:passed|passes|numPassedTests)"?: {0,8}(\d{1,7})\b/giu),
    ...plain.matchAll(/^<testsuites?\b[^>]{0,500}? tests="(\d{1,7})"/gmu),
  ]
  return Math.max(0, ...counts.map(([, count]) => Number(count)))
}

/** The YAML block that tells more about a test line. */
function blockAfter(lines: readonly string[], index: number): string {
  if (lines[index + 1]?.trim() !== "---")
    return lines
      .slice(index + 1, index + 10)
      .join("\n")
      .split(/^\s*(?:not )?ok /mu)[0]!
  const end = lines.findIndex((line, at) => at > index + 1 && line.trim() === "...")
  return lines.slice(index + 2, end === -1 ? index + 40 : end).join("\n")
}

/** The `error` or `message` of a YAML block: plain, quoted, or a block of lines. */
function messageIn(block: string): string | undefined {
  const found = /^(\s*)(?:error|message): (?:\|[-+]?\n((?:\1\s+.*\n?)+)|'(.*)'|"(.*)"|(\S.*))$/mu.exec(block)
  return (
    found?.[2]
      ?.split("\n")
      .map((line) => line.trim())
      .join("\n")
      .trim() ??
    found?.[3]?.replaceAll("''", "'") ??
    found?.[4] ??
    found?.[5]
  )
}
