import {
  DynamicExecutor,
  FileOwningAgent,
  givenTask,
  newRunId,
  profileNamed,
  type AgentProfile,
  type ExecutorOptions,
  type RunRequest,
} from "@toolwright/agents"
import type { RunEvent, RunSummary, ToolRegistry } from "@toolwright/toolbox"
import type { Place } from "./assembly/place.ts"
import { checkAgent } from "./pairing/choose.ts"
import type { Pairing } from "./pairing/pairing.ts"

/** Settings of one run. */
export interface RunOptions {
  /** Name of a profile, or one of your own; `assistant` unless given. */
  agent?: string | AgentProfile
  signal?: AbortSignal
  runId?: string
  /** What was said before the task, oldest first. */
  history?: RunRequest["history"]
  /** Pictures and sounds that belong to the task. */
  media?: RunRequest["media"]
  /** What was said and done about the task already, oldest first. */
  since?: RunRequest["since"]
  /** Goes before the configuration's own, setting by setting. */
  sampling?: RunRequest["sampling"]
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
  /** Where it was asked for, for the record; `library` unless given. */
  surface?: string
  /** The task of the queue that it works on, for the record. */
  taskId?: string
  /** In place of the agent's own. */
  maxRounds?: number
  /** See `RunRequest.leaves`. */
  leaves?: RunRequest["leaves"]
}

/** Where a run was asked for, for its record. */
export interface RunOrigin {
  surface?: string | undefined
  task?: string | undefined
}

/** What runs are made of. */
export interface RunParts {
  readonly place: Place
  readonly pairing: Pairing | undefined
  readonly registry: ToolRegistry
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
export function runsWith({ place, pairing, registry, executorOptions }: RunParts): Runs {
  async function* run(task: string, options: RunOptions = {}): AsyncGenerator<RunEvent, RunSummary> {
    const { agent = "assistant", signal, runId = newRunId(), systemPrompt } = options
    const { shared = false, dryRun = false, files, history, media, since, sampling, leaves, maxRounds } = options
    const profile = profileOf(agent)
    const given = givenTask(profile, task, files)
    checkAgent(pairing, profile)
    using _lock = place.take(shared || dryRun ? { ...profile, changesWorkspace: false } : profile, runId)
    const parts = await executorOptions(profile, { surface: options.surface, task: options.taskId })
    const executor = new DynamicExecutor({
      ...parts,
      access: given.access,
      ...(maxRounds === undefined ? {} : { maxRounds }),
      completion: pairing !== undefined ? parts.completion! : { ...parts.completion, ...given.completion },
    })
    return yield* executor.run({
      task: given.task,
      systemPrompt: pairing !== undefined ? "" : (systemPrompt ?? profile.systemPrompt),
      agent: profile.name,
      runId,
      ...(history === undefined ? {} : { history }),
      ...(media === undefined ? {} : { media }),
      ...(since === undefined ? {} : { since }),
      ...(sampling === undefined ? {} : { sampling }),
      ...(signal === undefined ? {} : { signal }),
      ...(dryRun ? { dryRun } : {}),
      ...(files === undefined ? {} : { files }),
      ...(leaves === undefined ? {} : { leaves }),
    })
  }
  return {
    run,
    async complete(task, options) {
      const events = run(task, options)
      let step = await events.next()
      while (!step.done) step = await events.next()
      return step.value
    },
    async fileOwner(agentId, files, log) {
      const profile = profileNamed("file-owner")
      checkAgent(pairing, profile)
      const { completion: _completion, ...parts } = await executorOptions(profile)
      return new FileOwningAgent({
        ...parts,
        agentId,
        specializedFiles: files,
        tools: registry,
        take: (runId) => place.take(profile, runId),
        ...(log === undefined ? {} : { log }),
      })
    },
  }
}

export function profileOf(agent: string | AgentProfile): AgentProfile {
  return typeof agent === "string" ? profileNamed(agent) : agent
}
