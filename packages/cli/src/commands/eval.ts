import { writeFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import type { EvaluationReport, Evaluations, GoOnOptions, Suite } from "@toolwright/runtime/evals"
import type { TrialResult } from "@toolwright/toolbox"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { compareLines, digestLine, failedLines, reportLines, trialLines, widthsOf } from "../evals/lines.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { count } from "../render/short.ts"
import { styleFor } from "../render/style.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  trials: { type: "string", value: "n", description: "How often each task is tried, in place of what the suite says" },
  task: { type: "string", multiple: true, value: "name", description: "Only this task of the suite" },
  concurrency: { type: "string", value: "n", description: "Trials that are made at once (1)" },
  keep: { type: "boolean", description: "Keep the folders of trials that do not pass" },
  html: { type: "string", value: "file", description: "Of run, resume and show: also write a page, in one file" },
  json: { type: "boolean", description: "Print JSON" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const evalCommand: Command = {
  name: "eval",
  summary: "Try a suite of tasks with agents and models, and judge what comes of it",
  usage: usageText({
    synopsis: [
      "eval run|check <suite.yaml> [options]",
      "eval [list]",
      "eval show|resume [<id>]",
      "eval compare <id> <id>",
      "eval new",
    ],
    description:
      "Each trial is a run in a folder of its own, judged by its answer, calls, files, commands or another model.\n" +
      "The exit code is 0 where every model reaches the suite's threshold and all could be measured.",
    options: OPTIONS,
    examples: [
      { line: "toolwright eval new", does: "Writes suite.yaml, to be changed and run" },
      { line: "toolwright eval run suite.yaml --html report.html", does: "Try it, and write a page" },
    ],
  }),
  details: `What a suite is made of: [evaluations.md](evaluations.md). Whoever names a suite trusts it, as a
configuration that is named: its commands run, in the sandbox and without a network, and its models' servers are asked.
\`--model\` stands in place of the suite's models. Calls that need a permission are denied, since nobody is asked;
\`--allow-tool\` gives it.

At Ctrl-C nothing is lost: what was tried is on record, and \`eval resume\` makes the trials that are left. It also
makes those again of which nothing could be told, since a model's server was away or a judge gave no judgement: these
count as neither passed nor failed, and while there are any the exit code is 1. The exit code of an evaluation that was
interrupted is 130.

The record of each trial's run is its transcript: \`toolwright runs show <id>\` shows it.`,
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 3 })
    const [action = "list", ...what] = positionals
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (run !== undefined) return run({ invocation, values, what })
    const near = /\.ya?ml$/.test(action) ? `To try it: toolwright eval run ${action}` : undefined
    throw usageError(`'eval ${action}' is not known.`, near ?? `Use one of: ${Object.keys(ACTIONS).join(", ")}.`)
  },
}

interface Asked {
  invocation: Invocation
  values: Values
  what: readonly string[]
}

const ACTIONS: Readonly<Record<string, (asked: Asked) => Promise<number>>> = {
  run,
  check,
  list,
  show,
  resume,
  compare,
  new: write,
}

async function run(asked: Asked): Promise<number> {
  const { path, suite } = await suiteIn(asked)
  const { task: only, trials } = asked.values
  const { model } = asked.values as { model?: string }
  const begin = (all: Evaluations, options: GoOnOptions) =>
    all.run(suite, {
      ...options,
      folder: dirname(path),
      ...(model === undefined ? {} : { models: [{ name: model }] }),
      ...(only === undefined ? {} : { only }),
      ...(trials === undefined ? {} : { trials: wholeNumber("trials", trials) }),
    })
  return tried(asked, begin, only ?? Object.keys(suite.tasks))
}

async function resume(asked: Asked): Promise<number> {
  return tried(asked, (all, options) => all.resume(asked.what[0] ?? "latest", options))
}

async function check(asked: Asked): Promise<number> {
  const { suite } = await suiteIn(asked)
  const tasks = Object.entries(suite.tasks)
  const trials =
    tasks.reduce((sum, [, task]) => sum + (task.trials ?? suite.trials ?? 1), 0) * (suite.models?.length ?? 1)
  const lines = tasks.map(([name, { graders }]) => `  ${name}: ${count(graders.length, "grader")}`)
  print(asked, suite, [suite.name, ...lines, `${count(trials, "trial")}; nothing was tried.`])
  return EXIT.success
}

async function list(asked: Asked): Promise<number> {
  return withEvaluations(asked, async (all) => {
    const found = await all.list()
    print(asked, found, found.length === 0 ? ["No suite was tried here."] : found.map(digestLine))
    return EXIT.success
  })
}

async function show(asked: Asked): Promise<number> {
  return withEvaluations(asked, async (all) => {
    const report = await all.show(asked.what[0] ?? "latest")
    const style = styleOf(asked)
    const runs = failedLines(report, style, ({ run }) => runLine(run))
    print(asked, report, [...reportLines(report, style), ...(runs.length === 0 ? [] : ["", ...runs]), ...goOn(report)])
    await writePage(asked, all, report)
    return EXIT.success
  })
}

