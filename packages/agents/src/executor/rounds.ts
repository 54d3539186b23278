import { Asking, type AskStep, type Reply } from "@toolwright/dialogue"
import type { RunEvent } from "@toolwright/toolbox"
import { Batch, type BatchStep } from "./batch.ts"
import {
  countReply,
  endOf,
  failureOf,
  noticeChangedTools,
  questionOf,
  type RunEnd,
  type RunState,
} from "./run-state.ts"
import { TEXTS } from "./texts.ts"
import { afterCalls, afterWords, type SeenLoop, type Verdict } from "./verdict.ts"

/** What happened since the last step; with `end`, the run is over. */
export interface Step {
  events: readonly RunEvent[]
  end?: RunEnd
}

/** What is under way: nothing, the model, its answer in words, its calls. */
type Phase =
  | { kind: "new" | "between" }
  | { kind: "asking"; asking: Asking }
  | { kind: "answered"; reply: Reply }
  | { kind: "executing"; reply: Reply; batch: Batch; started: number; loop?: SeenLoop }

/**
 * The rounds of a run, step by step: ask → execute → feed back, until the gate is satisfied or a limit is reached.
 * `next` never throws: what goes wrong is the end of the run.
 */
export class Rounds {
  readonly #state: RunState
  #phase: Phase = { kind: "new" }

  constructor(state: RunState) {
    this.#state = state
  }

  async next(): Promise<Step> {
    const phase = this.#phase
    try {
      if (phase.kind === "asking") return this.#asked(phase.asking, await phase.asking.next())
      if (phase.kind === "executing") return this.#executed(phase, await phase.batch.next())
      if (phase.kind === "answered") return this.#close(await afterWords(this.#state, phase.reply))
      return phase.kind === "new" ? this.#start() : this.#begin()
    } catch (thrown) {
      const state = this.#state
      await this.leave()
      const cancelled = state.signal.aborted
      return { events: [], end: cancelled ? endOf(state, "cancelled", TEXTS.cancelled) : failureOf(state, thrown) }
    }
  }

  /** Ends what is under way. */
  async leave(): Promise<void> {
    const phase = this.#phase
    this.#phase = { kind: "between" }
    if (phase.kind !== "asking") return
    this.#state.modelMs += phase.asking.modelMs
    await phase.asking.leave()
  }

  #start(): Step {
    const state = this.#state
    this.#phase = { kind: "between" }
    const events = [startOf(state)]
    return state.offered.length > 0 ? { events } : { events, end: endOf(state, "failed", TEXTS.noTools, "NO_TOOLS") }
  }

  #begin(): Step {
    const state = this.#state
    if (state.signal.aborted) return { events: [], end: endOf(state, "cancelled", TEXTS.cancelled) }
    if (state.rounds === state.maxRounds) return { events: [], end: lastOf(state) }
    const events = [...noticeChangedTools(state)]
    const { offered, maxRounds } = state
    events.push({ type: "round-start", round: ++state.rounds, maxRounds, tools: offered.map(({ name }) => name) })
    this.#phase = { kind: "asking", asking: new Asking(state.dialogue, questionOf(state)) }
    return { events }
  }

  #asked(asking: Asking, step: AskStep): Step {
    const state = this.#state
    const { rounds: round } = state
    if (!step.done)
      return { events: step.events.map((event) => (event.type === "request" ? { ...event, round } : event)) }
    const { reply } = step
    state.modelMs += asking.modelMs
    this.#phase = { kind: "between" }
    countReply(state, reply)
    state.conversation.addReply(reply)
    const { raw, content, reasoning, calls, finishReason, modelMs, selfKnowledge } = reply
    const said = { raw, content, reasoning, calls, finishReason, modelMs, ...selfKnowledge }
    const told: RunEvent = { type: "reply", round, ...said }
    if (calls.length === 0) this.#phase = { kind: "answered", reply }
    else {
      state.nudges = 0
      this.#phase = { kind: "executing", reply, batch: this.#batch(reply), started: performance.now() }
    }
    return { events: [told] }
  }

  #executed(phase: Extract<Phase, { kind: "executing" }>, step: BatchStep): Step {
    if (!step.done) return step
    this.#state.toolMs += performance.now() - phase.started
    return this.#close(afterCalls(this.#state, phase.reply, step.executed, phase.loop))
  }

  #close({ events, end }: Verdict): Step {
    const state = this.#state
    this.#phase = { kind: "between" }
    const told: RunEvent[] = [...events, { type: "round-end", round: state.rounds }]
    return end === undefined ? { events: told } : { events: told, end: endOf(state, end.outcome, end.message) }
  }

  #batch({ calls }: Reply): Batch {
    const { options, tools, runId, signal, ledger, gate, dryRun, loops } = this.#state
    ledger.beginRound()
    return new Batch(calls, {
      tools,
      runId,
      signal,
      middleware: [...gate.middleware, ...(options.middleware ?? [])],
      permissions: options.permissions,
      timeoutMs: options.toolTimeoutMs,
      dryRun: dryRun !== undefined,
      onResult: (call, result) => {
        const tool = tools.get(call.name)
        ledger.record(tool?.name ?? call.name, call.arguments, result, tool)
        if (dryRun !== undefined) return dryRun.observe(call.name, call.arguments, result)
        const verdict = loops.observe(call.name, call.arguments, result)
        if (verdict.kind !== "fine" && this.#phase.kind === "executing")
          this.#phase.loop = { ...verdict, name: call.name }
      },
    })
  }
}

/** The end of a run whose rounds are over. */
function lastOf(state: RunState): RunEnd {
  const dry = state.dryRun?.end()
  return dry === undefined
    ? endOf(state, "max-rounds", TEXTS.maxRounds, "MAX_ROUNDS")
    : endOf(state, dry.outcome, dry.message)
}

function startOf({ runId, request, options, dialogue, offered, dryRun }: RunState): RunEvent {
  return {
    type: "run-start",
    runId,
    task: request.task,
    agent: request.agent ?? "assistant",
    model: options.backend.modelName(),
    format: dialogue.plan.format,
    because: dialogue.plan.because,
    tools: offered.map(({ name }) => name),
    unavailable: (options.unavailable ?? []).map(({ name }) => name),
    ...(dryRun === undefined ? {} : { dryRun: true }),
  }
}
