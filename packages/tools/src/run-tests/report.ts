/**
 * A test that did not pass: which, where, and what it said. `file` is relative to the workspace, `line` counts from 1.
 */
export interface TestFailure {
  name: string
  message: string
  file?: string
  line?: number
  stack?: string
}

/** What a test run found. `complete` is false when the runner broke before it could tell. */
export interface TestReport {
  passed: number
  failed: number
  skipped: number
  failures: TestFailure[]
  complete: boolean
}

export function emptyReport(): TestReport {
  return { passed: 0, failed: 0, skipped: 0, failures: [], complete: false }
}

/** What a framework module needs to know of the run it makes a command for. */
export interface TestRequest {
  readonly root: string
  readonly files: readonly string[]
  readonly name?: string
  readonly node: string
}

/** A framework: how it is started, and how its output is read. */
export interface TestFramework {
  /** The argument vector; `marker` is a secret line prefix for reporters of ours. */
  argv(request: TestRequest, marker: string): readonly string[]
  parse(
    output: { stdout: string; stderr: string; exitCode: number | null },
    request: TestRequest,
    marker: string,
  ): TestReport
}

/** The lines that a reporter of ours wrote, parsed. */
export function markedLines(stdout: string, marker: string): Record<string, unknown>[] {
  const events: Record<string, unknown>[] = []
  for (const line of stdout.split("\n")) {
    const at = line.indexOf(marker)
    if (at === -1) continue
    try {
      events.push(JSON.parse(line.slice(at + marker.length)) as Record<string, unknown>)
    } catch {
      // A line that was cut by the output limit.
    }
  }
  return events
}

/** A path as it lies below the root, or as it is when it lies elsewhere. */
export function belowRoot(root: string, file: string): string {
  const path = file.startsWith("file://") ? decodeURIComponent(file.slice(7)) : file
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

/** Finds where in the workspace a stack trace points: the first frame that is no library's. */
export function placeInStack(root: string, stack: string): { file: string; line: number } | undefined {
  for (const match of stack.matchAll(/(?:\(|at |^|\s)((?:file:\/\/)?\/?[^\s():]+):(\d+)(?::\d+)?/gmu)) {
    const full = match[1]!.replace(/^file:\/\//u, "")
    if (!full.startsWith(`${root}/`) || full.includes("/node_modules/")) continue
    return { file: belowRoot(root, full), line: Number(match[2]) }
  }
  return undefined
}

/** Fills a report from events `{ event: "pass" | "fail" | "skip" | "end", name, file, line, message, stack }`. */
export function reportOf(events: readonly Record<string, unknown>[], root: string): TestReport {
  const report = emptyReport()
  for (const event of events) {
    if (event.event === "pass") report.passed++
    else if (event.event === "skip") report.skipped++
    else if (event.event === "end") report.complete = true
    else if (event.event === "fail") {
      const stack = typeof event.stack === "string" ? event.stack : ""
      const told =
        typeof event.file === "string"
          ? { file: belowRoot(root, event.file), ...(typeof event.line === "number" ? { line: event.line } : {}) }
          : {}
      report.failed++
      report.failures.push({
        name: String(event.name),
        message: String(event.message ?? "failed"),
        ...told,
        ...placeInStack(root, stack),
        ...(stack === "" ? {} : { stack: stack.slice(0, 4000) }),
      })
    }
  }
  return report
}
