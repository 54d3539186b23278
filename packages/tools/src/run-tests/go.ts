import { emptyReport, type TestFramework, type TestReport } from "./report.ts"

interface GoEvent {
  Action: string
  Package?: string
  Test?: string
  Output?: string
  ImportPath?: string
}

/** Reads the events of `go test -json` (`go doc test2json`). */
export function parseGo(stdout: string, stderr: string): TestReport {
  const report = emptyReport()
  const output = new Map<string, string>()
  const parents = new Set<string>()
  for (const line of stdout.split("\n")) {
    const event = parseEvent(line)
    if (event === undefined) continue
    const key = `${event.Package ?? event.ImportPath ?? ""} ${event.Test ?? ""}`
    if (event.Output !== undefined) output.set(key, (output.get(key) ?? "") + event.Output)
    if (event.Test?.includes("/") === true) parents.add(`${event.Package} ${event.Test.replace(/\/[^/]*$/u, "")}`)
    report.complete = true
    addEvent(report, event, output.get(key) ?? "", { isParent: parents.has(key), stderr })
  }
  return report
}

function addEvent(
  report: TestReport,
  event: GoEvent,
  text: string,
  { isParent, stderr }: { isParent: boolean; stderr: string },
): void {
  const { Action: action, Test: test } = event
  if (test === undefined) {
    if (action === "build-fail" || (action === "fail" && isBroken(text))) addBroken(report, event, text, stderr)
  } else if (action === "skip") report.skipped++
  else if (action === "pass" && !isParent) report.passed++
  else if (action === "fail" && !isParent) addFailed(report, test, text)
}

function addFailed(report: TestReport, name: string, text: string): void {
  const place = /^\s*([\w./-]+\.go):(\d+): ?(.*(?:\n {8,}.*)*)/mu.exec(text)
  report.failed++
  report.failures.push({
    name,
    message: place?.[3]?.trim() || panicOf(text) || text.trim() || "failed",
    ...(place === null ? {} : { file: place[1]!, line: Number(place[2]) }),
    stack: text.slice(0, 4000),
  })
}

function addBroken(report: TestReport, event: GoEvent, text: string, stderr: string): void {
  const said = text.includes(".go:") ? text : stderr
  const place = /^(?:vet: )?(?:\.\/)?([\w./-]+\.go):(\d+)(?::\d+)?: (.*)$/mu.exec(said)
  report.failed++
  report.failures.push({
    name: event.Package ?? event.ImportPath ?? "build",
    message: place?.[3] ?? (said.trim() || "the package could not be built"),
    ...(place === null ? {} : { file: place[1]!, line: Number(place[2]) }),
  })
}

const isBroken = (text: string) => /\[(build|setup) failed\]/u.test(text)
const panicOf = (text: string) => /^panic: (.*)$/mu.exec(text)?.[0]

function parseEvent(line: string): GoEvent | undefined {
  if (!line.startsWith("{")) return undefined
  try {
    return JSON.parse(line) as GoEvent
  } catch {
    return undefined
  }
}

/** `go test`. */
export const go: TestFramework = {
  argv: ({ files, name }) => [
    "go",
    "test",
    "-json",
    ...(name === undefined ? [] : [`-run=${name}`]),
    ...(files.length === 0 ? ["./..."] : [...new Set(files.map((file) => `./${file.replace(/\/?[^/]*\.go$/u, "")}`))]),
  ],
  parse: ({ stdout, stderr }) => parseGo(stdout, stderr),
}
