import {
  Grammars,
  profileNamed,
  recordedCalls,
  recordRun,
  type ExecuteCall,
  type RunPlace,
  type RunRecorder,
  type AgentProfile,
  type ExecutorOptions,
  type KeptFlags,
  type FileOwningAgent,
} from "@toolwright/agents"
import type { Backend } from "@toolwright/backends"
import type { RunLog } from "@toolwright/store"
import { dirname } from "node:path"
import {
  executeCall,
  type DataOf,
  type Middleware,
  type OutputSummary,
  type PermissionPolicy,
  type ResultCache,
  type RunEvent,
  type RunEventOf,
  type RunSummary,
  type ToolDefinition,
  type ToolRegistry,
  type Toolset,
} from "@toolwright/toolbox"
import { approvalAccess, type ApprovalAccess } from "./approvals.ts"
import { agentAccess, type AgentAccess } from "./agents/access.ts"
import { ownAgents } from "./agents/own.ts"
import { assembleTools } from "./assembly/assembled-tools.ts"
import { configuredBackend } from "./assembly/backend.ts"
import { hasModel } from "./assembly/configured.ts"
import { executorSettings, toolUseOf } from "./assembly/executor-settings.ts"
import { middlewareFor } from "./assembly/middleware.ts"
import { modelFor } from "./assembly/model.ts"
import { offerFor, phasesOf } from "./assembly/offer.ts"
import { databaseOf, logAccess, type LogAccess } from "./assembly/log.ts"
import { permissionsFor } from "./assembly/permissions.ts"
import { aroundServices, serviceCache } from "./assembly/services.ts"
import { placeOf, type Place } from "./assembly/place.ts"
import { checkAgent } from "./pairing/choose.ts"
import { recordedRuns } from "./recorded-runs.ts"
import type { RunRecords } from "./records.ts"
import type { ChooseReading, Pairing } from "./pairing/pairing.ts"
import type { BranchOptions } from "./branch.ts"
import { checkOptions, checkTools } from "./configuration/check-options.ts"
import { defaultConfiguration, type PartialConfiguration } from "./configuration/load.ts"
import type { Configuration } from "./configuration/settings.ts"
import { planAccess, type PlanAccess } from "./plans/access.ts"
import { placeIn, waysToRun } from "./ways-to-run.ts"
import type { ResumeOptions } from "./resume.ts"
import type { OutputSchema, RunOptions, RunParts } from "./runs.ts"
import { redactorFor } from "./secrets/redactor.ts"
import type { RecordedUndo } from "./undo/recorded-undo.ts"
import { tasksOver, type TaskAccess } from "./tasks/access.ts"
import { fingerprintOf } from "./workspace/fingerprint.ts"

/** What a {@link Toolwright} is made of. Settings left out have the defaults of the configuration file. */
export interface ToolwrightOptions extends Omit<PartialConfiguration, "tools"> {
  /** Tools of your own, and files, folders and packages that export some; these are loaded again when they change. */
  tools?: readonly (ToolDefinition | string)[]
  /** A backend of your own, in place of the one that `model` describes. */
  backend?: Backend
  /** Whether the built-in tools are registered too; they are when `workspace` or `builtins` is given. */
  withBuiltins?: boolean
  /** The folder that relative paths start from; the process's own unless given. */
  cwd?: string
  env?: Readonly<Record<string, string | undefined>>
  /** Stands around every call of a tool, on every surface; what the configuration names stands outside it. */
  middleware?: readonly Middleware[]
  /** Asked about calls that need approval. */
  approve?: PermissionPolicy["approve"]
  /** Asked what was meant, where a model that measures its doubt is not sure. */
  choose?: ChooseReading
  /** Gets a line for what happens while sources are connected. */
  log?: (line: string) => void
  /** Whether runs are recorded; they are unless this is false. */
  record?: boolean
}

/** Tools of your own and no others, so that their names tell what events of a run hold. */
type OwnToolsAlone<Tools> = Omit<ToolwrightOptions, "tools" | "builtins" | "workspace" | "withBuiltins" | "sources"> & {
  tools: Tools
  builtins?: undefined
  workspace?: undefined
  withBuiltins?: false
  sources?: undefined
}

/**
 * One configuration, assembled: the registry, the agents, the backend and the run records that every surface shares.
 */
