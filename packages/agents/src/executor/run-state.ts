import {
  compactingContext,
  Conversation,
  holdTo,
  openDialogue,
  schemaText,
  systemPrompt,
  wholeContext,
  type ContextManager,
  type DeliveryPlan,
  type Dialogue,
  type Question,
  type Reply,
} from "@toolwright/dialogue"
import {
  messageOf,
  ToolwrightError,
  type RunEvent,
  type RunOutcome,
  type RunSummary,
  type ToolDefinition,
  type Toolset,
} from "@toolwright/toolbox"
import { Ledger } from "../gate/ledger.ts"
import { LoopDetector } from "../gate/loop-detector.ts"
import { WorkGate } from "../gate/work-gate.ts"
import type { Snapshot } from "../record/encode.ts"
import { DRY_RUN_ROUNDS, DryRun } from "./dry-run.ts"
import { DEFAULT_MAX_ROUNDS, type ExecutorOptions, type RunRequest } from "./options.ts"
import { Catalogue, declarationOf, declaredTokens } from "./catalogue.ts"
import { PrefixMeter } from "./prefix.ts"
import { ResultStore } from "./result-store.ts"
import { MAX_NUDGES, TEXTS } from "./texts.ts"
import { NO_TOOLS, toolsWithResults } from "./toolset.ts"

/** One run: what it needs to know from round to round. */
export interface RunState {
  readonly runId: string
  readonly options: ExecutorOptions
  readonly request: RunRequest
  readonly signal: AbortSignal
  readonly ledger: Ledger
  readonly gate: WorkGate
  readonly loops: LoopDetector
  /** Of a run that runs no call. */
  readonly dryRun: DryRun | undefined
  readonly maxRounds: number
  readonly mostNudges: number
  readonly tools: Toolset
  readonly catalogue: Catalogue
  readonly prefix: PrefixMeter
  readonly dialogue: Dialogue
  readonly conversation: Conversation
  readonly context: ContextManager
  /** When it began, by the monotonic clock; of a run that goes on, as if it had never stopped. */
  started: number
  /** The tools that the model was told of by now, in which version, and the tokens that they take in a native request. */
  offered: readonly ToolDefinition[]
  version: number
  toolTokens: number
  /** The plan that the system prompt was written for. */
  promptedFor: DeliveryPlan
  readonly ids: Set<string>
  /** Which call of the run each is, from 1. */
  readonly indexes: Map<string, number>
  calls: number
  /** The value of the answer, once it has the form that was asked for. */
  output: { value: unknown } | undefined
  /** The next reply is to be the answer in its form, and how often that was asked for. */
  forming: boolean
  formAsks: number
  /** Replies in a row without a call. */
  nudges: number
  /** Artifacts that the model has been told of. */
  artifacts: number
  rounds: number
  inputTokens: number
  outputTokens: number
  modelMs: number
  toolMs: number
}

export function startRun(options: ExecutorOptions, request: RunRequest, signal: AbortSignal): RunState {
  const results = new ResultStore()
  const dryRun = request.dryRun === true ? new DryRun() : undefined
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
  const maxRounds = options.maxRounds ?? DEFAULT_MAX_ROUNDS
  const ledger = new Ledger()
  return {
    runId: request.runId ?? crypto.randomUUID(),
    options,
    request,
    signal,
    tools,
    catalogue,
    prefix: new PrefixMeter(),
    dialogue,
    dryRun,
    offered,
    ledger,
    gate: new WorkGate({ ...gateParts(options), ledger, tools }),
    loops: new LoopDetector(options.loops),
    maxRounds: dryRun === undefined ? maxRounds : Math.min(maxRounds, DRY_RUN_ROUNDS),
    mostNudges: options.nudges ?? MAX_NUDGES,
    conversation: new Conversation({
      system: promptOf({ options, request, catalogue }, dialogue.plan),
      task,
      history,
      since,
      results,
      ...(media === undefined ? {} : { media }),
    }),
    context: options.context ?? contextFor(options.backend.contextTokens),
    started: performance.now(),
    version: tools.version,
    toolTokens: tokensOf(catalogue, dialogue.plan),
    promptedFor: dialogue.plan,
    ids: new Set(),
    indexes: new Map(),
    calls: 0,
    output: undefined,
    forming: false,
    formAsks: 0,
    nudges: 0,
    artifacts: 0,
    rounds: 0,
    inputTokens: 0,
    outputTokens: 0,
    modelMs: 0,
    toolMs: 0,
  }
}

function gateParts({ completion = {}, access = "all", root, shared }: ExecutorOptions) {
  return { criteria: completion, access, root, shared }
}

function dialogueOf(
  { backend, toolCalling: mode, formatter, grounding, sampling: before, ...more }: ExecutorOptions,
  { task, sampling: own }: RunRequest,
  { tools, signal }: { tools: readonly ToolDefinition[]; signal: AbortSignal },
): Dialogue {
  const sampling = own === undefined ? before : { ...before, ...own }
  const messages = [{ role: "user", content: task }] as const
  const said = [task]
  const { reasoningTokens, grammars } = more
  return openDialogue({
    backend,
    mode,
    formatter,
    grounding,
    sampling,
    reasoningTokens,
    signal,
    tools,
    said,
    messages,
    grammars,
  })
}

