import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { insideRoot, sandboxPolicy, shownPath, type ProcessHost } from "@toolwright/host/process"
import type { Workspace } from "@toolwright/host/paths"
import { detectFrameworks } from "../run-tests/detect.ts"
import { describeRun } from "../run-tests/test.ts"
import type { CheckReport, CheckRequest, Operation, Problem } from "./check.ts"

export type { CheckReport, CheckRequest, Operation } from "./check.ts"

type Verdict = Omit<CheckReport, "name" | "duration_ms">

const DEFAULT_MAX_LINES = 700

/** Makes one check. A check that cannot be made for a reason of the machine is failed, never passed. */
export async function check(name: Operation, request: CheckRequest): Promise<CheckReport> {
  const started = performance.now()
  const verdict = await CHECKS[name](request).catch((thrown: unknown): Verdict => {
    if (request.signal.aborted) throw thrown
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return { status: "failed", summary: `The check itself broke: ${message}`, errors: [{ message }] }
  })
  return { name, ...verdict, duration_ms: performance.now() - started }
}

const CHECKS: Record<Operation, (request: CheckRequest) => Promise<Verdict>> = {
  syntax: checkSyntaxOf,
  tests: checkTests,
  "file-length": checkLength,
  "pre-commit": async (request) => (await import("./pre-commit.ts")).checkPreCommit(request),
}

async function checkSyntaxOf({ host, files, signal }: CheckRequest): Promise<Verdict> {
  const { checkSyntax } = await import("../workspace/syntax.ts")
  const chosen = files.length > 0 ? files : await sourceFiles(host)
  const errors: Problem[] = []
  const skipped: string[] = []
  let checked = 0
  for (const file of chosen) {
    const source = await readText(host.workspace, file)
    if (typeof source !== "string") {
      errors.push({ file, message: source.problem })
      continue
    }
    const verdict = await checkSyntax(file, source, { signal, policy: sandboxPolicy(host) })
    if (verdict.status === "skipped") skipped.push(verdict.reason)
    else checked++
    if (verdict.status === "failed")
      errors.push({ file, message: verdict.message, ...(verdict.line === undefined ? {} : { line: verdict.line }) })
  }
  if (errors.length > 0)
    return { status: "failed", summary: `${errors.length} of ${chosen.length} files are wrong.`, errors }
  if (checked === 0)
    return { status: "skipped", summary: [...new Set(skipped)].join("; ") || "not configured: no source files", errors }
  return { status: "passed", summary: `${checked} files can be parsed.`, errors }
}

async function checkTests({ host, signal }: CheckRequest): Promise<Verdict> {
  const frameworks = await detectFrameworks(host.root)
  if (frameworks.length === 0) return { status: "skipped", summary: "not configured: no tests found", errors: [] }
  const { runTests } = await import("../run-tests/run-tests.ts")
  const errors: Problem[] = []
  const summaries: string[] = []
  for (const framework of frameworks) {
    const run = await runTests(host, { framework, signal })
    summaries.push(describeRun(run).split("\n")[0]!)
    for (const { name, message, file, line } of run.report.failures) {
      errors.push({
        message,
        test: name,
        ...(file === undefined ? {} : { file }),
        ...(line === undefined ? {} : { line }),
      })
    }
    if (run.problem !== undefined) errors.push({ message: run.problem })
  }
  return { status: errors.length === 0 ? "passed" : "failed", summary: summaries.join(" "), errors }
}

async function checkLength({ host, files }: CheckRequest): Promise<Verdict> {
  const limit = host.config.validation?.maxLines ?? DEFAULT_MAX_LINES
  const chosen = files.length > 0 ? files : await sourceFiles(host)
  if (chosen.length === 0) return { status: "skipped", summary: "not configured: no source files", errors: [] }
  const errors: Problem[] = []
  for (const file of chosen) {
    const source = await readText(host.workspace, file)
    if (typeof source !== "string") {
      errors.push({ file, message: source.problem })
      continue
    }
    const lines = source === "" ? 0 : source.split("\n").length - (source.endsWith("\n") ? 1 : 0)
    if (lines > limit)
      errors.push({ file, message: `${file} has ${lines} lines; at most ${limit} are allowed. Split it.` })
  }
  const summary =
    errors.length === 0
      ? `${chosen.length} files have at most ${limit} lines.`
      : `${errors.length} files are missing or longer than ${limit} lines.`
  return { status: errors.length === 0 ? "passed" : "failed", summary, errors }
}

const SOURCE = /\.(?:py|[cm]?[jt]s|json)$/u
const SKIPPED = new Set(["node_modules", ".git", ".venv", "venv", "dist", "build", "target", ".meta", "__pycache__"])
const MOST_FILES = 2000

/** The source files below a folder: for a call that names none, or names the folder. */
async function sourceFiles(host: ProcessHost, below = "."): Promise<string[]> {
  const files: string[] = []
  await host.workspace.walk(
    below,
    (entry) => {
      if (entry.kind === "directory" && (SKIPPED.has(entry.name) || entry.name.startsWith("."))) return "skip"
      if (entry.kind === "file" && SOURCE.test(entry.name) && entry.name !== "package-lock.json")
        files.push(below === "." ? entry.path : `${below}/${entry.path}`)
      return files.length >= MOST_FILES ? "stop" : undefined
    },
    { sorted: true },
  )
  return files
}

async function readText(workspace: Workspace, file: string): Promise<string | { problem: string }> {
  try {
    return (await workspace.read(file)).bytes.toString("utf8")
  } catch (thrown) {
    return { problem: ToolwrightError.isInstance(thrown) ? thrown.message : `${file} cannot be read` }
  }
}

/**
 * The files of a call as paths from the workspace's top; a folder stands for its source files. @throws ToolwrightError
 * `ACCESS_DENIED`, `NOT_FOUND`
 */
export async function chosenFiles(host: ProcessHost, files: unknown): Promise<string[]> {
  const list = typeof files === "string" ? [files] : Array.isArray(files) ? files.map(String) : []
  const chosen: string[] = []
  for (const file of list.map((one) => shownPath(host, insideRoot(host, one)))) {
    const stat = await lstat(join(host.root, file)).catch(() => undefined)
    if (stat === undefined) {
      throw new ToolwrightError("NOT_FOUND", `There is no file ${file} to validate.`, {
        hint: "Write it first, or correct file_paths.",
      })
    }
    chosen.push(...(stat.isDirectory() ? await sourceFiles(host, file) : [file]))
  }
  return chosen
}