export interface Toolwright<Tool extends ToolDefinition = ToolDefinition> extends RunRecords, AsyncDisposable {
  readonly configuration: Configuration
  readonly registry: ToolRegistry
  /** Tools that are registered but cannot run here, and why. */
  readonly unavailable: readonly { name: string; reason: string }[]
  /** What calls need, by the configuration: for a surface that calls the registry's tools itself. */
  readonly permissions: PermissionPolicy | undefined
  /**
   * What stands around every call, outermost first: for a surface that calls the registry's tools itself. It takes
   * secrets out of results.
   */
  readonly middleware: readonly Middleware[]
  /** What was read from REST tools services; undefined where there is none. */
  readonly serviceCache: ResultCache | undefined
  /** How the configuration has tools told to the model and calls read: for a surface that asks the model itself. */
  readonly toolUse: Pick<ExecutorOptions, "toolCalling" | "grounding" | "formatter" | "grammars">
  /** What runs are done with, where that is a model with tools, limits and words of its own. */
  readonly pairing: Pairing | undefined
  /** Where runs, tasks and conversations are kept; nothing is there before something is written. */
  readonly log: LogAccess
  /** The tasks that wait, are worked on and were done: see {@link TaskAccess}; `startTaskWorker` works on them. */
  readonly tasks: TaskAccess
  /** The agents: shipped ones, those of the configuration, and those that were made by name. */
  readonly agents: AgentAccess
  /** What runs ask that wait for a person, and the answers. */
  readonly approvals: ApprovalAccess
  /** Tasks that are queued together; a worker works on them. */
  readonly plans: PlanAccess
  /** The folder of the workspace's own state; nothing is there before something is written. */
  readonly stateFolder: string
  /**
   * Carries out calls for a surface of that name (`http`, `mcp`, `tools`), and leaves a record of each: for a surface
   * that calls the registry's tools itself. With `many`, the record of a call that changed nothing is written a moment
   * after its answer, with those of others, and before this is closed.
   */
  executeCall(surface: string, options?: { many?: boolean }): ExecuteCall
  /**
   * The state of files in the workspace, for a cache of results: undefined where it cannot be told, as of directories.
   */
  fingerprint(paths: readonly string[]): Promise<string | undefined>
  /**
   * The tools that an agent is offered; of a pairing those that it knows, unless `paired` is false: then as any other
   * model would get them.
   */
  toolsFor(agent: string | AgentProfile, options?: { paired?: boolean }): Toolset
  /**
   * The backend, made at the first use.
   *
   * @param options.of a run that is to go on: where no model is named, its own is meant
   * @throws ToolwrightError `NO_MODEL` where none is configured and no tool is registered that the built-in model
   *   knows
   */
  backend(options?: { of?: string }): Promise<Backend>
  /**
   * Runs a task; the last event is `run-end`, and its summary the return value. Leaving the loop cancels the run. With
   * `output` the answer is a value of that form.
   */
  run<const Output extends OutputSchema>(
    task: string,
    options: RunOptions & { output: Output },
  ): AsyncGenerator<RunEventOf<Tool, OutputSummary<DataOf<Output>>>, OutputSummary<DataOf<Output>>>
  run(task: string, options?: RunOptions): AsyncGenerator<RunEventOf<Tool>, RunSummary>
  /**
   * Goes on with a run that was interrupted, or that waits; the first event is `run-resume`.
   *
   * @throws ToolwrightError `RUN_HELD`, `RUN_ENDED`, `UNKNOWN_RUN`, `RUN_UNREADABLE`, `NOTHING_TO_RESUME`
   */
  resume(runId: string, options?: ResumeOptions): AsyncGenerator<RunEvent, RunSummary>
  /**
   * Begins a run that shares the events of another up to one of them; `resume` goes on with it.
   *
   * @returns its id
   * @throws ToolwrightError `UNKNOWN_RUN`, `UNKNOWN_EVENT`, `NOTHING_TO_RESUME`
   */
  branch(runId: string, options: BranchOptions): Promise<string>
  /**
   * Takes back what a run or a call changed, the last one unless named; it leaves a record. What was changed since
   * stays.
   *
   * @throws ToolwrightError `NOTHING_TO_UNDO`, `UNKNOWN_CHANGE`, `AMBIGUOUS_CHANGE`
   */
  undo(id?: string, options?: { surface?: string; by?: string }): Promise<RecordedUndo>
  /** Runs a task to its end. */
  complete<const Output extends OutputSchema>(
    task: string,
    options: RunOptions & { output: Output },
  ): Promise<OutputSummary<DataOf<Output>>>
  complete(task: string, options?: RunOptions): Promise<RunSummary>
  /** An agent that owns files and writes them through JSON artifacts. */
  fileOwner(
    agentId: string,
    files: readonly [string, ...string[]],
    log?: (line: string) => void,
  ): Promise<FileOwningAgent>
  close(): Promise<void>
}

