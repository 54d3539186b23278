import {
  assistantProfile,
  DynamicExecutor,
  FileOwningAgent,
  givenTask,
  newRunId,
  type AgentProfile,
  type ExecutorOptions,
  type KeptFlags,
  type RunRequest,
  type SharedWork,
} from "@toolwright/agents"
import {
  createView,
  describeFault,
  isStandardSchema,
  nearest,
  parseWith,
  schemaFault,
  toJsonSchema,
  ToolwrightError,
  type JsonSchema,
  type LiteralSchema,
  type RunEvent,
  type RunSummary,
  type StandardSchema,
  type ToolRegistry,
  type Toolset,
} from "@toolwright/toolbox"
import type { AgentAccess } from "./agents/access.ts"
import type { AskedBy, Asking, AskingRun, Nesting } from "./agents/asking.ts"
import { counted, Spent } from "./agents/spent.ts"
import type { Place } from "./assembly/place.ts"
import { HOW_TO_CONFIGURE } from "./assembly/configured.ts"
import { checkAgent } from "./pairing/choose.ts"
import { mediaFor, type TaskMedia } from "./media.ts"
import type { Pairing } from "./pairing/pairing.ts"

/** The form of an answer: a Standard Schema (Zod, …) or a JSON Schema, whose literals the compiler reads. */
export type OutputSchema = LiteralSchema | StandardSchema<unknown, unknown>

/** Settings of one run. */
export interface RunOptions {
  /** Name of a profile, or one of your own; `assistant` unless given. */
  agent?: string | AgentProfile
  signal?: AbortSignal
  runId?: string
  /**
   * The tools of this run by name, out of those that the agent is offered; none at all (`[]`) for a plain question, as
   * where no tool is registered.
   */
  tools?: readonly string[]
  /**
   * The form of the answer, which `summary.output` has as a value. The model is held to it where its server can be
   * asked to, told of it in any case, and asked once more where the answer does not fit.
   */
  output?: OutputSchema
  /** What was said before the task, oldest first. */
  history?: RunRequest["history"]
  /** Pictures and sounds that belong to the task: `[{ type: "image", path: "chart.png" }]`. */
  media?: readonly TaskMedia[]
  /** What was said and done about the task already, oldest first. */
  since?: RunRequest["since"]
  /** Goes before the configuration's own, setting by setting. */
  sampling?: RunRequest["sampling"]
  /** In place of the profile's own. */
  systemPrompt?: string
  /**
   * Whether other runs may work in the workspace at the same time, as in a server; each file's changes still wait for
   * each other. Owners of files may hand in work there, one after another, by what is given.
   */
  shared?: boolean | SharedWork
  /** The files that an agent owns which owns files (`file-owner`), relative to the workspace. */
  files?: readonly string[]
  /** Decodes and checks the calls and runs none; see `RunRequest.dryRun`. Takes no lock. */
  dryRun?: boolean
  /** Where it was asked for, for the record; `library` unless given. */
  surface?: string
  /** The task of the queue that it works on, for the record. */
  taskId?: string
  /** How deep it is below what a person began, and how deep it may go; at the top unless given. */
  nesting?: Nesting
  /** The call of another run that asks for it, for the record. */
  askedBy?: AskedBy
  /** Hears what happens in runs that its calls ask for. */
  hears?: (event: RunEvent) => void
  /** In place of the agent's own. */
  maxRounds?: number
  /** See `RunRequest.leaves`. */
  leaves?: RunRequest["leaves"]
  /** In place of the configuration's own: `wait` where a person can be asked, though not in this process. */
  approvals?: ExecutorOptions["approvals"]
  /** The flags of settings that a command was given, for the record: whoever goes on with the run finds them there. */
  flags?: KeptFlags
}

/** Where a run was asked for, for its record. */
export interface RunOrigin {
  surface?: string | undefined
  task?: string | undefined
  /** Of a run that goes on: the model that it was begun with. */
  model?: string | undefined
  nesting?: Nesting | undefined
  askedBy?: AskedBy | undefined
  flags?: KeptFlags | undefined
}

/** What runs are made of. */
export interface RunParts {
  readonly place: Place
  readonly pairing: Pairing | undefined
  readonly registry: ToolRegistry
  readonly agents: AgentAccess
  readonly asking: Asking
  readonly maxNestingDepth: number
  /** Where relative paths start. */
  readonly cwd: string
  executorOptions(profile: AgentProfile, origin?: RunOrigin): Promise<ExecutorOptions>
}