async function compare(asked: Asked): Promise<number> {
  const [first, second] = asked.what
  if (first === undefined || second === undefined)
    throw usageError(
      "Two evaluations are compared.",
      "Name both: toolwright eval compare <id> <id>; 'toolwright eval' lists them.",
    )
  return withEvaluations(asked, async (all) => {
    const [before, after] = [await all.show(first), await all.show(second)]
    print(asked, { before, after }, compareLines(before, after, styleOf(asked)))
    return EXIT.success
  })
}

async function write({ invocation: { cwd, stdout } }: Asked): Promise<number> {
  const [{ NEW_SUITE }, { writeNew }] = await Promise.all([
    import("../evals/new-suite.ts"),
    import("../scaffold/write.ts"),
  ])
  writeNew(cwd, { "suite.yaml": NEW_SUITE }, "Change that one, or move it away.")
  stdout.write("made suite.yaml\nTry it: toolwright eval run suite.yaml\n")
  return EXIT.success
}

/** Makes trials and shows them as they end. */
async function tried(
  asked: Asked,
  begin: (all: Evaluations, options: GoOnOptions) => Promise<EvaluationReport>,
  tasks: readonly string[] = [],
): Promise<number> {
  const { invocation, values } = asked
  const { signal, stdout, stderr } = invocation
  const concurrency = wholeNumber("concurrency", values.concurrency ?? "1")
  return withEvaluations(asked, async (all) => {
    const style = styleOf(asked)
    // A program that reads JSON gets that alone.
    const out = values.json === true ? stderr : stdout
    // Lines stand below each other, as wide as the longest so far.
    const widths = { task: Math.max(0, ...tasks.map((task) => Math.min(task.length, 60))), model: 0 }
    const widened = (trial: TrialResult): typeof widths => {
      const own = widthsOf({ trials: [trial] })
      widths.task = Math.max(widths.task, own.task)
      widths.model = Math.max(widths.model, own.model)
      return widths
    }
    const report = await begin(all, {
      signal,
      concurrency,
      keep: values.keep === true,
      onBegin: ({ id, planned, open }) =>
        out.write(`${id}: ${count(open, "trial")} to be made${open === planned ? "" : ` of ${planned}`}\n`),
      onTrial: (trial) => out.write(`${trialLines(trial, style, widened(trial)).join("\n")}\n`),
      onNote: (line) => stderr.write(`${neutralise(line)}\n`),
    })
    print(asked, report, ["", ...reportLines(report, style), ...next(report)])
    await writePage(asked, all, report)
    if (signal.aborted) return EXIT.interrupted
    return report.reached ? EXIT.success : EXIT.failure
  })
}

async function withEvaluations<Result>(
  { invocation, values }: Asked,
  work: (all: Evaluations) => Promise<Result>,
): Promise<Result> {
  const [{ evaluations }, { settingsOf }, { configuration }] = await Promise.all([
    import("@toolwright/runtime/evals"),
    import("../evals/settings.ts"),
    configurationFor(invocation, values),
  ])
  const { cwd, env } = invocation
  await using all = evaluations({
    settings: { ...configuration, cwd, env },
    settingsFor: (model, folder) => settingsOf(invocation, values, { model, folder }),
  })
  return await work(all)
}

async function suiteIn({ invocation: { cwd }, what: [named] }: Asked): Promise<{ path: string; suite: Suite }> {
  if (named === undefined) throw usageError("Which suite?", "Name its file: toolwright eval run suite.yaml")
  const { suiteFile } = await import("@toolwright/runtime/evals")
  const path = resolve(cwd, named)
  const suite = await suiteFile(path)
  if (suite === undefined)
    throw usageError(`There is no file '${named}'.`, "'toolwright eval new' writes a suite to begin with.")
  return { path, suite }
}

async function writePage({ invocation, values }: Asked, all: Evaluations, { id }: EvaluationReport): Promise<void> {
  if (values.html === undefined) return
  const path = resolve(invocation.cwd, values.html)
  writeFileSync(path, await all.page(id))
  if (values.json !== true) invocation.stdout.write(`page: ${path}\n`)
}

const goOn = ({ id, open, state, imported }: EvaluationReport): string[] =>
  open > 0 && state !== "running" && imported !== true ? [`go on with it: toolwright eval resume ${id}`] : []

/** What is said after trials; `eval show` shows by itself what the last line leads to. */
const next = (report: EvaluationReport): string[] => [
  ...goOn(report),
  report.trials.every(({ verdict }) => verdict === "pass")
    ? `each trial with its run: toolwright eval show ${report.id}`
    : `what did not pass, and why: toolwright eval show ${report.id}`,
]

const runLine = (run: string | undefined): string[] =>
  run === undefined ? [] : [`  its run: toolwright runs show ${run}`]

const styleOf = ({ invocation: { isTTY, env } }: Asked) => styleFor(isTTY.stdout, env)

function print({ invocation: { stdout }, values }: Asked, value: unknown, lines: readonly string[]): void {
  if (values.json === true) stdout.write(`${JSON.stringify(value, null, 2)}\n`)
  else for (const line of lines) stdout.write(`${line}\n`)
}

function wholeNumber(name: string, given: string): number {
  const number = Number(given)
  if (Number.isSafeInteger(number) && number >= 1 && number <= 1_000) return number
  throw usageError(`--${name} must be a whole number from 1 to 1000, not '${given}'.`)
}
