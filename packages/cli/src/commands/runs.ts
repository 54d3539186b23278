import { basename, dirname, join, resolve } from "node:path"
import type { RecordedEvent, RunHead } from "@toolwright/runtime"
import { databaseFlag } from "@toolwright/runtime/database-flag"
import type { WorkspaceRecords } from "@toolwright/runtime/records"
import type { RunEvent } from "@toolwright/toolbox"
import { callerName } from "@toolwright/toolbox/caller-name"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { givenFlags, saidInALine } from "../given-flags.ts"
import { createLines } from "../render/lines.ts"
import { neutralise } from "../render/neutralise.ts"
import { columnsOf, widthOf } from "../render/room.ts"
import { count, duration, oneLine } from "../render/short.ts"
import { styleFor } from "../render/style.ts"
import { tokenLines } from "../render/token-lines.ts"
import { WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"
import { withoutTools } from "../without-tools.ts"

const OPTIONS = {
  json: {
    type: "boolean",
    description: "Print JSON: of list an array, of show one event a line, of files their names",
  },
  full: { type: "boolean", description: "Of show: the numbered prompts, replies, calls and results in full" },
  tokens: {
    type: "boolean",
    description: "Of show: also how the model came to each reply, of a run with --record-tokens",
  },
  follow: { type: "boolean", short: "f", description: "Of show: go on showing what happens until the run has ended" },
  calls: {
    type: "boolean",
    description: "Of list: also single calls (by hand, HTTP, MCP) and runs that agents asked for",
  },
  agent: { type: "string", value: "name", description: "Of list: only the runs of this agent" },
  limit: { type: "string", value: "n", description: "Of list: how many at most (50)" },
  html: { type: "boolean", description: "Of export: a page that opens without a server, with the run in it" },
  to: {
    type: "string",
    value: "path",
    description: "Of files: the folder (.toolwright/runs/<id>); of export: the file",
  },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const runsCommand: Command = {
  name: "runs",
  summary: "List the recorded runs, show one, or write it as files",
  usage: usageText({
    synopsis: [
      "runs [list] [options]",
      "runs show [id|latest] [options]",
      "runs files <id|latest> [options]",
      "runs export <id|latest> [--html] [--to file]",
      "runs import <file>",
    ],
    description:
      "Every run and every call is on record, over whichever surface it came. Of an id its beginning is enough.",
    options: OPTIONS,
    examples: [
      { line: "toolwright runs", does: "The runs in this workspace, newest first" },
      { line: "toolwright runs show latest --full", does: "Everything that the last run sent and got" },
      { line: "toolwright runs export latest --html", does: "The last run as a page for somebody else" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", named] = positionals
    const id = named ?? (action === "show" ? "latest" : undefined)
    if (action === "list" && id === undefined) return list(invocation, values)
    if (!["show", "files", "export", "import"].includes(action))
      throw usageError(
        `'runs ${action}' is not known.`,
        "Use 'runs list', 'show <id>', 'files <id>', 'export <id>' or 'import <file>'.",
      )
    if (id === undefined)
      throw action === "import"
        ? usageError("Which file?", "Give one that 'toolwright runs export' has written.")
        : usageError("Which run?", "Give its id, or 'latest'; 'toolwright runs' lists them.")
    if (action === "export" || action === "import") return exchange(invocation, values, action, id)
    return action === "files" ? writeFiles(invocation, values, id) : showRun(invocation, values, id)
  },
}

const ELSEWHERE =
  "'toolwright run \"…\"' makes one. What was done where every folder is read-only is recorded outside of it: " +
  "name the folders as then, as in --read-only ."
const OTHERS = "Calls by hand or for others, and runs that a run or an evaluation asked for, are: add --calls."

async function list(invocation: Invocation, values: Values): Promise<number> {
  const { stdout } = invocation
  await using records = await withoutTools(invocation, values)
  const limit = values.limit === undefined ? 50 : Number(values.limit)
  if (!Number.isSafeInteger(limit) || limit < 1) throw usageError(`'--limit ${values.limit}' is no number of runs.`)
  const ofAgent = values.agent === undefined ? {} : { agent: values.agent }
  const whose = values.calls === true ? {} : { calls: false, askedBy: null }
  const heads = await records.runs({ limit, ...whose, ...ofAgent })
  if (values.json === true) stdout.write(`${JSON.stringify(heads, null, 2)}\n`)
  else if (heads.length === 0) {
    const [other] = values.calls === true ? [] : await records.runs({ limit: 1, ...ofAgent })
    stdout.write(
      `No runs ${values.agent === undefined ? "" : `of '${values.agent}' `}are recorded in ` +
        `${records.log.target}.\n${other === undefined ? ELSEWHERE : OTHERS}\n`,
    )
  } else {
    for (const line of headLines(heads, invocation)) stdout.write(`${line}\n`)
    const stopped = heads.find(({ status, agent }) => status === "interrupted" && agent !== "")
    if (stopped !== undefined) {
      const there = databaseFlag(records.log.target, invocation.cwd)
      invocation.stderr.write(
        `How the interrupted one goes on is said by: toolwright runs show ${stopped.runId}${there}\n`,
      )
    }
  }
  return EXIT.success
}

/** A line for each run: as much of its task as there is room for. */
function headLines(heads: readonly RunHead[], invocation: Invocation): string[] {
  const sizes = heads.map(sizeOf)
  const outcomes = heads.map(({ status }) => neutralise(status))
  const [states, widest] = [widthOf(outcomes), widthOf(sizes)]
  return heads.map((head, at) => {
    const left = `${head.runId}  ${outcomes[at]!.padEnd(states)}  ${sizes[at]!.padEnd(widest)}  ${whoDid(head)}: `
    const room = invocation.isTTY.stdout ? Math.max(20, columnsOf(invocation) - left.length) : 80
    return `${left}${oneLine(head.task, room)}`
  })
}

function sizeOf({ agent, summary }: RunHead): string {
  const { rounds = 0, times } = summary ?? {}
  if (times === undefined) return ""
  return [...(agent === "" ? [] : [count(rounds, "round")]), duration(times.totalMs)].join(", ")
}

function whoDid({ agent, surface, summary }: RunHead): string {
  const isItself = surface === "undo" || surface === "eval"
  const who = agent !== "" ? agent : isItself ? surface : `call over ${surface}`
  return `${neutralise(who)}${summary?.dryRun === true ? " (dry run)" : ""}`
}

/** What stands before further lines of an event, below its number. */
const NUMBER = " ".repeat(6)

async function showRun(invocation: Invocation, values: Values, id: string): Promise<number> {
  const { stdout, isTTY, env } = invocation
  await using records = await withoutTools(invocation, values)
  const { head, events, files } = await records.readRun(id)
  const style = styleFor(isTTY.stdout, env)
  const show = values.json === true ? printsJson(invocation) : printsLines(invocation, values)
  if (values.json !== true)
    stdout.write(
      `${style.bold(head.runId)}  ${neutralise(head.status)}  ${head.startedAt}\n${neutralise(head.task)}\n\n`,
    )
  if (values.full === true && values.json !== true) {
    for (const { name, text } of files) stdout.write(`${style.bold(`── ${name}`)}\n${neutralise(text.trimEnd())}\n\n`)
    return EXIT.success
  }
  for (const event of events) show(event)
  if (values.follow === true) await followRun(invocation, { records, show, runId: head.runId, events })
  else if (values.json !== true) {
    if (values.tokens === true && !events.some(({ type }) => type === "reply-tokens"))
      stdout.write("No tokens are recorded of this run: start one with --record-tokens and a model in this process.\n")
    await showAsked(stdout, records, head)
    await showDifferences(invocation, records, head.runId)
    await showTakenBack(invocation, records, head)
    await showWayOn(invocation, records, head)
  }
  return EXIT.success
}

type Show = (event: RecordedEvent) => void

const printsJson =
  ({ stdout }: Invocation): Show =>
  (event) =>
    void stdout.write(`${JSON.stringify(event)}\n`)

const said = (text: unknown): string => neutralise(String(text ?? ""))

/** What a run asked a person and what they said: events of the log alone, since nobody hears them in the run. */
const APPROVALS: Readonly<Record<string, (event: RecordedEvent) => string>> = {
  "approval-ask": ({ name, question }) => `  waits for approval of ${said(name)}: ${oneLine(said(question), 300)}`,
  "approval-answer": ({ state, by, note }) =>
    `  ${said(state)} by ${neutralise(callerName(typeof by === "string" ? by : null))}` +
    (note === null || note === undefined ? "" : `: ${oneLine(said(note), 300)}`),
}

function printsLines({ stdout, isTTY, env }: Invocation, { tokens }: Values): Show {
  const style = styleFor(isTTY.stdout, env)
  const width = columnsOf({ stdout, isTTY }) - NUMBER.length
  const lines = createLines({ style, width, unicode: isTTY.stdout })
  const linesOf = (event: RecordedEvent): readonly string[] => {
    if (event.erased === true) return [style.dim(`${event.type}: erased`)]
    if (Object.hasOwn(APPROVALS, event.type)) return [APPROVALS[event.type]!(event)]
    if (event.type !== "reply-tokens") return lines(event as unknown as RunEvent)
    return tokens === true ? tokenLines(event as Parameters<typeof tokenLines>[0], style) : []
  }
  return (event) => {
    // The number of the event, by which 'branch' and 'audit erase' know it.
    const number = style.dim(String(event.seq).padStart(NUMBER.length - 2))
    for (const [at, line] of linesOf(event).entries())
      stdout.write(`${line === "" ? "" : `${at === 0 ? `${number}  ` : NUMBER}${line}`}\n`)
  }
}

interface Followed {
  records: WorkspaceRecords
  show: Show
  runId: string
  events: readonly RecordedEvent[]
}

async function followRun({ signal }: Invocation, { records, show, runId, events }: Followed): Promise<void> {
  const log = await records.log.open()
  const { eventOf } = await import("@toolwright/runtime/records")
  for await (const piece of log.follow(runId, { after: events.at(-1)?.seq ?? 0, signal }))
    for (const event of piece) show(eventOf(event))
}

/** The run that asked for this one, and those that it asked for, as a tree. */
async function showAsked(stdout: Invocation["stdout"], records: WorkspaceRecords, head: RunHead): Promise<void> {
  const { askedTree } = await import("../render/asked.ts")
  if (head.askedBy !== undefined) stdout.write(`\nasked for by ${head.askedBy.run}\n`)
  const lines = await askedTree((askedBy) => records.runs({ askedBy, limit: 200 }), head.runId)
  if (lines.length > 0) stdout.write(`\nasked for:\n${lines.map((line) => `${line}\n`).join("")}`)
}

/** What the run changed in files, as far as it is kept for undo. */
async function showDifferences(
  invocation: Invocation,
  { configuration }: WorkspaceRecords,
  runId: string,
): Promise<void> {
  const { stdout, cwd, env, isTTY } = invocation
  const { changeHistory } = await import("@toolwright/runtime/tools")
  const history = await changeHistory(configuration, cwd, env)
  const differences = (await history?.differences(runId)) ?? []
  const style = styleFor(isTTY.stdout, env)
  for (const { line, diff } of differences) {
    stdout.write(`\n${style.bold(neutralise(line))}\n`)
    for (const each of diff === "" ? [] : diff.split("\n")) stdout.write(`${colouredLine(neutralise(each), style)}\n`)
  }
}

/** A line of a difference: what came is green, what went is red. */
function colouredLine(line: string, style: ReturnType<typeof styleFor>): string {
  if (line.startsWith("+")) return style.green(line)
  return line.startsWith("-") ? style.red(line) : line
}

/** Whether what the run changed was taken back, and how it can be. */
async function showTakenBack(
  { stdout }: Invocation,
  { log, configuration }: WorkspaceRecords,
  head: RunHead,
): Promise<void> {
  const undone = await (await log.open()).list({ about: head.runId, limit: MOST_RECORDS })
  for (const { id, caller, started_at, outcome } of undone.toReversed()) {
    const when = new Date(Number(started_at)).toISOString()
    const how = outcome === "completed" ? "" : ` (${outcome ?? "interrupted"})`
    stdout.write(`\ntaken back by ${neutralise(callerName(caller))} at ${when}${how}: toolwright runs show ${id}\n`)
  }
  const changed = (head.summary?.modifiedFiles ?? []).length > 0
  if (undone.length === 0 && changed && configuration.undo.enabled)
    stdout.write(`\ntake it back with: toolwright undo ${head.runId}\n`)
}

const MOST_RECORDS = 50

/** The command that goes on with a run whose process was killed: workers do with those of tasks. */
async function showWayOn(
  invocation: Invocation,
  { log, configuration }: WorkspaceRecords,
  { runId, agent, status }: RunHead,
): Promise<void> {
  if (status !== "interrupted" || agent === "") return
  const opened = await log.open()
  const row = await opened.find(runId)
  if (row.task !== null) return
  const { begunWith } = await import("@toolwright/runtime/records")
  const begun = await begunWith(opened, row)
  // What came as a file names addresses of somebody else, and a database that is named may have come so.
  const own = configuration.runs.database === undefined
  const flags = begun.here && own ? saidInALine(begun.flags) : {}
  const way = `toolwright resume ${runId}${databaseFlag(log.target, invocation.cwd)}`
  invocation.stdout.write(`\ngo on with: ${way}${neutralise(givenFlags(flags, way))}\n`)
  if (!own && Object.keys(begun.flags).length > 0)
    invocation.stdout.write("and say where its model is: what a database that is named says of it may be anybody's\n")
}

async function exchange(
  invocation: Invocation,
  values: Values,
  action: "export" | "import",
  what: string,
): Promise<number> {
  const { cwd, stdout, stderr } = invocation
  await using records = await withoutTools(invocation, values)
  const { importFile, writeExport } = await import("./runs-exchange.ts")
  const log = await records.log.open()
  if (action === "import") stdout.write(`${await importFile(log, resolve(cwd, what))}\n`)
  else {
    const say = (line: string): void => void stderr.write(`${line}\n`)
    const file = await writeExport(log, what, { cwd, to: values.to, html: values.html === true, log: say })
    stdout.write(`${file}\n`)
  }
  return EXIT.success
}

async function writeFiles(invocation: Invocation, values: Values, id: string): Promise<number> {
  const { cwd, stdout } = invocation
  await using records = await withoutTools(invocation, values)
  const { head, events, files } = await records.readRun(id)
  const { makeStateFolder, writeStateFile } = await import("@toolwright/host/state-files")
  const folder =
    values.to === undefined
      ? makeStateFolder(records.stateFolder, "runs", head.runId)
      : makeStateFolder(dirname(resolve(cwd, values.to)), basename(resolve(cwd, values.to)))
  const json = { name: "run.json", text: `${JSON.stringify(head, null, 2)}\n` }
  const lines = { name: "events.jsonl", text: events.map((event) => `${JSON.stringify(event)}\n`).join("") }
  const written = [...files, json, lines]
  for (const { name, text } of written) writeStateFile(join(folder, name), text)
  const names = written.map(({ name }) => name)
  stdout.write(values.json === true ? `${JSON.stringify({ folder, files: names })}\n` : `${folder}\n`)
  return EXIT.success
}