/** The ways to run a task; see `Toolwright`. */
export interface Runs {
  run(task: string, options?: RunOptions): AsyncGenerator<RunEvent, RunSummary>
  complete(task: string, options?: RunOptions): Promise<RunSummary>
  fileOwner(
    agentId: string,
    files: readonly [string, ...string[]],
    log?: (line: string) => void,
  ): Promise<FileOwningAgent>
}

/** Makes runs of tasks from the parts of an assembly. */
export function runsWith(parts: RunParts): Runs {
  const { place, pairing, registry, executorOptions } = parts
  const run = (task: string, options: RunOptions = {}) => runTask(parts, task, options)
  return {
    run,
    async complete(task, options) {
      const events = run(task, options)
      let step = await events.next()
      while (!step.done) step = await events.next()
      return step.value
    },
    async fileOwner(agentId, files, log) {
      const profile = await parts.agents.find("file-owner")
      checkAgent(pairing, profile)
      const { completion: _completion, ...settings } = await executorOptions(profile)
      return new FileOwningAgent({
        ...settings,
        agentId,
        specializedFiles: (await parts.agents.filesFor(profile, files)) as [string, ...string[]],
        tools: registry,
        take: (runId) => place.take(profile, runId),
        ...(log === undefined ? {} : { log }),
      })
    },
  }
}

async function* runTask(made: RunParts, task: string, options: RunOptions): AsyncGenerator<RunEvent, RunSummary> {
  const { place, pairing, registry, agents, cwd } = made
  const { agent = "assistant", runId = newRunId(), dryRun = false, media, output } = options
  const profile = typeof agent === "string" ? await agents.find(agent) : agent
  const files = options.files === undefined ? undefined : await agents.filesFor(profile, options.files)
  const given = givenTask(profile, task, files)
  checkAgent(pairing, profile)
  using _lock = place.take(lockedFor(profile, options), runId)
  const spent = new Spent()
  const parts = await partsFor(made, options, { profile, runId, spent })
  const withoutTools = isPlain(options.tools, parts, registry)
  if (withoutTools) checkWords(pairing)
  const completion = pairing !== undefined ? parts.completion! : { ...parts.completion, ...given.completion }
  const executor = new DynamicExecutor({
    ...parts,
    ...(withoutTools ? { unavailable: [] } : chosenIn(parts, options.tools)),
    access: given.access,
    ...givenOf(options, ["maxRounds", "approvals"]),
    ...sharedIn(options.shared),
    completion: withoutTools ? {} : completion,
  })
  const request = {
    ...givenOf(options, PASSED_ON),
    ...filesOf(given.access),
    task: given.task,
    systemPrompt: pairing !== undefined ? "" : promptOf(profile, options, withoutTools),
    ...(withoutTools ? { withoutTools } : {}),
    ...(output === undefined ? {} : { output: formOf(output) }),
    agent: profile.name,
    runId,
    ...(media === undefined ? {} : { media: await mediaFor(media, parts.backend, cwd) }),
    ...(dryRun ? { dryRun } : {}),
  }
  return yield* counted(executor.run(request), spent)
}

/** What a run works with, with the agents that it may ask. */
async function partsFor(
  { pairing, asking, maxNestingDepth, executorOptions }: RunParts,
  options: RunOptions,
  run: Pick<AskingRun, "profile" | "runId" | "spent">,
): Promise<ExecutorOptions> {
  const { surface, taskId, nesting = { depth: 0, max: maxNestingDepth }, askedBy, flags } = options
  return withAgents(
    await executorOptions(run.profile, { surface, task: taskId, nesting, askedBy, flags }),
    pairing === undefined ? asking : undefined,
    { ...givenOf(options, ["taskId", "shared", "approvals", "leaves", "hears"]), nesting, ...run },
  )
}

/** The agents that a run may ask join its tools, or those of its phases. */
export async function withAgents(
  options: ExecutorOptions,
  asking: Asking | undefined,
  run: AskingRun,
): Promise<ExecutorOptions> {
  const { agents = [], phases = [] } = run.profile
  const names = [...new Set([...agents, ...phases.flatMap((phase) => phase.agents ?? [])])]
  if (asking === undefined || names.length === 0) return options
  const made = await asking.toolsFor(names, run)
  const joined = (tools: Toolset, wanted: readonly string[]): Toolset =>
    wanted.length === 0 ? tools : createView(tools, { add: made.filter((_, at) => wanted.includes(names[at]!)) })
  return {
    ...options,
    tools: joined(options.tools, agents),
    ...(options.phases === undefined
      ? {}
      : {
          phases: options.phases.map((phase, at) => ({
            ...phase,
            tools: joined(phase.tools ?? options.tools, phases[at]?.agents ?? agents),
          })),
        }),
  }
}

