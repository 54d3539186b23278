import { join, resolve } from "node:path"
import {
  ANNOTATED,
  compactingContext,
  DynamicExecutor,
  FileOwningAgent,
  givenTask,
  listRuns,
  profileNamed,
  readRun,
  recordRun,
  type AgentProfile,
  type ExecutorOptions,
  type RecordedRun,
  type RunRequest,
  type RunHead,
  type RunRecorder,
} from "@toolwright/agents"
import type { Backend } from "@toolwright/backends"
import {
  GENERAL_SET,
  ToolwrightError,
  type Middleware,
  type PermissionPolicy,
  type RunEvent,
  type RunSummary,
  type ToolDefinition,
  type ToolRegistry,
  type Toolset,
} from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import { backendFor, configuredBackend, hasModel, withoutModel } from "./assembly/backend.ts"
import { builtinTools } from "./assembly/builtins.ts"
import {
  canBePocket,
  checkPocketAgent,
  POCKET_ASKS,
  pocketOptions,
  pocketToolset,
  runsOnPocket,
} from "./assembly/pocket.ts"
import { connectSources } from "./assembly/sources.ts"
import { middlewareFor } from "./assembly/middleware.ts"
import { permissionsFor } from "./assembly/permissions.ts"
import { registered } from "./assembly/registered.ts"
import { defaultConfiguration, type PartialConfiguration } from "./configuration/load.ts"
import type { Configuration } from "./configuration/settings.ts"
import { redactorFor } from "./secrets/redactor.ts"
import { fingerprintOf } from "./workspace/fingerprint.ts"
import { lockWorkspace } from "./workspace/lock.ts"
import { workspaceRoot } from "./workspace/root.ts"
import { createStateFolder, stateFolderOf } from "./workspace/state-folder.ts"

/** What a {@link Toolwright} is made of. Settings left out have the defaults of the configuration file. */
export interface ToolwrightOptions extends PartialConfiguration {
  /** Tools of your own. */
  tools?: readonly ToolDefinition[]
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
  /** Gets a line for what happens while sources are connected. */
  log?: (line: string) => void
  /** Whether runs are recorded; they are unless this is false. */
  record?: boolean
}

/** Settings of one run. */
export interface RunOptions {
  /** Name of a profile, or one of your own; `assistant` unless given. */
  agent?: string | AgentProfile
  signal?: AbortSignal
  runId?: string
  /** What was said before the task, oldest first. */
  history?: RunRequest["history"]
  /** In place of the profile's own. */
  systemPrompt?: string
  /**
   * Whether other runs may work in the workspace at the same time, as in a server; each file's changes still wait for
   * each other.
   */
  shared?: boolean
  /** The files that an agent owns which owns files (`file-owner`), relative to the workspace. */
  files?: readonly string[]
  /** Decodes and checks the calls and runs none; see `RunRequest.dryRun`. Takes no lock. */
  dryRun?: boolean
}

/**
 * One configuration, assembled: the registry, the agents, the backend and the run records that every surface shares.
 */
