import { emptyReport, type TestFramework, type TestReport } from "./report.ts"

/** Reads what `cargo test` prints: test lines, the captured output of failed tests, and compiler errors. */
export function parseCargo(stdout: string, stderr: string): TestReport {
  const report = emptyReport()
  for (const [, name, result] of stdout.matchAll(/^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/gmu)) {
    report.complete = true
    if (result === "ok") report.passed++
    else if (result === "ignored") report.skipped++
    else {
      report.failed++
      report.failures.push({ name: name!, ...detail(stdout, name!) })
    }
  }
  if (/^test result:/mu.test(stdout)) report.complete = true
  for (const [, message, file, line] of stderr.matchAll(/^error(?:\[\w+\])?: (.+)\n\s*--> ([^:\n]+):(\d+):\d+/gmu)) {
    report.complete = true
    report.failed++
    report.failures.push({ name: "build", message: message!, file: file!, line: Number(line) })
  }
  return report
}

function detail(stdout: string, name: string): { message: string; file?: string; line?: number; stack?: string } {
  const start = stdout.indexOf(`---- ${name} stdout ----`)
  if (start === -1) return { message: "failed" }
  const rest = stdout.slice(start + name.length + 17)
  const block = rest.slice(0, rest.search(/\n---- |\nfailures:|$(?![\s\S])/u)).trim()
  const panic = /panicked at (?:'(?<old>.*?)', )?(?<file>[^:\s]+):(?<line>\d+):\d+:?\n?(?<text>[\s\S]*)/u.exec(
    block,
  )?.groups
  if (panic === undefined) return { message: block || "failed", stack: block }
  const message = (panic.old ?? panic.text ?? "").replace(/\nnote: run with [\s\S]*$/u, "").trim()
  return { message, file: panic.file!, line: Number(panic.line), stack: block.slice(0, 4000) }
}

/** `cargo test`, without the network. */
export const cargo: TestFramework = {
  argv: ({ name }) => [
    "cargo",
    "test",
    "--offline",
    "--no-fail-fast",
    "--color=never",
    ...(name === undefined ? [] : ["--", name]),
  ],
  parse: ({ stdout, stderr }) => parseCargo(stdout, stderr),
}