/** What the model is asked in the next round. */
export function questionOf(state: RunState): Question {
  const { conversation, context, catalogue } = state
  const { output, withoutTools } = state.request
  const held = output !== undefined && (state.forming || withoutTools === true)
  return {
    // No server takes tools and a form at once.
    tools: state.forming ? [] : catalogue.callable,
    nativeTools: state.forming ? [] : catalogue.declared(true),
    wordsOnly: state.forming || withoutTools === true,
    ...(held ? { form: holdTo(output.schema, state.options.backend) } : {}),
    messages(plan) {
      if (plan !== state.promptedFor) tellTools(state, plan)
      const messages = conversation.writtenFor(plan, context, state.toolTokens)
      // Some servers refuse a system message that says nothing.
      return withoutTools === true && messages[0]?.content === "" ? messages.slice(1) : messages
    },
    said: () => conversation.said,
    callsBefore: state.calls,
    nameCall: (given) => nameCall(state, given),
  }
}

/** The tools of the next question: none where it asks for the answer in its form. */
export function toldTools(state: RunState): readonly ToolDefinition[] {
  return state.forming ? [] : state.offered
}

/** Tells the model of tools that came or went since the last round. */
export function* noticeChangedTools(state: RunState): Generator<RunEvent> {
  const { catalogue } = state
  if (state.version !== state.tools.version) {
    state.version = state.tools.version
    if (catalogue.searched) tellChanges(state)
  }
  const offered = catalogue.callable
  if (offered === state.offered) return
  const before = new Set(state.offered.map(({ name }) => name))
  const now = new Set(offered.map(({ name }) => name))
  const added = [...now].filter((name) => !before.has(name))
  const removed = [...before].filter((name) => !now.has(name))
  state.offered = offered
  if (added.length === 0 && removed.length === 0) return
  if (!catalogue.searched) tellTools(state, state.dialogue.plan)
  yield { type: "tools-changed", added, removed }
}

/** What was declared stays as it was read; what is new stands where the conversation has come to. */
function tellChanges({ catalogue, conversation, dialogue }: RunState): void {
  const { added, removed } = catalogue.changes()
  const how = dialogue.plan.delivery === "native" ? TEXTS.moreToolsThrough : TEXTS.moreTools
  if (added.length > 0) conversation.addNote(`${how}\n${added.map(declarationOf).join("\n")}`)
  if (removed.length > 0) conversation.addNote(`${TEXTS.fewerTools} ${removed.join(", ")}`)
}

export function tellTools(state: RunState, plan: DeliveryPlan): void {
  state.promptedFor = plan
  state.toolTokens = tokensOf(state.catalogue, plan)
  state.conversation.setSystem(promptOf(state, plan))
}

function promptOf(
  { options, request, catalogue }: Pick<RunState, "options" | "request" | "catalogue">,
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

function contextFor(contextTokens: number | undefined): ContextManager {
  return contextTokens === undefined ? wholeContext : compactingContext({ contextTokens })
}

/** Definitions stand beside the messages in a native request; elsewhere they are in the system prompt. */
function tokensOf(catalogue: Catalogue, { delivery }: DeliveryPlan): number {
  return delivery === "native" ? declaredTokens(catalogue.declared(true)) : 0
}

/** Ids that the server or the model gave are kept while they are unique in the run; others are numbered. */
function nameCall(state: RunState, given: string): string {
  const sequence = ++state.calls
  const counted = given.startsWith("call_") && /^\d+$/.test(given.slice(5))
  const id = given === "" || counted || state.ids.has(given) ? `call_${sequence}` : given
  state.ids.add(id)
  return id
}

/** What a run is after a round. */
export function snapshotOf(state: RunState): Snapshot {
  const { conversation, ledger, nudges, artifacts, inputTokens, outputTokens, modelMs, toolMs, calls } = state
  const totalMs = performance.now() - state.started
  return {
    messages: conversation.messages,
    counters: { named: calls, nudges, artifacts, inputTokens, outputTokens, modelMs, toolMs, totalMs },
    notes: ledger.notes,
  }
}

/** Counts what a reply took, and its calls. */
export function countReply(state: RunState, { usage, calls }: Reply): void {
  for (const { id } of calls) state.indexes.set(id, state.indexes.size + 1)
  state.inputTokens += usage?.inputTokens ?? 0
  state.outputTokens += usage?.outputTokens ?? 0
}

/** The end of a run, as an event and as what the run amounts to. */
export interface RunEnd {
  event: Extract<RunEvent, { type: "run-end" }>
  summary: RunSummary
}

export function endOf(state: RunState, outcome: RunOutcome, message: string, code?: string): RunEnd {
  const summary = summaryOf(state, outcome, message)
  return { summary, event: { type: "run-end", summary, ...(code === undefined ? {} : { error: { code, message } }) } }
}

export function failureOf(state: RunState, thrown: unknown): RunEnd {
  const message = messageOf(thrown)
  const summary = summaryOf(state, "failed", message)
  const known = ToolwrightError.isInstance(thrown)
  const hint = known && thrown.hint !== undefined ? { hint: thrown.hint } : {}
  return {
    summary,
    event: { type: "run-end", summary, error: { code: known ? thrown.code : "RUN_FAILED", message, ...hint } },
  }
}

function summaryOf(state: RunState, outcome: RunOutcome, message: string): RunSummary {
  const { runId, rounds, ledger, inputTokens, outputTokens, modelMs, toolMs } = state
  const totalMs = performance.now() - state.started
  return {
    runId,
    outcome,
    success: outcome === "completed",
    message,
    rounds,
    calls: ledger.calls,
    failedCalls: ledger.failures,
    correctedFailures: ledger.corrected,
    modifiedFiles: ledger.modifiedFiles,
    ...(ledger.notes.length === 0 ? {} : { notes: [...ledger.notes] }),
    inputTokens,
    outputTokens,
    times: { totalMs, modelMs, toolMs, overheadMs: Math.max(0, totalMs - modelMs - toolMs) },
    ...(state.dryRun === undefined ? {} : { dryRun: true }),
    ...(state.output === undefined ? {} : { output: state.output.value }),
  }
}
