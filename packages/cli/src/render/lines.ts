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
 * events (calls until their results).
 */
export function createLines({ style, width, unicode }: LineOptions): (event: RunEvent) => string[] {
  const marks = unicode
    ? { ok: "✓", failed: "✗", note: "!", more: "↻", dry: "○" }
    : { ok: "ok    ", failed: "failed", note: "note  ", more: "retry ", dry: "call  " }
  const sheet: Sheet = { style, marks, room: Math.max(40, width), calls: new Map(), window: "low", said: "" }
  return (event) => (Object.hasOwn(LINES, event.type) ? (LINES[event.type] as Lines)(event, sheet) : [])
}

/** What lines are written with, and the calls that wait for their results. */
interface Sheet {
  readonly style: Style
  readonly marks: Readonly<Record<"ok" | "failed" | "note" | "more" | "dry", string>>
  readonly room: number
  readonly calls: Map<string, string>
  /** How full the window was when that was last told. */
  window: string
  /** What the model said last. */
  said: string
}

type Lines<Event = RunEvent> = (event: Event, sheet: Sheet) => string[]

/** What is said of each kind of event; of others nothing is. */
const LINES: { readonly [Type in RunEvent["type"]]?: Lines<Extract<RunEvent, { type: Type }>> } = {
  "run-start": ({ agent, model, format, because, tools, dryRun, unavailable }, { style }) => {
    const dry = dryRun === true ? ", dry run: nothing will be run" : ""
    const how = style.dim(`(${format}: ${neutralise(because)}), ${count(tools.length, "tool")}${dry}`)
    return [
      `${style.bold(neutralise(agent))} with ${neutralise(model)} ${how}`,
      ...(unavailable.length === 0 ? [] : [style.dim(`not available here: ${unavailable.join(", ")}`)]),
    ]
  },
  "run-resume": ({ model, round, calls }, { style }) => [
    `${style.bold("goes on")} with ${neutralise(model)} ` +
      `${style.dim(`from round ${round} on, after ${count(calls, "call")}`)}`,
  ],
  "round-start": ({ round, maxRounds }, { style }) => [style.cyan(`round ${round}/${maxRounds}`)],
  request: ({ prefix, context, toolBias }, sheet) =>
    [...readAnew(prefix), ...windowLines(context, sheet), ...leanings(toolBias, sheet.room)].map(
      (line) => `  ${sheet.style.dim(line)}`,
    ),
  "model-retry": ({ reason, attempt, delayMs }, { style, marks, room }) => [
    `  ${style.yellow(marks.more)} ${oneLine(reason, room - 28)}; try ${attempt + 1} in ${duration(delayMs)}`,
  ],
  "delivery-fallback": ({ from, to, reason }, sheet) => {
    const why = oneLine(reason, Math.max(20, sheet.room - 40))
    return [marked(sheet, `${from} is not possible (${why}), going on with ${to}`)]
  },
  "grammar-refused": ({ tool, reason }, sheet) => [
    noted(sheet, `no grammar holds the arguments of ${tool}: ${reason}`),
  ],
  reply: ({ content }, sheet) => {
    sheet.said = content.trim()
    const text = neutralise(sheet.said)
    return text === "" ? [] : text.split("\n").map((line) => `  ${line}`)
  },
  "parse-problem": ({ kind, message, repaired }, sheet) => [
    noted(sheet, `${kind}: ${message}${repaired ? " (put right)" : ""}`),
  ],
  "tool-start": ({ callId, name, arguments: args, repairs }, sheet) => {
    sheet.calls.set(callId, shortArguments(args, sheet.room))
    const list = repairs.map(({ path, kind }) => `${path || "name"} (${kind})`)
    return list.length === 0 ? [] : [noted(sheet, `${name}: put right ${list.join(", ")}`)]
  },
  "tool-end": ({ callId, name, result }, sheet) => {
    const call = sheet.calls.get(callId) ?? ""
    sheet.calls.delete(callId)
    return [callLine(name, call, result, sheet), ...resultLines(result, sheet)]
  },
  nudge: ({ text }, sheet) => [noted(sheet, text)],
  "loop-detected": ({ text }, sheet) => [noted(sheet, text)],
  "completion-refused": ({ reasons }, sheet) => [
    marked(sheet, `not accepted as done: ${oneLine(reasons.join("; "), sheet.room - 30)}`),
  ],
  "phase-start": ({ phase, index, of, tools }, { style }) => [
    `${style.bold(`phase ${index}/${of} ${neutralise(phase)}`)} ${style.dim(`(${count(tools.length, "tool")})`)}`,
  ],
  "phase-end": ({ phase, rounds, artifact }, { style, room }) => [
    `${style.bold(neutralise(phase))} ended after ${count(rounds, "round")}`,
    ...(artifact === undefined
      ? []
      : [
          `  ${style.dim(
            `handed over ${neutralise(artifact.name)}: ${oneLine(JSON.stringify(artifact.value), room - 20)}`,
          )}`,
        ]),
  ],
  "tools-changed": ({ added, removed }, sheet) => [
    ...(added.length === 0 ? [] : [noted(sheet, `told of more tools: ${added.join(", ")}`)]),
    ...(removed.length === 0 ? [] : [noted(sheet, `no longer there: ${removed.join(", ")}`)]),
  ],
  "undo-start": ({ of, by, paths }, { style }) => [
    `${style.bold(neutralise(by))} takes back what ${neutralise(of)} changed: ${count(paths.length, "path")}`,
  ],
  "undo-end": ({ restored, refused }, sheet) => [
    ...restored.map((path) => `  ${sheet.style.green(sheet.marks.ok)} ${neutralise(path)}`),
    ...refused.map(({ path, reason }) => noted(sheet, `${path} stays: ${reason}`)),
  ],
  "evaluation-start": ({ suite, tasks, models, trials }) => [
    `${neutralise(suite)}: ${count(tasks.length, "task")} with ${models.map(neutralise).join(", ")}, ` +
      `${count(trials, "trial")}`,
  ],
  "trial-end": ({ task, model, trial, verdict, run }) => [
    `  ${verdict}  ${neutralise(task)}  ${neutralise(model)}  trial ${trial}${run === undefined ? "" : `  ${run}`}`,
  ],
  "evaluation-end": ({ passed, failed }) => [`${passed} of ${passed + failed} passed`],
  "run-end": ({ summary, error }, { style, said }) => [
    ...summaryLines(summary, style, said),
    ...(error?.hint === undefined ? [] : [neutralise(asFlags(error.hint))]),
  ],
}

