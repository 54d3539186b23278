import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { createLines } from "../render/lines.ts"
import { neutralise } from "../render/neutralise.ts"
import { count, duration, oneLine } from "../render/short.ts"
import { styleFor } from "../render/style.ts"
import { configurationFor, SETTING_OPTIONS, WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Print JSON: of list an array, of show one event a line" },
  full: { type: "boolean", description: "Of show: the numbered prompts, replies, calls and results in full" },
  ...WORKSPACE_OPTIONS,
  runs: SETTING_OPTIONS.runs!,
} as const satisfies OptionDeclarations

export const runsCommand: Command = {
  name: "runs",
  summary: "List the recorded runs, or show one",
  usage: usageText({
    synopsis: ["runs [list] [options]", "runs show <id|latest> [options]"],
    description:
      "Every run leaves a folder with its numbered prompts, replies, tool calls and tool results, and its events. The beginning of an\nid is enough where only one run begins so.",
    options: OPTIONS,
    examples: [
      { line: "toolwright runs", does: "The runs in this workspace, newest first" },
      { line: "toolwright runs show latest --full", does: "Everything that the last run sent and got" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", id] = positionals
    if (action === "list" && id === undefined) return list(invocation, values)
    if (action !== "show") throw usageError(`'runs ${action}' is not known.`, "Use 'runs list' or 'runs show <id>'.")
    if (id === undefined) throw usageError("Which run?", "Give its id, or 'latest'; 'toolwright runs' lists them.")
    return showRun(invocation, values, id)
  },
}

async function assembled(invocation: Invocation, values: Readonly<Record<string, unknown>>) {
  const [{ createToolwright, statusOf }, { configuration }] = await Promise.all([
    import("@toolwright/runtime"),
    configurationFor(invocation, values),
  ])
  // Runs lie where the tools' workspace is, but reading them needs no tools, neither ours nor those of a server.
  return {
    toolwright: await createToolwright({
      ...configuration,
      mcp: {},
      withBuiltins: false,
      cwd: invocation.cwd,
      env: invocation.env,
    }),
    statusOf,
  }
}

async function list(invocation: Invocation, values: { json?: boolean; [name: string]: unknown }): Promise<number> {
  const { toolwright, statusOf } = await assembled(invocation, values)
  const heads = toolwright.runs()
  if (values.json === true) {
    invocation.stdout.write(
      `${JSON.stringify(
        heads.map((head) => ({ ...head, status: statusOf(head) })),
        null,
        2,
      )}\n`,
    )
  } else if (heads.length === 0) {
    invocation.stdout.write(`No runs are recorded in ${toolwright.runsFolder}.\n`)
  } else {
    for (const head of heads) {
      const { summary } = head
      const size = summary === undefined ? "" : `${count(summary.rounds, "round")}, ${duration(summary.times.totalMs)}`
      invocation.stdout.write(
        `${head.runId}  ${statusOf(head).padEnd(23)}  ${size.padEnd(18)}  ${neutralise(head.agent)}${head.dryRun === true ? " (dry run)" : ""}: ${oneLine(head.task, 80)}\n`,
      )
    }
  }
  return EXIT.success
}

async function showRun(
  invocation: Invocation,
  values: { json?: boolean; full?: boolean; [name: string]: unknown },
  id: string,
): Promise<number> {
  const { stdout, isTTY, env } = invocation
  const { toolwright, statusOf } = await assembled(invocation, values)
  const run = toolwright.readRun(id)
  if (values.json === true) {
    for (const event of run.events) stdout.write(`${JSON.stringify(event)}\n`)
    return EXIT.success
  }
  const style = styleFor(isTTY.stdout, env)
  stdout.write(
    `${style.bold(run.head.runId)}  ${statusOf(run.head)}  ${run.head.startedAt}\n${neutralise(run.head.task)}\n\n`,
  )
  if (values.full === true) {
    for (const { name, text } of run.files)
      stdout.write(`${style.bold(`── ${name}`)}\n${neutralise(text.trimEnd())}\n\n`)
  } else {
    const lines = createLines({ style, width: stdout.columns || (isTTY.stdout ? 100 : 200), unicode: isTTY.stdout })
    for (const event of run.events) for (const line of lines(event)) stdout.write(`${line}\n`)
    stdout.write(`\n${run.folder}\n`)
    for (const { name } of run.files) stdout.write(`  ${name}\n`)
  }
  return EXIT.success
}
