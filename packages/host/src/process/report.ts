import { sandboxNotice, type SandboxReport } from "../sandbox/sandbox.ts"
import { plainOutput } from "../text/escapes.ts"
import type { Captured } from "../spawn/capture.ts"
import type { ProcessOutcome } from "../spawn/run-process.ts"

/** One stream for programs. `log` is the file with the whole stream when `text` is not all of it. */
export interface StreamReport {
  text: string
  bytes: number
  truncated: boolean
  log?: string
}

export function streamReport(captured: Captured): StreamReport {
  const { text, bytes, truncated, logFile } = captured
  return { text: plainOutput(text), bytes, truncated, ...(logFile === undefined ? {} : { log: logFile }) }
}

/** How a process ended, in a few words. */
export function endingOf(outcome: ProcessOutcome, timeoutMs: number): string {
  switch (outcome.ended) {
    case "timeout":
      return `ended after its time limit of ${timeoutMs} ms`
    case "cancelled":
      return "cancelled"
    case "output-limit":
      return "ended because it wrote too much"
    case "disk-limit":
      return "ended because it made too many files, or filled the disk"
    case "memory-limit":
      return "ended because it took too much memory"
    case "exit":
      return outcome.signal === null ? `exit code ${outcome.exitCode}` : `killed by ${outcome.signal}`
  }
}

/** Both streams, how the process ended, and a loud warning when nothing contained it: the text for a model. */
export function outcomeText(outcome: ProcessOutcome, sandbox: SandboxReport, timeoutMs: number): string {
  const parts: string[] = []
  for (const [name, captured] of [
    ["stdout", outcome.stdout],
    ["stderr", outcome.stderr],
  ] as const) {
    const stream = streamReport(captured)
    if (stream.text.trim() === "") continue
    const more =
      stream.log === undefined ? "" : `\n[${stream.bytes} bytes in all, in ${stream.log}; it can be read in parts]`
    parts.push(name === "stdout" ? stream.text.trimEnd() + more : `[stderr]\n${stream.text.trimEnd()}${more}`)
  }
  parts.push(`[${endingOf(outcome, timeoutMs)}, ${Math.round(outcome.durationMs)} ms]`)
  const notice = sandboxNotice(sandbox)
  if (notice !== "") parts.push(notice)
  return parts.join("\n")
}
