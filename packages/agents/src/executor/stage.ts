import {
  compactingContext,
  Conversation,
  openDialogue,
  schemaText,
  systemPrompt,
  wholeContext,
  type ContextManager,
  type DeliveryPlan,
  type Dialogue,
} from "@toolwright/dialogue"
import type { ToolDefinition, Toolset } from "@toolwright/toolbox"
import { LoopDetector } from "../gate/loop-detector.ts"
import type { PhasedWork } from "../phases/phased-work.ts"
import { Catalogue, declaredTokens } from "./catalogue.ts"
import { DRY_RUN_ROUNDS, type DryRun } from "./dry-run.ts"
import { DEFAULT_MAX_ROUNDS, type ExecutorOptions, type RunRequest } from "./options.ts"
import { PrefixMeter } from "./prefix.ts"
import type { ResultStore } from "./result-store.ts"
import { NO_TOOLS, toolsWithResults } from "./toolset.ts"

/** What a run works with, as it is in one of its phases; a run without phases is in one all the time. */
export interface Stage {
  options: ExecutorOptions
  request: RunRequest
  loops: LoopDetector
  /** The round after which it is over. */
  maxRounds: number
  tools: Toolset
  catalogue: Catalogue
  prefix: PrefixMeter
  dialogue: Dialogue
  conversation: Conversation
  context: ContextManager
  /**
   * The tools that the model was told of by now, in which version, and the tokens that they take in a native request.
   */
  offered: readonly ToolDefinition[]
  version: number
  toolTokens: number
  /** The plan that the system prompt was written for. */
  promptedFor: DeliveryPlan
  /** The next reply is to be the answer in its form, and how often that was asked for. */
  forming: boolean
  formAsks: number
  /** Replies in a row without a call. */
  nudges: number
}

/** What a stage is made of. */
interface StageParts {
  options: ExecutorOptions
  request: RunRequest
  results: ResultStore
  work: PhasedWork | undefined
  dryRun: DryRun | undefined
  signal: AbortSignal
}

export function stageOf({ options: given, request: asked, results, work, dryRun, signal }: StageParts): Stage {
  const options = work?.options ?? given
  const request = work?.request(asked) ?? asked
  // A run that runs no call cannot search.
  const limits = dryRun === undefined ? options.catalogue : undefined
  const catalogue = new Catalogue(
    toolsWithResults(request.withoutTools === true ? NO_TOOLS : options.tools, results),
    limits,
  )
  const { tools } = catalogue
  const offered = catalogue.callable
  const { task, history = [], media, since = [] } = request
  const dialogue = dialogueOf(options, request, { tools: offered, signal })
  const maxRounds = work?.lastRound ?? options.maxRounds ?? DEFAULT_MAX_ROUNDS
  return {
    options,
    request,
    tools,
    catalogue,
    prefix: new PrefixMeter(),
    dialogue,
    offered,
    loops: new LoopDetector(options.loops),
    maxRounds: dryRun === undefined ? maxRounds : Math.min(maxRounds, DRY_RUN_ROUNDS),
    conversation: new Conversation({
      system: promptOf({ options, request, catalogue }, dialogue.plan),
      task,
      history,
      since,
      results,
      ...(media === undefined ? {} : { media }),
    }),
    context: options.context ?? contextFor(options),
    version: tools.version,
    toolTokens: tokensOf(catalogue, dialogue.plan),
    promptedFor: dialogue.plan,
    forming: false,
    formAsks: 0,
    nudges: 0,
  }
}

function dialogueOf(
  { backend, toolCalling: mode, formatter, grounding, sampling: before, ...more }: ExecutorOptions,
  { task, sampling: own }: RunRequest,
  { tools, signal }: { tools: readonly ToolDefinition[]; signal: AbortSignal },
): Dialogue {
  const sampling = own === undefined ? before : { ...before, ...own }
  const messages = [{ role: "user", content: task }] as const
  const said = [task]
  const { reasoningTokens, recordTokens, grammars } = more
  return openDialogue({
    backend,
    mode,
    formatter,
    grounding,
    sampling,
    reasoningTokens,
    recordTokens,
    signal,
    tools,
    said,
    messages,
    grammars,
  })
}

export function promptOf(
  { options, request, catalogue }: Pick<Stage, "options" | "request" | "catalogue">,
  plan: DeliveryPlan,
): string {
  const { unavailable, completion } = options
  const { systemPrompt: given = "", output, withoutTools } = request
  const form = output === undefined ? "" : schemaText(output.schema, withoutTools !== true)
  return systemPrompt({
    systemPrompt: [given.trim(), form].filter((text) => text !== "").join("\n\n"),
    tools: catalogue.declared(plan.delivery === "native"),
    plan,
    unavailable: unavailable ?? [],
    signal: completion?.signal,
  })
}

function contextFor({ backend: { contextTokens }, compaction }: ExecutorOptions): ContextManager {
  return contextTokens === undefined ? wholeContext : compactingContext({ ...compaction, contextTokens })
}

/** Definitions stand beside the messages in a native request; elsewhere they are in the system prompt. */
export function tokensOf(catalogue: Catalogue, { delivery }: DeliveryPlan): number {
  return delivery === "native" ? declaredTokens(catalogue.declared(true)) : 0
}
