import type { ChangeHistory, HistoryItem, PlannedUndo, UndoRecord } from "@toolwright/runtime/tools"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { changedNothing, runsOf } from "../plans/runs-of.ts"
import { neutralise } from "../render/neutralise.ts"
import { count } from "../render/short.ts"
import { styleFor, type Style } from "../render/style.ts"
import { configurationFor, WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  "dry-run": { type: "boolean", description: "Show what would be taken back, and change nothing" },
  yes: { type: "boolean", short: "y", description: "Do not ask; needed where nobody can be asked" },
  json: { type: "boolean", description: "Print JSON: of list an array, otherwise the plan or what was done" },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const undoCommand: Command = {
  name: "undo",
  summary: "Take back what a run or a call changed",
  usage: usageText({
    synopsis: ["undo [<run>|<call>|<task>|<plan>|latest] [options]", "undo list [options]"],
    description:
      "Before a tool changes something, what was there is kept with the records. Undo brings it back: contents, " +
      "modes and links, of a\n" +
      "whole run or of one call. It shows the difference first and asks. A file that was changed since stays as " +
      "it is, and is named.\n" +
      "What was taken back can be brought back in turn: undo is on the list itself, and leaves a record (who, " +
      "what, what came of it)\n" +
      "that 'runs show' names. Exit code 1 means that something stayed as it was.",
    options: OPTIONS,
    examples: [
      { line: "toolwright undo list", does: "What was changed here, newest first" },
      { line: "toolwright undo", does: "Take back the last run or call that changed something" },
      { line: "toolwright undo --dry-run", does: "See what that would do" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 1 })
    const { configuration } = await configurationFor(invocation, values)
    const { changeHistory, redactDeep, redactorFor } = await import("@toolwright/runtime/tools")
    const redact = redactorFor({ ...configuration, secrets: {} }, invocation.env)
    const json = (value: unknown): void =>
      void invocation.stdout.write(`${JSON.stringify(redactDeep(value, redact), null, 2)}\n`)
    const history = await changeHistory(configuration, invocation.cwd, invocation.env)
    const { tasksFor } = await import("@toolwright/runtime/tasks")
    const { log, root } = tasksFor(configuration, invocation)
    await using _closed = { [Symbol.asyncDispose]: () => log.close() }
    const record = { open: () => log.open(), surface: "undo", workspace: root, redact }
    if (history === undefined)
      throw usageError(
        "Nothing is kept here, so nothing can be taken back.",
        "The setting undo.enabled switches it on; in folders given with --read-only nothing is changed.",
      )
    const asked = { invocation, values, history, record, print: json }
    const [id] = positionals
    if (id === "list") return list(asked)
    const runs = id === undefined ? undefined : await runsOf(configuration, invocation, id)
    return runs === undefined ? takeBack(asked, id) : takeAllBack(asked, { id: id!, runs })
  },
}

async function list({ invocation: { stdout, stderr }, values, history, print }: Asked): Promise<number> {
  const items = await history.list()
  const foreign = history.foreign()
  if (foreign > 0)
    stderr.write(
      `${foreign === 1 ? "1 entry" : `${foreign} entries`} that came with this folder, and not from you on this \
machine, left out.
`,
    )
  if (values.json === true) {
    const shown = items.map(({ entries, ...item }) => ({
      ...item,
      calls: entries.map(({ id, tool }) => ({ id, tool })),
    }))
    print(shown)
  } else if (items.length === 0) {
    stdout.write("Nothing that was changed here is on record.\n")
  } else {
    const width = Math.max(...items.map(({ id }) => id.length))
    for (const item of items) {
      const lost = item.unkept.length === 0 ? "" : `, ${item.unkept.length} not kept`
      stdout.write(
        `${item.id.padEnd(width)}  ${item.state.padEnd(18)}  ${count(item.paths.length, "path")}${lost}  ` +
          `${neutralise(wordsFor(item))}\n`,
      )
    }
  }
  return EXIT.success
}

/** `run: write_file, bash`, or the name of the tool that was called. */
function wordsFor({ kind, tools }: HistoryItem): string {
  return `${kind === "run" ? "run: " : ""}${tools.join(", ")}`
}

interface Asked {
  invocation: Invocation
  values: Values
  history: ChangeHistory
  record: UndoRecord
  /** Writes JSON, without secrets. */
  print: (value: unknown) => void
}

async function takeBack(
  { invocation, values, history, record, print }: Asked,
  id: string | undefined,
): Promise<number> {
  const { stdout, stderr, isTTY, env } = invocation
  const plan = await history.plan(id)
  const json = values.json === true
  if (values["dry-run"] === true) return shown({ invocation, values, print }, plan)
  if (!json) for (const line of planLines(plan, styleFor(isTTY.stdout, env))) stdout.write(`${line}\n`)
  if (plan.restorations.length === 0) {
    if (plan.settled.length > 0) await history.undo(plan.item.id)
    if (json) print({ restored: [], refused: plan.refused })
    else
      stdout.write(`Nothing is left to take back${plan.settled.length > 0 ? ": what it changed is as it was" : ""}.\n`)
    return EXIT.failure
  }
  if (values.yes !== true && !(await confirmed(invocation))) {
    stderr.write("Nothing was taken back.\n")
    return EXIT.failure
  }
  const { undoOnRecord } = await import("@toolwright/runtime/tools")
  const done = await undoOnRecord(history, plan.item.id, record)
  if (json) print(done)
  else {
    for (const { path, reason } of done.refused)
      stderr.write(`Not taken back: ${neutralise(path)}: ${neutralise(reason)}.\n`)
    const again = done.id === undefined ? "" : ` 'toolwright undo ${done.id}' brings it back again.`
    stdout.write(`Took back ${count(done.restored.length, "path")}.${again}\n`)
    if (done.unrecorded !== undefined) stderr.write(`No record of this could be left: ${neutralise(done.unrecorded)}\n`)
  }
  return done.refused.length === 0 ? EXIT.success : EXIT.failure
}

/** What would be taken back. */
function shown(
  { invocation: { stdout, isTTY, env }, values, print }: Pick<Asked, "invocation" | "values" | "print">,
  plan: PlannedUndo,
): number {
  if (values.json === true) print(jsonPlan(plan))
  else for (const line of planLines(plan, styleFor(isTTY.stdout, env))) stdout.write(`${line}\n`)
  return plan.refused.length === 0 ? EXIT.success : EXIT.failure
}

/** Takes back what the runs of a task or a plan changed, the last one first. */
async function takeAllBack(asked: Asked, { id, runs }: { id: string; runs: readonly string[] }): Promise<number> {
  const codes: number[] = []
  // One by one, each would find what those after it have changed.
  if (asked.values["dry-run"] === true && runs.length > 1) {
    const plan = await asked.history.planAll(id, runs).catch((thrown: unknown) => {
      if (!changedNothing(thrown)) throw thrown
    })
    if (plan !== undefined) return shown(asked, plan)
  }
  for (const run of runs) {
    try {
      codes.push(await takeBack(asked, run))
    } catch (thrown) {
      if (!changedNothing(thrown)) throw thrown
    }
  }
  if (codes.length === 0) asked.invocation.stdout.write(`Nothing that ${id} changed is left to take back.\n`)
  return codes.length > 0 && codes.every((code) => code === EXIT.success) ? EXIT.success : EXIT.failure
}

function planLines({ item, described, refused }: PlannedUndo, style: Style): string[] {
  const colour = (line: string): string =>
    line.startsWith("+") ? style.green(line) : line.startsWith("-") ? style.red(line) : style.dim(line)
  return [
    `${style.bold(item.id)}  ${neutralise(wordsFor(item))}`,
    ...described.flatMap(({ line, diff }) => [
      `  ${neutralise(line)}`,
      ...(diff === "" ? [] : diff.split("\n").map((each) => `    ${colour(neutralise(each))}`)),
    ]),
    ...refused.map(({ path, reason }) => `  ${style.red("stays")} ${neutralise(path)}: ${neutralise(reason)}`),
    ...item.unkept.map(({ path, reason }) => `  ${style.red("lost")} ${neutralise(path)}: ${neutralise(reason)}`),
  ]
}

function jsonPlan({ item, described, refused }: PlannedUndo): object {
  return { id: item.id, tools: item.tools, restorations: described, refused, unkept: item.unkept }
}

/** Asks on the terminal; where nobody can be asked, the option is needed. */
async function confirmed({ stdin, stderr, isTTY }: Invocation): Promise<boolean> {
  if (!isTTY.stdin || !isTTY.stderr)
    throw usageError(
      "Nobody can be asked here whether this is to be taken back.",
      "Give --yes, or look first with --dry-run.",
    )
  stderr.write("Take this back? [y/N] ")
  let answer = ""
  for await (const chunk of stdin) {
    answer += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8")
    if (answer.includes("\n")) break
  }
  return /^y(es)?$/i.test(answer.trim())
}
