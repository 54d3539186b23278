import { parseJestJson } from "./vitest.ts"
import { emptyReport, placeInStack, type TestFramework } from "./report.ts"

/**
 * The project's own `npm test`, whatever that runs. Test Anything Protocol lines (`ok 1 - name`, `not ok 2 - name`) and the JSON
 * report of jest and vitest are understood; of anything else only the exit code and the last lines are told.
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
      if (test === null || /^\s*# /u.test(line)) continue
      if (test[3] !== undefined) report.skipped++
      else if (test[1] === "ok") report.passed++
      else {
        const block = lines.slice(index + 1, index + 40).join("\n")
        report.failed++
        const said = /^\s*(?:error|message): (?:'(.*)'|"(.*)"|(\S.*))$/mu.exec(block)
        report.failures.push({ name: test[2]!.trim(), message: said?.[1] ?? said?.[2] ?? said?.[3] ?? "failed", ...placeInStack(root, block) })
      }
    }
    if (report.passed + report.failed + report.skipped > 0) return { ...report, complete: true }
    if (exitCode === 0) return { ...report, complete: true }
    const tail = `${stdout}\n${stderr}`.trim().split("\n").slice(-20).join("\n")
    return { ...report, failed: 1, complete: true, failures: [{ name: "npm test", message: tail || `exit code ${exitCode}`, ...placeInStack(root, tail) }] }
  },
}