/** Who shares the workspace, or runs no call, keeps nobody else out of it. */
function lockedFor(profile: AgentProfile, { shared = false, dryRun = false }: RunOptions): AgentProfile {
  return shared !== false || dryRun ? { ...profile, changesWorkspace: false } : profile
}

/** What the executor is asked in the same words. */
const PASSED_ON = ["history", "since", "sampling", "signal", "leaves"] as const

/** What the gate is told of others who work in the same place. */
export function sharedIn(shared: boolean | SharedWork | undefined): { shared?: SharedWork } {
  return typeof shared === "object" ? { shared } : {}
}

function filesOf(access: ReturnType<typeof givenTask>["access"]): Pick<RunRequest, "files"> {
  return typeof access === "string" ? {} : { files: access.owns }
}

/** Those of some settings that are given. */
function givenOf<Key extends keyof RunOptions>(options: RunOptions, keys: readonly Key[]): Pick<RunOptions, Key> {
  return Object.fromEntries(keys.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]]]))) as Pick<
    RunOptions,
    Key
  >
}

/** The assistant is told of tools: without any it needs no words. */
function promptOf(profile: AgentProfile, { systemPrompt }: RunOptions, withoutTools: boolean): string {
  const own = withoutTools && profile === assistantProfile ? "" : profile.systemPrompt
  return systemPrompt ?? own
}

/** Whether a run has no tools at all: none were wanted, or the application has none. */
function isPlain(
  wanted: readonly string[] | undefined,
  { unavailable = [] }: ExecutorOptions,
  all: ToolRegistry,
): boolean {
  return wanted === undefined ? all.list().length === 0 && unavailable.length === 0 : wanted.length === 0
}

/** @throws ToolwrightError `UNKNOWN_TOOL` for a name that is not on offer */
function chosen(tools: Toolset, wanted: readonly string[] | undefined): Toolset {
  if (wanted === undefined) return tools
  for (const name of wanted) {
    if (tools.get(name) !== undefined) continue
    const known = tools.list().map((tool) => tool.name)
    const near = nearest(name, known)
    throw new ToolwrightError(
      "UNKNOWN_TOOL",
      `The run was to have the tool '${name}', and the agent is offered none of that name.`,
      {
        hint: `There is: ${(near.length > 0 ? near : known.slice(0, 20)).join(", ")}.`,
      },
    )
  }
  return createView(tools, { only: wanted.map((name) => tools.get(name)!.name) })
}

/** The tools of a run, and of each of its phases: of one that was narrowed, those that are left. */
function chosenIn(
  { tools, phases }: ExecutorOptions,
  wanted: readonly string[] | undefined,
): Pick<ExecutorOptions, "tools" | "phases"> {
  if (wanted === undefined || phases === undefined) return { tools: chosen(tools, wanted) }
  const only = new Set(wanted)
  return {
    tools: createView(tools, { where: ({ name }) => only.has(name) }),
    phases: phases.map((phase) => ({
      ...phase,
      tools: createView(phase.tools ?? tools, { where: ({ name }) => only.has(name) }),
    })),
  }
}

/** A pairing makes calls and says nothing of its own. @throws ToolwrightError `NO_MODEL` */
function checkWords(pairing: Pairing | undefined): void {
  if (pairing === undefined) return
  throw new ToolwrightError(
    "NO_MODEL",
    "The built-in model makes calls of tools, and answers no question without them.",
    {
      hint: HOW_TO_CONFIGURE,
    },
  )
}

/** @throws ToolwrightError `INVALID_SCHEMA` where it is no JSON Schema */
function formOf(output: OutputSchema): NonNullable<RunRequest["output"]> {
  const schema = toJsonSchema(output as JsonSchema, "input")
  const fault = schemaFault(schema)
  if (fault !== undefined)
    throw new ToolwrightError("INVALID_SCHEMA", `The output of the run is no JSON Schema: ${describeFault(fault)}.`)
  return isStandardSchema(output) ? { schema, parse: (value) => parseWith(output, value) } : { schema }
}
