import type { Backend, SamplingOptions } from "@toolwright/backends"
import type {
  CompactionOptions,
  ContextManager,
  Grammars,
  GroundingSetting,
  ToolCallingMode,
} from "@toolwright/dialogue"
import type { Middleware, PermissionPolicy, RunEvent, ToolDefinition, Toolset } from "@toolwright/toolbox"
import type { ChatMessage, MediaPart, ToolFormatter } from "@toolwright/toolformat"
import type { Access } from "../gate/access.ts"
import type { CompletionCriteria } from "../gate/criteria.ts"
import type { SharedWork } from "../gate/work-gate.ts"
import type { LoopLimits } from "../gate/loop-detector.ts"
import type { Phase } from "../phases/phase.ts"
import type { GivenToRun } from "../record/encode.ts"
import type { CatalogueLimits } from "./catalogue.ts"
import type { RunRecorder } from "../record/recorder.ts"
import type { OutputForm } from "./output.ts"

/** The parts of an executor and its limits. */
export interface ExecutorOptions {
  /** The tools on offer: a registry, or a view of one. Changes take effect with the next round. */
  tools: Toolset
  backend: Backend
  /** Keeps the conversation inside the model's window; one that keeps everything unless given. */
  context?: ContextManager
  /** How it is kept inside the window that the backend says it has. */
  compaction?: Omit<CompactionOptions, "contextTokens">
  /** The format, where it is not to be chosen by the model's name. */
  formatter?: ToolFormatter
  /** Inferences in one run; {@link DEFAULT_MAX_ROUNDS} unless given, in phases as many as these have together. */
  maxRounds?: number
  /** Tokens of requests and replies together, after which no further round begins. */
  maxTokens?: number
  /** Time after which no further round begins, of a run that went on in another process both parts together. */
  maxSeconds?: number
  toolCalling?: ToolCallingMode
  /** How many tools are declared at the front, and which: the others are found by a search. All are unless given. */
  catalogue?: CatalogueLimits
  /** Which arguments must come from the conversation where calls are held by a grammar; `auto` unless given. */
  grounding?: GroundingSetting
  /** Where grammars are kept for all runs; each run makes its own unless given. */
  grammars?: Grammars
  completion?: CompletionCriteria
  /** The parts of the work, one after another, each with a conversation of its own; all in one unless given. */
  phases?: readonly Phase[]
  /** What the agent may change, held where calls are carried out; `all` unless given. */
  access?: Access
  /** The top of the workspace, from which owned files are named: calls may name them whole too. */
  root?: string
  /** Where other owners of files work in the same workspace at the same time. */
  shared?: SharedWork
  /** How often the same calls may bring the same results before the model is told, and before the run is stopped. */
  loops?: LoopLimits
  /** How often in a row a model that makes no call is told to, before the run ends; three times unless given. */
  nudges?: number
  sampling?: SamplingOptions
  /**
   * How many tokens (estimated) a model may reason in one reply before it says or calls anything: a longer one is
   * stopped, and the model told to act. No bound unless given.
   */
  reasoningTokens?: number
  /** Tells how the model came to each reply, token by token, where the backend can. */
  recordTokens?: boolean
  /**
   * Leans the model to tools whose inputs are there, and away from those that were called more than twice or are not
   * permitted, where the backend tells its tokens.
   */
  toolBias?: boolean
  permissions?: PermissionPolicy
  /** What becomes of a call that needs approval where nobody can be asked: it is denied, unless the run is to wait. */
  approvals?: "deny" | "wait"
  /** Stands around every call, after the gate's own guard. */
  middleware?: readonly Middleware[]
  /** Time limit in milliseconds of tools that set none. */
  toolTimeoutMs?: number
  /**
   * Makes the recorder of a run; it hears every event before anybody else, so a run is on record whatever its consumer
   * does.
   */
  recorder?: (given: GivenToRun & { runId: string }) => RunRecorder
  /** Tools that exist but cannot run here, so that the prompt can say so; what they are, where that is known. */
  unavailable?: readonly { name: string; reason: string; tool?: ToolDefinition }[]
}

export const DEFAULT_MAX_ROUNDS = 20

/** One task for an executor. */
export interface RunRequest {
  task: string
  /** What the agent is and how it should work; the tool section is added to it. */
  systemPrompt?: string
  /** What was said before the task, oldest first; a system message among it is passed over. */
  history?: readonly ChatMessage[]
  /** Pictures and sounds that belong to the task. */
  media?: readonly MediaPart[]
  /** What was said and done about the task already, oldest first: replies, and results of their calls. */
  since?: readonly ChatMessage[]
  /** Goes before the executor's own, setting by setting. */
  sampling?: SamplingOptions
  /** Name of the agent, for events and records. */
  agent?: string
  runId?: string
  /** The files that the agent owns, for the record: what it may write is said by `access`. */
  files?: readonly string[]
  signal?: AbortSignal
  /** The task is answered in words, and no tool is offered. */
  withoutTools?: boolean
  /**
   * The form of the answer. Where no tool is on offer the reply is held to it from the first; elsewhere once the work
   * is done. An answer that does not fit is asked for once more. A dry run has none.
   */
  output?: OutputForm
  /**
   * Whether a run that comes to this end is left open in its log instead, so that it can go on later, as one whose
   * worker stops or whose model is away.
   */
  leaves?: (end: Extract<RunEvent, { type: "run-end" }>) => boolean
  /**
   * Decodes and checks the calls, and runs none: the model is told `NOT_RUN` in place of each result. The run ends when
   * the model answers in words or repeats itself, after six rounds at the latest, and well when every call was valid.
   */
  dryRun?: boolean
}