function marked({ style, marks }: Sheet, text: string): string {
  return `  ${style.yellow(marks.note)} ${text}`
}

/** A remark in one line. */
function noted(sheet: Sheet, text: string): string {
  return marked(sheet, oneLine(text, sheet.room - 6))
}

const isDry = ({ success, metadata }: ToolResult): boolean => success && metadata.dryRun === true

/** How a call went, and how long it took. */
function callLine(name: string, call: string, result: ToolResult, { style, marks, room }: Sheet): string {
  const took = duration(result.executionTimeMs)
  const sign = isDry(result) ? style.cyan(marks.dry) : result.success ? style.green(marks.ok) : style.red(marks.failed)
  const args = style.dim(oneLine(call, room - name.length - took.length - 12))
  return `  ${[sign, style.bold(neutralise(name)), args, style.dim(took)].filter((part) => part !== "").join(" ")}`
}

/** What came of a call. */
function resultLines(result: ToolResult, { style, room }: Sheet): string[] {
  const { success, output, error, metadata } = result
  if (isDry(result)) {
    const asks = metadata.permission === "ask" ? "; would ask for approval" : ""
    return [`    ${style.dim(`well-formed, not run${asks}`)}`]
  }
  // What went wrong is worth more than one line.
  const shown = success
    ? oneLine(withoutDifference(output), room - 6)
    : oneLine(error?.message ?? output, Math.max(300, room))
  if (shown === "") return []
  return [`    ${success ? style.dim(shown) : shown}`]
}

/** A difference of files is nothing to be read on one line; what stands before it says what was changed. */
const withoutDifference = (text: string): string => text.split(/\n(?=--- )/, 1)[0]!

/** Said where a server has to read much of a prompt anew, since something in its front is not as it was. */
function readAnew(prefix: { kept: number; of: number } | undefined): string[] {
  if (prefix === undefined || prefix.kept >= prefix.of * 0.9) return []
  return [
    `the prompt is as before for ${Math.floor((100 * prefix.kept) / prefix.of)} %: the server reads the rest anew`,
  ]
}

/** Which tools the model is led to, and from which away. */
function leanings(bias: Extract<RunEvent, { type: "request" }>["toolBias"] = {}, room: number): string[] {
  const told = Object.entries(bias).map(([name, value]) => `${name} ${value > 0 ? "+" : ""}${value}`)
  return told.length === 0 ? [] : [oneLine(`names of tools weighed: ${told.join(", ")}`, room - 4)]
}

/** How full the model's window is, told when it comes to be fuller or emptier, and when something is left out first. */
function windowLines(context: Extract<RunEvent, { type: "request" }>["context"], sheet: Sheet): string[] {
  if (context === undefined) return []
  const { tokens, contextTokens, utilisation, leftOut } = context
  const now = leftOut > 0 ? `${utilisation}, left out` : utilisation
  if (sheet.window === now) return []
  sheet.window = now
  const less = leftOut > 0 ? `, ${count(leftOut, "message")} in fewer words` : ""
  return [`the window is ${Math.round((100 * tokens) / contextTokens)} % full (${utilisation})${less}`]
}

/**
 * What a run amounts to.
 *
 * @param said the model's last words, which stand above already
 */
export function summaryLines(summary: RunSummary, style: Style, said = ""): string[] {
  const { outcome, success, message, rounds, calls, failedCalls, correctedFailures, modifiedFiles, times } = summary
  const title = success ? style.green(isAnswer(summary) ? ANSWERED : "done") : style.red(outcome)
  const counts = [
    count(rounds, "round"),
    count(calls, "call"),
    ...(failedCalls === 0 ? [] : [`${failedCalls} failed`, `${correctedFailures} corrected`]),
    `${duration(times.totalMs)} (model ${duration(times.modelMs)}, tools ${duration(times.toolMs)}, own ` +
      `${Math.round(times.overheadMs)} ms)`,
  ]
  return [
    said !== "" && message.trim() === said ? title : `${title}: ${neutralise(message)}`,
    counts.join(", "),
    ...(modifiedFiles.length === 0 ? [] : [`changed: ${neutralise(modifiedFiles.join(", "))}`]),
    ...noteLines(summary, style),
    ...(outcome === "no-tool-use" && calls === 0 ? [IN_WORDS_ALONE] : []),
  ]
}

/** A model that only talked may well have done what was asked: whether it was, is seen at once. */
const ANSWERED = "answered without doing anything: no tool was called, no file changed"

function isAnswer({ calls, modifiedFiles, dryRun }: RunSummary): boolean {
  return calls === 0 && modifiedFiles.length === 0 && dryRun !== true
}

const IN_WORDS_ALONE =
  "The model answered in words alone. 'toolwright doctor' tries whether it calls tools when it is asked to, and " +
  "which way of offering them it takes."

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
  return notes.map(({ message }) => `${style.yellow("note")}: ${neutralise(asFlags(message))}`)
}
