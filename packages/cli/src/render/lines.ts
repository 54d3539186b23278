import { asFlags } from "../as-flags.ts"
import type { RunEvent, RunSummary, ToolResult } from "@toolwright/toolbox"
import { neutralise } from "./neutralise.ts"
import { count, duration, oneLine, shortArguments } from "./short.ts"
import type { Style } from "./style.ts"

/** What the lines of a run are written with. `unicode` is for terminals; pipes get plain words. */
export interface LineOptions {
  style: Style
  width: number
  unicode: boolean
}

/**
 * The lines that stay of each event, shared by the terminal, pipes and `runs show`. Remembers what it needs between
 * events
 * (calls until their results).
 */
export function createLines({ style, width, unicode }: LineOptions): (event: RunEvent) => string[] {
  const calls = new Map<string, string>()
  const mark = unicode
    ? { ok: "✓", failed: "✗", note: "!", more: "↻", dry: "○" }
    : { ok: "ok    ", failed: "failed", note: "note  ", more: "retry ", dry: "call  " }
  const room = Math.max(40, width)

  function toolEnd(callId: string, name: string, result: ToolResult): string[] {
    const took = duration(result.executionTimeMs)
    const dry = result.success && result.metadata.dryRun === true
    const sign = dry ? style.cyan(mark.dry) : result.success ? style.green(mark.ok) : style.red(mark.failed)
    const call = calls.get(callId) ?? ""
    calls.delete(callId)
    const lines = [
      `  ${sign} ${style.bold(neutralise(name))} ${style.dim(oneLine(call, room - name.length - took.length - 12))} ${style.dim(took)}`,
    ]
    if (dry)
      return [
        ...lines,
        `    ${style.dim(`well-formed, not run${result.metadata.permission === "ask" ? "; would ask for approval" : ""}`)}`,
      ]
    const text = result.success ? result.output : (result.error?.message ?? result.output)
    // What went wrong is worth more than one line.
    const shown = oneLine(text, result.success ? room - 6 : Math.max(300, room))
    if (shown !== "") lines.push(`    ${result.success ? style.dim(shown) : shown}`)
    return lines
  }

  return (event) => {
    switch (event.type) {
      case "run-start":
        return [
          `${style.bold(neutralise(event.agent))} with ${neutralise(event.model)} ${style.dim(`(${event.format}: ${neutralise(event.because)}), ${count(event.tools.length, "tool")}${event.dryRun === true ? ", dry run: nothing will be run" : ""}`)}`,
          ...(event.unavailable.length === 0 ? [] : [style.dim(`not available here: ${event.unavailable.join(", ")}`)]),
        ]
      case "round-start":
        return [style.cyan(`round ${event.round}/${event.maxRounds}`)]
      case "request":
        return readAnew(event.prefix).map((line) => `  ${style.dim(line)}`)
      case "model-retry":
        return [
          `  ${style.yellow(mark.more)} ${oneLine(event.reason, room - 28)}; try ${event.attempt + 1} in ${duration(event.delayMs)}`,
        ]
      case "delivery-fallback":
        return [
          `  ${style.yellow(mark.note)} ${event.from} is not possible (${oneLine(event.reason, Math.max(20, room - 40))}), going on with ${event.to}`,
        ]
      case "grammar-refused":
        return [
          `  ${style.yellow(mark.note)} ${oneLine(`no grammar holds the arguments of ${event.tool}: ${event.reason}`, room - 6)}`,
        ]
      case "reply": {
        const text = neutralise(event.content.trim())
        return text === "" ? [] : text.split("\n").map((line) => `  ${line}`)
      }
      case "parse-problem":
        return [
          `  ${style.yellow(mark.note)} ${oneLine(`${event.kind}: ${event.message}${event.repaired ? " (put right)" : ""}`, room - 6)}`,
        ]
      case "tool-start":
        calls.set(event.callId, shortArguments(event.arguments, room))
        return event.repairs.length === 0
          ? []
          : [
              `  ${style.yellow(mark.note)} ${oneLine(`${event.name}: put right ${event.repairs.map((repair) => `${repair.path || "name"} (${repair.kind})`).join(", ")}`, room - 6)}`,
            ]
      case "tool-end":
        return toolEnd(event.callId, event.name, event.result)
      case "nudge":
        return [`  ${style.yellow(mark.note)} ${oneLine(event.text, room - 6)}`]
      case "loop-detected":
        return [`  ${style.yellow(mark.note)} ${oneLine(event.text, room - 6)}`]
      case "completion-refused":
        return [`  ${style.yellow(mark.note)} not accepted as done: ${oneLine(event.reasons.join("; "), room - 30)}`]
      case "tools-changed":
        return [
          ...(event.added.length === 0 ? [] : [`told of more tools: ${event.added.join(", ")}`]),
          ...(event.removed.length === 0 ? [] : [`no longer there: ${event.removed.join(", ")}`]),
        ].map((line) => `  ${style.yellow(mark.note)} ${oneLine(line, room - 6)}`)
      case "run-end":
        return [
          ...summaryLines(event.summary, style),
          ...(event.error?.hint === undefined ? [] : [neutralise(asFlags(event.error.hint))]),
        ]
      default:
        return []
    }
  }
}

/** Said where a server has to read much of a prompt anew, since something in its front is not as it was. */
function readAnew(prefix: { kept: number; of: number } | undefined): string[] {
  if (prefix === undefined || prefix.kept >= prefix.of * 0.9) return []
  return [
    `the prompt is as before for ${Math.floor((100 * prefix.kept) / prefix.of)} %: the server reads the rest anew`,
  ]
}

/** What a run amounts to. */
export function summaryLines(summary: RunSummary, style: Style): string[] {
  const { outcome, success, message, rounds, calls, failedCalls, correctedFailures, modifiedFiles, times } = summary
  const title = success ? style.green("done") : style.red(outcome)
  const counts = [
    count(rounds, "round"),
    count(calls, "call"),
    ...(failedCalls === 0 ? [] : [`${failedCalls} failed`, `${correctedFailures} corrected`]),
    `${duration(times.totalMs)} (model ${duration(times.modelMs)}, tools ${duration(times.toolMs)}, own ${Math.round(times.overheadMs)} ms)`,
  ]
  return [
    `${title}: ${neutralise(message)}`,
    counts.join(", "),
    ...(modifiedFiles.length === 0 ? [] : [`changed: ${neutralise(modifiedFiles.join(", "))}`]),
    ...noteLines(summary, style),
  ]
}

/**
 * How a run ended, where that is not as it should be.
 *
 * @param said the model's last words, which are not said again
 * @returns nothing where they say it all
 */
export function endingOf(
  { outcome, success, message, dryRun }: RunSummary,
  said: string,
  style: Style,
): string | undefined {
  if (success || (outcome === "nothing-done" && message === said.trim())) return undefined
  return outcome === "completed-with-failures" && dryRun !== true
    ? style.red(outcome)
    : `${style.red(outcome)}: ${neutralise(message)}`
}

/** What a person should know of a run, a line for each. */
export function noteLines({ notes = [] }: RunSummary, style: Style): string[] {
  return notes.map(({ message }) => `${style.yellow("note")}: ${neutralise(message)}`)
}
