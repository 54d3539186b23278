import type { EvaluationDigest, EvaluationReport } from "@toolwright/runtime/evals"
import type { Grade, TrialResult, Verdict } from "@toolwright/toolbox"
import { count, duration, oneLine } from "../render/short.ts"
import type { Style } from "../render/style.ts"

const WORDS: Record<Verdict, string> = { pass: "passed", fail: "failed", error: "not measured" }

const LONGEST_TASK = 60
const LONGEST_MODEL = 100

/** A trial on a line, and what was found where it did not pass on those below. */
export function trialLines(trial: TrialResult, style: Style, widths: { task: number; model: number }): string[] {
  const { task, model, trial: number, verdict, milliseconds, grades, error, folder } = trial
  const colour = { pass: style.green, fail: style.red, error: style.yellow }[verdict]
  const [ofTask, ofModel] = [oneLine(task, LONGEST_TASK), oneLine(model, LONGEST_MODEL)]
  const where = `${ofTask.padEnd(widths.task)}  ${ofModel.padEnd(widths.model)}`
  return [
    `${colour(WORDS[verdict].padEnd(12))}  ${where}  trial ${number}  ${duration(milliseconds)}`,
    ...(error === undefined ? [] : [`  ${oneLine(`${error.code}: ${error.message}`, 300)}`]),
    ...grades.filter((grade) => grade.verdict !== "pass").map(gradeLine),
    ...(folder === undefined ? [] : [`  its files: ${oneLine(folder, 4_000)}`]),
  ]
}

/** The trials that did not pass, each with what else is to be said of it. */
export function failedLines(
  { trials }: Pick<EvaluationReport, "trials">,
  style: Style,
  more: (trial: TrialResult) => readonly string[],
): string[] {
  const widths = widthsOf({ trials })
  const failed = trials.filter(({ verdict }) => verdict !== "pass")
  return failed.flatMap((trial) => [...trialLines(trial, style, widths), ...more(trial)])
}

/** How wide the names of trials are; what is longer is cut. */
export function widthsOf({ trials }: Pick<EvaluationReport, "trials">): { task: number; model: number } {
  const longest = (of: "task" | "model", most: number): number =>
    trials.reduce((width, trial) => Math.max(width, Math.min(trial[of].length, most)), 0)
  return { task: longest("task", LONGEST_TASK), model: longest("model", LONGEST_MODEL) }
}

function gradeLine({ grader, verdict, reason }: Grade): string {
  return `  ${oneLine(grader, 80)}${verdict === "error" ? " (not measured)" : ""}: ${oneLine(reason, 300)}`
}

const FROM_A_FILE = "It came in as a file: these are the figures of the trials that the file tells of."

/** What an evaluation came to: tasks against models, and for each model how often it passes. */
export function reportLines(report: EvaluationReport, style: Style): string[] {
  const { id, suite, models, planned, open, state } = report
  const left = open === 0 ? "" : `, ${open} not measured`
  return [
    `${oneLine(suite, 60)}  ${id}  ${state}  ${count(planned, "trial")}${left}`,
    ...(report.imported === true ? [FROM_A_FILE] : []),
    "",
    ...taskTable(report),
    "",
    ...models.flatMap((model) => modelLines(report, model, style)),
  ]
}

function taskTable({ tasks, models }: EvaluationReport): string[] {
  // Grouped once: a file may tell of thousands of tasks.
  const rows = [...Map.groupBy(tasks, ({ task }) => task)].map(([name, ofTask]) => [
    oneLine(name, 60),
    ...models.map(({ model }) => {
      const found = ofTask.find((each) => each.model === model)
      return found === undefined || found.measured === 0 ? "-" : `${found.passed}/${found.measured}`
    }),
  ])
  return columns([["task", ...models.map(({ model }) => oneLine(model, 40))], ...rows])
}

function modelLines(
  { threshold }: EvaluationReport,
  {
    model,
    measured,
    passed,
    errors,
    passAt,
    passAll,
    interval,
    inputTokens,
    outputTokens,
    reached,
    milliseconds,
  }: EvaluationReport["models"][number],
  style: Style,
): string[] {
  const most = Math.max(0, ...Object.keys(passAt).map(Number))
  const several = most > 1 ? `, pass@${most} ${percent(passAt[most])}, pass^${most} ${percent(passAll[most])}` : ""
  const untold = errors === 0 ? "" : `, ${errors} not measured`
  const verdict = reached ? style.green("reached") : style.red("not reached")
  // Of nothing measured nothing is likely.
  const likely = `${percent(interval[0])} to ${percent(interval[1])} likely`
  const shares = ` (${percent(passAt[1])}; ${likely})${several}`
  return [
    `${oneLine(model, 60)}: ${passed} of ${measured} passed${untold}${measured === 0 ? "" : shares}`,
    `  ${percent(threshold)} ${verdict}; ${inputTokens} tokens in, ${outputTokens} out, ` +
      `${duration(milliseconds)} a trial`,
  ]
}

/** Two evaluations, task by task: what passes more often, and what less. */
export function compareLines(before: EvaluationReport, after: EvaluationReport, style: Style): string[] {
  const earlier = Map.groupBy(before.tasks, ({ task }) => task)
  const rows = after.tasks.flatMap((now) => {
    const own = earlier.get(now.task) ?? []
    // Where each has one model, these are what is compared.
    const then = own.find(({ model }) => model === now.model) ?? (own.length === 1 ? own[0] : undefined)
    if (then === undefined || then.measured === 0 || now.measured === 0) return []
    const change = now.passed / now.measured - then.passed / then.measured
    const told = change === 0 ? "same" : change > 0 ? style.green("better") : style.red("worse")
    return [
      [
        oneLine(now.task, 60),
        oneLine(now.model, 60),
        `${then.passed}/${then.measured}`,
        `${now.passed}/${now.measured}`,
        told,
      ],
    ]
  })
  const head = ["task", "model", before.id.slice(0, 22), after.id.slice(0, 22), ""]
  return rows.length === 0 ? ["They have no task in common that both have measured."] : columns([head, ...rows])
}

export function digestLine({ id, suite, startedAt, state, message = "", imported }: EvaluationDigest): string {
  return (
    `${id}  ${startedAt.slice(0, 16).replace("T", " ")}  ${state.padEnd(7)}  ${oneLine(suite, 60)}  ` +
    `${oneLine(message, 200)}${imported === true ? " (from a file)" : ""}`
  )
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  )
}

const percent = (share: number | undefined): string => (share === undefined ? "-" : `${Math.round(share * 100)} %`)
