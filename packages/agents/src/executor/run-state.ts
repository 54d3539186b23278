import { declarationOf, holdTo, type DeliveryPlan, type Question, type Reply } from "@toolwright/dialogue"
import {
  CallLimits,
  messageOf,
  ToolwrightError,
  type RunEvent,
  type RunOutcome,
  type RunSummary,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { unshownClaims } from "../gate/claims.ts"
import { Ledger } from "../gate/ledger.ts"
import { WorkGate } from "../gate/work-gate.ts"
import { PhasedWork } from "../phases/phased-work.ts"
import type { Snapshot } from "../record/encode.ts"
import { DryRun } from "./dry-run.ts"
import type { ExecutorOptions, RunRequest } from "./options.ts"
import { ResultStore } from "./result-store.ts"
import { promptOf, stageOf, tokensOf, type Stage } from "./stage.ts"
import { MAX_NUDGES, TEXTS } from "./texts.ts"
import { biasOf } from "./tool-bias.ts"

/** One run: what it needs to know from round to round. What a phase has of its own is a {@link Stage}. */
export interface RunState extends Stage {
  readonly runId: string
  /** What was asked for, whichever phase it is in. */
  readonly given: RunRequest
  readonly signal: AbortSignal
  /** What ends its calls before they are done. */
  readonly limits: CallLimits
  readonly ledger: Ledger
  readonly gate: WorkGate
  /** Of an agent that works in phases. */
  readonly work: PhasedWork | undefined
  /** Of a run that runs no call. */
  readonly dryRun: DryRun | undefined
  readonly mostNudges: number
  readonly results: ResultStore
  /** When it began, by the monotonic clock; of a run that goes on, as if it had never stopped. */
  started: number
  readonly ids: Set<string>
  /** Which call of the run each is, from 1. */
  readonly indexes: Map<string, number>
  calls: number
  /** The value of the answer, once it has the form that was asked for. */
  output: { value: unknown } | undefined
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
  const ledger = new Ledger()
  const { phases } = options
  // A plain question has no parts.
  const work: PhasedWork | undefined =
    phases === undefined || request.withoutTools === true
      ? undefined
      : new PhasedWork(options, {
          phases,
          results,
          judge: () => ({ ledger, unmet: (until) => state.gate.unmet(until) }),
        })
  const stage = stageOf({ options, request, results, work, dryRun, signal })
  const state: RunState = {
    ...stage,
    runId: request.runId ?? crypto.randomUUID(),
    given: request,
    signal,
    limits: new CallLimits(signal, true),
    work,
    results,
    dryRun,
    ledger,
    gate: new WorkGate({
      root: options.root,
      shared: options.shared,
      files: options.completion?.requireFiles,
      ledger,
      claimed: (answer) => (tellsOfItself(state) ? unshownClaims(answer, ledger) : []),
      tools: { list: () => work?.allTools ?? state.tools.list() },
      now: () => ({ criteria: state.options.completion ?? {}, access: state.options.access ?? "all" }),
    }),
    mostNudges: options.nudges ?? MAX_NUDGES,
    started: performance.now(),
    ids: new Set(),
    indexes: new Map(),
    calls: 0,
    output: undefined,
    artifacts: 0,
    rounds: 0,
    inputTokens: 0,
    outputTokens: 0,
    modelMs: 0,
    toolMs: 0,
  }
  return state
}

/** Who was told something before, or only reads, may tell of what others did; and a plain question does nothing. */
function tellsOfItself({ given: { history = [], since = [], withoutTools, dryRun }, options }: RunState): boolean {
  const isAlone = history.length === 0 && since.length === 0
  return isAlone && withoutTools !== true && dryRun !== true && options.access !== "nothing"
}

/** Brings a run to where its phase is: with tools, a prompt and a conversation of its own. */
export function enterPhase(state: RunState): void {
  const { options, given: request, results, work, dryRun, signal } = state
  Object.assign(state, stageOf({ options, request, results, work, dryRun, signal }))
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
    toolBias: biasOf(state),
    callsBefore: state.calls,
    nameCall: (given) => nameCall(state, given),
  }
}

/** The tools of the next question: none where it asks for the answer in its form. */
export function toldTools(state: RunState): readonly ToolDefinition[] {
  return state.forming ? [] : state.catalogue.told(state.dialogue.plan.delivery === "native")
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

/** What a run cost that a call asked for is part of what this one cost. */
export function countAsked(state: RunState, { metadata }: ToolResult): void {
  const { inputTokens, outputTokens } = (metadata.asked ?? {}) as Partial<RunSummary>
  state.inputTokens += inputTokens ?? 0
  state.outputTokens += outputTokens ?? 0
}

/** The end of a run, as an event and as what the run amounts to. */
export interface RunEnd {
  event: Extract<RunEvent, { type: "run-end" }>
  summary: RunSummary
}

export function endOf(state: RunState, outcome: RunOutcome, said: string, code?: string): RunEnd {
  const message = inPhase(state, outcome, said)
  const summary = summaryOf(state, outcome, message)
  return { summary, event: { type: "run-end", summary, ...(code === undefined ? {} : { error: { code, message } }) } }
}

/** Of a run in phases it is said which one came to nothing. */
function inPhase({ work }: RunState, outcome: RunOutcome, message: string): string {
  if (work === undefined || UNHARMED.has(outcome)) return message
  return `the phase '${work.phase.name}' failed: ${message}${work.refusal === undefined ? "" : ` (${work.refusal})`}`
}

const UNHARMED: ReadonlySet<RunOutcome> = new Set(["completed", "completed-with-failures", "cancelled", "waiting"])

export function failureOf(state: RunState, thrown: unknown): RunEnd {
  const message = inPhase(state, "failed", messageOf(thrown))
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
    ...phasesOf(state, outcome),
  }
}

function phasesOf({ work }: RunState, outcome: RunOutcome): Pick<RunSummary, "phase" | "artifacts"> {
  if (work === undefined) return {}
  const artifacts = Object.fromEntries(work.artifacts.map(({ name, value }) => [name, value]))
  const whole = outcome === "completed" || outcome === "completed-with-failures"
  return {
    ...(whole ? {} : { phase: work.phase.name }),
    ...(work.artifacts.length === 0 ? {} : { artifacts }),
  }
}