/**
 * Assembles everything from one configuration.
 *
 * @throws ToolwrightError `DUPLICATE_TOOL`, `INVALID_TOOL`, or what is wrong with the workspace's folders
 * @example
 * const toolwright = await createToolwright({
 *   tools: [forecast],
 *   model: { baseUrl: "http://localhost:8080/v1", name: "qwen2.5-7b-instruct" },
 * })
 * for await (const event of toolwright.run("Will it rain in Zürich tomorrow?")) {
 *   if (event.type === "text-delta") process.stdout.write(event.text)
 * }
 */
export function createToolwright<const Tools extends readonly ToolDefinition[]>(
  options: OwnToolsAlone<Tools>,
): Promise<Toolwright<Tools[number]>>
export function createToolwright(options?: ToolwrightOptions): Promise<Toolwright>
export async function createToolwright(options: ToolwrightOptions = {}): Promise<Toolwright> {
  const { cwd = process.cwd(), env = process.env, tools: given = [], log = () => {}, approve, ...rest } = options
  checkOptions(rest, OWN_OPTIONS)
  checkTools(given)
  const { own, named } = parted(given)
  const configuration = defaultConfiguration({ ...rest, ...named })
  const withBuiltins = options.withBuiltins ?? (options.workspace !== undefined || options.builtins !== undefined)

  const described = await ownAgents(configuration, cwd)
  const place = placeOf(configuration, { cwd, env, withBuiltins, log })
  const permissions = permissionsFor(configuration, { approve })
  const cache = serviceCache(configuration)
  const around = [...(options.middleware ?? []), ...aroundServices(cache)]
  const middleware = await middlewareFor(configuration, { cwd, env, own: around })
  // Records show no kind of secret, whatever is shown to the model.
  const redact = redactorFor({ ...configuration, secrets: {} }, env)
  const { tools, model } = await toolsAndModel(configuration, { options, cwd, env, withBuiltins, own, log, place })
  const records = logAccess(databaseOf(configuration, cwd), place)
  const grammars = new Grammars()
  const assembled = { configuration, options, place, permissions, middleware, redact, tools, model, records, grammars }
  const offer = offerOf(assembled)
  const executorOptions = executorOptionsOf(assembled, offer)
  const { pairing } = model
  const tasks = tasksOver(records, { ...place, env }, configuration)
  const { root } = place
  const agents = agentAccess({ own: described, log: records, root, workspace: tasks.workspace })
  const open = () => records.open()
  const record = options.record !== false
  const { registry } = tools
  const ways = waysToRun({ ...assembled, pairing, registry, open, record, agents, cwd, env, executorOptions })
  const close = async (): Promise<void> => {
    await model.close()
    await tools.close()
    await records.close()
  }
  return {
    configuration,
    registry: tools.registry,
    get unavailable() {
      return tools.unavailable
    },
    permissions,
    middleware,
    serviceCache: cache,
    toolUse: { ...toolUseOf(configuration), grammars },
    pairing,
    log: records,
    tasks,
    agents,
    approvals: approvalAccess(records),
    plans: planAccess({ tasks, agents, checkAgent: (profile) => checkAgent(pairing, profile) }),
    stateFolder: dirname(place.stateDatabase),
    executeCall: record ? callsOnRecord(open, { root, redact, log }) : () => executeCall,
    fingerprint: (paths) => fingerprintOf(place.root, paths),
    toolsFor: (agent, { paired } = {}) =>
      offer(typeof agent === "string" ? knownProfile(agents, agent) : agent, paired).tools,
    ...(ways as Pick<Toolwright, keyof typeof ways>),
    ...recordedRuns(assembled),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function callsOnRecord(
  open: () => Promise<RunLog>,
  { root, redact, log }: { root: string; redact: Assembled["redact"]; log: (line: string) => void },
): Toolwright["executeCall"] {
  return (surface, { many = false } = {}) =>
    recordedCalls(open, { surface, workspace: root }, { redact, ...(many ? { behind: log } : {}) })
}

/** @throws ToolwrightError `UNKNOWN_AGENT` where it is neither shipped nor in the configuration */
const knownProfile = ({ known }: AgentAccess, name: string): AgentProfile =>
  known.find((profile) => profile.name === name) ?? profileNamed(name)

/** What runs are put together from. */
interface Assembled {
  configuration: Configuration
  options: ToolwrightOptions
  place: Place
  permissions: PermissionPolicy | undefined
  middleware: readonly Middleware[]
  redact: (text: string) => string
  tools: AssembledTools
  model: AssembledModel
  records: LogAccess
  /** Made once for all runs, and for what a surface asks the model itself. */
  grammars: Grammars
}

type AssembledTools = Awaited<ReturnType<typeof assembleTools>>
type AssembledModel = ReturnType<typeof modelFor>
type OfferTo = (profile: AgentProfile, paired?: boolean) => ReturnType<typeof offerFor>

/** Tools may ask the model, and the model is chosen for the tools: each has the other only once it is asked. */
async function toolsAndModel(
  configuration: Configuration,
  {
    options,
    place,
    ...parts
  }: Omit<Parameters<typeof assembleTools>[1], "model"> &
    Pick<Assembled, "options" | "place"> & { env: NodeJS.ProcessEnv; log: (line: string) => void },
): Promise<Pick<Assembled, "tools" | "model">> {
  const canAsk = options.backend !== undefined || hasModel(configuration)
  const tools = await assembleTools(configuration, {
    ...parts,
    model: canAsk ? () => configuredBackend(configuration, options.backend, () => model.backend()) : undefined,
  })
  const { log, env } = parts
  const model = modelFor(configuration, tools.registry, {
    own: options.backend,
    root: place.root,
    choose: options.choose,
    log,
    env,
  })
  return { tools, model }
}

function offerOf({ configuration, tools, model, place }: Assembled): OfferTo {
  const search = configuration.agent.catalogue === "searched"
  return (profile, paired = true) => {
    const pairing = paired ? model.pairing : undefined
    return offerFor(profile, tools, { pairing, writable: place.writable, search })
  }
}

function executorOptionsOf(assembled: Assembled, offer: OfferTo): RunParts["executorOptions"] {
  const { configuration, options, place, middleware, redact, model, records, grammars, tools } = assembled
  const { pairing } = model
  return async (profile, { surface = "library", task, model: former, nesting, askedBy, flags } = {}) => {
    const origin = placeIn(place.root, { surface, task, nesting, askedBy })
    const permissions = permissionsFor(configuration, {
      approve: options.approve,
      agent: profile.name,
      wary: pairing?.wary(place.root) ?? [],
    })
    const judging = { tools: tools.registry, options: { middleware, permissions } }
    return {
      ...executorSettings(configuration, profile),
      ...offer(profile),
      ...phasesOf(profile, { offer, maxRounds: configuration.agent.maxRounds, judging }),
      backend: await model.backend(former),
      grammars,
      middleware,
      root: place.root,
      approvals: configuration.permissions.approvals,
      permissions,
      ...pairing?.options(configuration),
      ...(options.record === false ? {} : { recorder: await recorderFor(records, origin, redact, flags) }),
    }
  }
}

/** Options that are no settings, beside those that are taken apart by name. */
const OWN_OPTIONS = ["backend", "withBuiltins", "middleware", "choose", "record"] satisfies (keyof ToolwrightOptions)[]

/** Tools that are at hand, and the places of others. */
function parted(given: NonNullable<ToolwrightOptions["tools"]>): {
  own: ToolDefinition[]
  named: { tools?: string[] }
} {
  const named = given.filter((tool) => typeof tool === "string")
  const own = given.filter((tool) => typeof tool !== "string")
  return { own, named: named.length === 0 ? {} : { tools: named } }
}

async function recorderFor(
  records: LogAccess,
  place: RunPlace,
  redact: (text: string) => string,
  flags?: KeptFlags,
): Promise<NonNullable<ExecutorOptions["recorder"]>> {
  const log = await records.open()
  const also = flags === undefined ? {} : { flags }
  return (given): RunRecorder => recordRun(log, place, { ...given, ...also }, { redact })
}