export interface Toolwright extends AsyncDisposable {
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
  /** Whether runs are done by the built-in pocket model. */
  readonly pocket: boolean
  /** Where runs are recorded. */
  readonly runsFolder: string
  /**
   * The state of files in the workspace, for a cache of results: undefined where it cannot be told, as of directories.
   */
  fingerprint(paths: readonly string[]): Promise<string | undefined>
  /** The tools that an agent is offered; with the pocket model those that it knows. */
  toolsFor(agent: string | AgentProfile): Toolset
  /**
   * The backend, made at the first use.
   *
   * @throws ToolwrightError `NO_MODEL` where none is configured and no tool is registered that the built-in pocket
   *   model knows
   */
  backend(): Promise<Backend>
  /** Runs a task; the last event is `run-end`, and its summary the return value. */
  run(task: string, options?: RunOptions): AsyncGenerator<RunEvent, RunSummary>
  /** Runs a task to its end. */
  complete(task: string, options?: RunOptions): Promise<RunSummary>
  /** An agent that owns files and writes them through JSON artifacts. */
  fileOwner(
    agentId: string,
    files: readonly [string, ...string[]],
    log?: (line: string) => void,
  ): Promise<FileOwningAgent>
  runs(): RunHead[]
  readRun(runId: string): RecordedRun
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
export async function createToolwright(options: ToolwrightOptions = {}): Promise<Toolwright> {
  const { cwd = process.cwd(), env = process.env } = options
  const configuration = defaultConfiguration(options)
  const withBuiltins = options.withBuiltins ?? (options.workspace !== undefined || options.builtins !== undefined)
  const builtins = withBuiltins
    ? builtinTools(configuration, cwd, {
        env,
        logit: {
          generator: () => configuredBackend(configuration, options.backend, backend),
          tools: () => registry.list(),
        },
      })
    : []
  const { registry, unavailable: incapable } = await registered([...builtins, ...(options.tools ?? [])], env)
  const sources = await connectSources(configuration, registry, cwd, options.log ?? (() => {}))
  const unavailable = [...incapable, ...sources.missing]

  const root = workspaceRoot(configuration, cwd)
  const writable =
    !withBuiltins || configuration.workspace.readOnly === undefined || (configuration.workspace.roots?.length ?? 0) > 0
  const state = stateFolderOf(root, writable, env)
  const folder = state.path
  if (state.reason !== undefined) (options.log ?? (() => {}))(state.reason)
  const runsFolder =
    configuration.runs.folder === undefined ? join(folder, "runs") : resolve(cwd, configuration.runs.folder)
  const permissions = permissionsFor(configuration, options.approve)
  const middleware = await middlewareFor(configuration, {
    cwd,
    env,
    ...(options.middleware === undefined ? {} : { own: options.middleware }),
  })

  let made: Promise<Backend> | undefined
  const backend = (): Promise<Backend> =>
    (made ??= options.backend === undefined ? openBackend() : Promise.resolve(options.backend))
  const openBackend = async (): Promise<Backend> =>
    pocket || hasModel(configuration) ? backendFor(configuration, { root }) : withoutModel()
  const pocket = runsOnPocket(configuration, options.backend, registry)

  const profileOf = (agent: string | AgentProfile): AgentProfile =>
    typeof agent === "string" ? profileNamed(agent) : agent
  const toolsFor = (agent: string | AgentProfile): Toolset => {
    const profile = profileOf(agent)
    if (pocket && canBePocket(profile)) return pocketToolset(registry, !writable)
    const { tools } = profile
    const missing = unavailable.map(({ name }) => name)
    return registry.view({
      ...tools,
      without: [...(tools.without ?? []), ...missing],
      ...(writable ? {} : { readOnly: true }),
    })
  }

  async function executorOptions(profile: AgentProfile): Promise<ExecutorOptions> {
    const { model, agent } = configuration
    const offered = toolsFor(profile)
    const isWanted = wouldBeOffered(registry, profile)
    const sampling = {
      ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
      ...(model.maxTokens === undefined ? {} : { maxTokens: model.maxTokens }),
      ...(model.seed === undefined ? {} : { seed: model.seed }),
    }
    return {
      tools: offered,
      backend: await backend(),
      maxRounds: profile.maxRounds ?? agent.maxRounds,
      toolCalling: model.toolCalling,
      grounding: model.grounding === "always" ? ANNOTATED : model.grounding,
      toolTimeoutMs: agent.toolTimeoutSeconds * 1000,
      completion: profile.completion,
      middleware,
      unavailable: unavailable.filter(({ name }) => isWanted(name)),
      ...(model.format === undefined ? {} : { formatter: formatterById(model.format) }),
      ...(model.contextTokens === undefined
        ? {}
        : { context: compactingContext({ contextTokens: model.contextTokens }) }),
      ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
      ...(permissions === undefined ? {} : { permissions }),
      ...(pocket ? pocketOptions(configuration, permissionsFor(configuration, options.approve, POCKET_ASKS)) : {}),
      ...(options.record === false ? {} : { recorder: recorderFor }),
    }
  }

  function recorderFor(runId: string): RunRecorder {
    createStateFolder(folder)
    const redact = redactorFor({ ...configuration, secrets: {} }, env)
    return recordRun(join(runsFolder, runId), { redact })
  }

  /** Takes the workspace for a run that may change it, for as long as it lasts. */
  function taken(profile: AgentProfile, runId: string): Disposable {
    if (!withBuiltins || !profile.changesWorkspace) return { [Symbol.dispose]: () => {} }
    if (writable) {
      createStateFolder(folder)
      return lockWorkspace(state.reason === undefined ? join(root, ".toolwright") : folder, runId)
    }
    if (!profile.completion.requireValidation) return { [Symbol.dispose]: () => {} }
    throw new ToolwrightError(
      "WORKSPACE_READ_ONLY",
      `The agent '${profile.name}' changes the workspace, and ${root} is read-only.`,
      {
        hint: "Give a folder that it may write with --root, or use an agent that only reads ('review', 'triage').",
      },
    )
  }

  async function* run(task: string, runOptions: RunOptions = {}): AsyncGenerator<RunEvent, RunSummary> {
    const {
      agent = "assistant",
      signal,
      runId = newRunId(),
      history,
      systemPrompt,
      shared = false,
      dryRun = false,
      files,
    } = runOptions
    const profile = profileOf(agent)
    const given = givenTask(profile, task, files)
    if (pocket) checkPocketAgent(profile)
    using _lock = taken(shared || dryRun ? { ...profile, changesWorkspace: false } : profile, runId)
    const parts = await executorOptions(profile)
    const executor = new DynamicExecutor({
      ...parts,
      access: given.access,
      completion: pocket ? parts.completion! : given.completion,
    })
    return yield* executor.run({
      task: given.task,
      systemPrompt: pocket ? "" : (systemPrompt ?? profile.systemPrompt),
      agent: profile.name,
      runId,
      ...(history === undefined ? {} : { history }),
      ...(signal === undefined ? {} : { signal }),
      ...(dryRun ? { dryRun } : {}),
    })
  }

  async function complete(task: string, runOptions?: RunOptions): Promise<RunSummary> {
    const events = run(task, runOptions)
    let step = await events.next()
    while (!step.done) step = await events.next()
    return step.value
  }

  async function close(): Promise<void> {
    await (await made?.catch(() => undefined))?.close?.()
    for (const source of sources.attached) await source.close()
  }

  return {
    configuration,
    registry,
    unavailable,
    permissions,
    middleware,
    pocket,
    runsFolder,
    fingerprint: (paths) => fingerprintOf(root, paths),
    toolsFor,
    backend,
    run,
    complete,
    async fileOwner(agentId, files, log) {
      const profile = profileNamed("file-owner")
      if (pocket) checkPocketAgent(profile)
      const { completion: _completion, ...parts } = await executorOptions(profile)
      return new FileOwningAgent({
        ...parts,
        agentId,
        specializedFiles: files,
        tools: registry,
        take: (runId) => taken(profile, runId),
        ...(log === undefined ? {} : { log }),
      })
    },
    runs: () => listRuns(runsFolder),
    readRun: (runId) => readRun(runsFolder, runId),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Whether an agent would be offered a tool if it could run here; of a source that is missing nobody knows the tools. */
function wouldBeOffered(registry: ToolRegistry, { tools }: AgentProfile): (name: string) => boolean {
  const { readOnly: _readOnly, splitActions: _split, ...selection } = tools
  const offered = registry.view(selection).list()
  const names = new Set(offered.map(({ name }) => name))
  const takesAny = tools.only === undefined && (tools.sets?.includes(GENERAL_SET) ?? true)
  return (name) => names.has(name) || (takesAny && registry.get(name) === undefined)
}

/** An id that sorts by time: the date and time, then a few random characters. */
export function newRunId(now: Date = new Date()): string {
  const stamp = now.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15)
  return `${stamp}-${crypto.randomUUID().slice(0, 6)}`
}
