import { access, constants, writeFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Backend } from "@toolwright/backends"
import type { Configuration, LoadedConfiguration, Toolwright } from "@toolwright/runtime"
import { databaseFlag } from "@toolwright/runtime/database-flag"
import { ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { EXIT, type Invocation } from "./command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "./options.ts"
import { givenFlags, keptFlags } from "./given-flags.ts"
import { jsonLinesRenderer } from "./render/json-lines.ts"
import { neutralise } from "./render/neutralise.ts"
import { rendererFor } from "./render/progress.ts"
import { canAsk, pairedExitCode, watchRun } from "./paired-run.ts"
import type { Renderer } from "./render/renderer.ts"
import { sealed } from "./render/sealed.ts"
import { wholeRenderer } from "./render/whole.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "./settings-options.ts"
import { askedFor, taskFrom, type AskedFor } from "./task-input.ts"

/** The options of every command that runs a task. */
export const RUN_OPTIONS = {
  description: { type: "string", short: "d", value: "task", description: "The task, as an option" },
  json: { type: "boolean", description: "Print every event as a line of JSON" },
  "dry-run": {
    type: "boolean",
    description: "Check and show the calls that the model makes, and run none",
  },
  "save-screenplay": {
    type: "string",
    value: "file",
    description: "Record what the model replies, to be played again",
  },
  record: { type: "boolean", description: "Keep a record of the run (on; --no-record turns it off)" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof RUN_OPTIONS> & AskedFor & { agent?: string; file?: readonly string[] }

/** What is said where the built-in model answers: one may be named, and wait. */
function noticeFor(waiting: LoadedConfiguration["waiting"]): "waiting" | "notice" {
  return waiting.some(({ key }) => key.startsWith("model.")) ? "waiting" : "notice"
}

/**
 * Runs a task with an agent and shows it.
 *
 * @returns the exit code: 0 completed, 1 not completed, 130 interrupted
 */
export async function runTask(
  invocation: Invocation,
  agent: string | undefined,
  extra: OptionDeclarations = {},
): Promise<number> {
  const { positionals, ...parsed } = parseOptions(invocation.args, { ...RUN_OPTIONS, ...extra }, { max: 1 })
  const values = parsed.values as Values
  const task = await taskFrom(invocation, values.description, positionals[0])
  const asked = await askedFor(invocation, values)
  const { configuration, waiting } = await configuredFor(invocation, parsed.values, agent)
  const { commandFor, createToolwright, hasModel, redactorFor } = await import("@toolwright/runtime")
  const model = await modelFor(invocation, values, configuration, task)
  let renderer: Renderer | undefined
  await using toolwright = await createToolwright({
    ...configuration,
    withBuiltins: true,
    cwd: invocation.cwd,
    env: invocation.env,
    record: values.record !== false,
    log: (line) => void invocation.stderr.write(`${neutralise(line)}\n`),
    ...(model.backend === undefined ? {} : { backend: model.backend }),
    ...(await askingOn(invocation, values, () => renderer)),
  })
  const { pairing } = toolwright
  const name = agent ?? values.agent ?? "assistant"
  if (pairing === undefined || name === "assistant") await toolwright.backend()
  if (pairing !== undefined && name === "assistant" && !hasModel(configuration))
    invocation.stderr.write(`${pairing.words[noticeFor(waiting)]}\n`)
  const watch = watchRun()
  const seen = beside(invocation, values)
  renderer = chosenRenderer(seen, values, pairing !== undefined)
  // For a program events stay as they are: it may have to do with what they hold.
  if (values.json !== true) renderer = sealed(renderer, redactorFor(configuration, invocation.env))
  const events = toolwright.run(task, {
    agent: name,
    signal: invocation.signal,
    dryRun: values["dry-run"] === true,
    surface: "run",
    flags: keptFlags(invocation, { ...values }),
    ...(values.file === undefined ? {} : { files: values.file }),
    ...asked,
  })
  const see = (event: RunEvent): void => {
    watch.see(event)
    renderer?.show(event)
  }
  const summary = await shownBy({ show: see, close: renderer.close.bind(renderer) }, events)
  await model.save()
  await tellEnd(seen, values, toolwright, summary)
  if (seen !== invocation) printValue(invocation, summary)
  const hint = watch.hint(commandFor)
  if (hint !== undefined) invocation.stderr.write(hint)
  return pairing === undefined
    ? taskExitCode(summary, false)
    : pairedEnd(invocation, summary, watch.declined, pairing.words.advice)
}

/** Where a program waits for the value on standard output, a person sees what happens on the other one. */
function beside(invocation: Invocation, { json, "output-schema": schema }: Values): Invocation {
  if (schema === undefined || json === true) return invocation
  const { stderr, isTTY } = invocation
  return { ...invocation, stdout: stderr, isTTY: { ...isTTY, stdout: isTTY.stderr } }
}

/** Where the record is, and what can be done next; events tell a program both. */
async function tellEnd(seen: Invocation, values: Values, toolwright: Toolwright, summary: RunSummary): Promise<void> {
  if (values.json === true) return
  if (values.record !== false) tellRecord(seen, toolwright, summary.runId)
  await tellWays(seen, { ...values }, toolwright, summary, values.record !== false)
}

function printValue({ stdout }: Invocation, { success, output }: RunSummary): void {
  if (success && output !== undefined) stdout.write(`${JSON.stringify(output)}\n`)
}

/** A model whose replies are to be recorded, or that has a screenplay's, with what writes the recording down. */
async function modelFor(
  { cwd }: Invocation,
  values: Values,
  configuration: Configuration,
  task: string,
): Promise<{ backend?: Backend; save(): Promise<void> }> {
  const { backendFor, recordBackend, workspaceRoot } = await import("@toolwright/runtime")
  const saveTo = values["save-screenplay"]
  if (saveTo !== undefined) await checkFolderOf(saveTo, cwd)
  // A screenplay says whose replies it has, which decides what is offered.
  if (saveTo === undefined && configuration.model.screenplay === undefined) return { save: async () => {} }
  const opened = await backendFor(configuration, { root: workspaceRoot(configuration, cwd) })
  if (saveTo === undefined) return { ...(opened === undefined ? {} : { backend: opened }), save: async () => {} }
  const recorded = recordBackend(opened!, { name: task })
  return { backend: recorded, save: async () => save(resolve(cwd, saveTo), await recorded.toYaml()) }
}

/** How somebody at the terminal is asked, where somebody is there. */
async function askingOn(invocation: Invocation, values: Values, renderer: () => Renderer | undefined) {
  if (!canAsk(invocation)) return {}
  const { approveOnTerminal, chooseOnTerminal } = await import("./approve.ts")
  return {
    approve: approveOnTerminal(invocation, renderer),
    ...(values["dry-run"] === true ? {} : { choose: chooseOnTerminal(invocation, renderer) }),
  }
}

function chosenRenderer(invocation: Invocation, { json, record }: Values, paired: boolean): Renderer {
  if (json === true) return jsonLinesRenderer(invocation.stdout)
  return paired ? wholeRenderer(invocation, { recorded: record !== false }) : rendererFor(invocation)
}

/** Says how a run is looked at. */
export function tellRecord(invocation: Invocation, { log }: Toolwright, runId: string): void {
  invocation.stdout.write(`record: toolwright runs show ${runId}${databaseFlag(log.target, invocation.cwd)}\n`)
}

/** How what was changed is taken back, and how a run that was stopped goes on. */
export async function tellWays(
  invocation: Invocation,
  values: Readonly<Record<string, unknown>>,
  { configuration, log }: Toolwright,
  summary: RunSummary,
  recorded = true,
): Promise<void> {
  const { stdout } = invocation
  const { runId, modifiedFiles } = summary
  if (configuration.undo.enabled && modifiedFiles.length > 0)
    stdout.write(`take it back with: toolwright undo ${runId}\n`)
  if (!recorded || summary.dryRun === true) return
  const { redactorFor, wayOn } = await import("@toolwright/runtime")
  // A run whose record cannot be read ended for that.
  const way = await log
    .open()
    .then((opened) => wayOn(opened, summary))
    .catch(() => undefined)
  if (way === undefined) return
  const there = `${way}${databaseFlag(log.target, invocation.cwd)}`
  // An address may hold a password, and what is printed is kept by others.
  const redact = redactorFor(configuration, invocation.env)
  stdout.write(`go on with: ${there}${neutralise(redact(givenFlags(values, there)))}\n`)
}

/** The end of a run with a model that is made for its tools: where it did nothing, who else could is said. */
function pairedEnd({ stderr }: Invocation, summary: RunSummary, declined: boolean, advice: string): number {
  const onlyWords = summary.success && summary.dryRun !== true && summary.calls === 0
  if (declined || onlyWords) stderr.write(`${advice}\n`)
  return taskExitCode(summary, true)
}

/** The exit code of a task, to which a model that is made for its tools owes a call. */
export function taskExitCode(summary: RunSummary, paired: boolean): number {
  if (!paired || !summary.success || summary.dryRun === true) return exitCodeOf(summary)
  return pairedExitCode(summary, summary.calls === 0)
}

/** The configuration, with the kits that the agent's tools come in. */
async function configuredFor(
  invocation: Invocation,
  values: Readonly<Record<string, unknown>>,
  agent: string | undefined,
): Promise<Pick<LoadedConfiguration, "configuration" | "waiting">> {
  const [{ configuration, waiting }, { PROFILES, withKits }] = await Promise.all([
    configurationFor(invocation, values),
    import("@toolwright/runtime"),
  ])
  const name = agent ?? values.agent
  const kits = PROFILES.find((profile) => profile.name === name)?.kits
  return { configuration: await withKits(configuration, kits), waiting }
}

/** Shows the events of a run and returns what the generator returns. */
export function show<Result>(
  events: AsyncGenerator<RunEvent, Result>,
  invocation: Invocation,
  json: boolean,
): Promise<Result> {
  return shownBy(json ? jsonLinesRenderer(invocation.stdout) : rendererFor(invocation), events)
}

async function shownBy<Result>(renderer: Renderer, events: AsyncGenerator<RunEvent, Result>): Promise<Result> {
  try {
    for (;;) {
      const step = await events.next()
      if (step.done) return step.value
      renderer.show(step.value)
    }
  } finally {
    renderer.close()
  }
}

export function exitCodeOf(summary: RunSummary): number {
  return summary.success ? EXIT.success : summary.outcome === "cancelled" ? EXIT.interrupted : EXIT.failure
}

/** @throws ToolwrightError `USAGE` before a run whose replies could not be written afterwards */
async function checkFolderOf(file: string, cwd: string): Promise<void> {
  const folder = dirname(resolve(cwd, file))
  if (
    await access(folder, constants.W_OK).then(
      () => false,
      () => true,
    )
  ) {
    throw usageError(
      `--save-screenplay names a file in ${folder}, which is no folder that can be written to.`,
      "Make the folder, or name a file in another one.",
    )
  }
}

async function save(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((cause: Error) => {
    throw new ToolwrightError("SCREENPLAY_NOT_SAVED", `The screenplay could not be written: ${cause.message}`, {
      cause,
    })
  })
}
