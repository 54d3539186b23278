import { Asking, type AskEvent, type AskStep, type Reply } from "@toolwright/dialogue"
import type { RunEvent } from "@toolwright/toolbox"
import { lacking } from "../gate/needed.ts"
import { effectKey } from "../record/effects.ts"
import type { OpenRound } from "../record/fold.ts"
import type { RunRecorder } from "../record/recorder.ts"
import { policyMark, questionAbout } from "../record/approval.ts"
import { HAND_OVER } from "../phases/phased-work.ts"
import { Batch, WaitsForAnswer, type BatchOptions, type BatchStep } from "./batch.ts"
import { settledCall, startingEffect, type Restored } from "./restore.ts"
import {
  countAsked,
  countReply,
  endOf,
  enterPhase,
  failureOf,
  noticeChangedTools,
  questionOf,
  toldTools,
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
  | { kind: "new" | "resumed" | "between" }
  | { kind: "asking"; asking: Asking }
  | { kind: "answered"; reply: Reply }
  | { kind: "executing"; reply: Reply; batch: Batch; started: number; loop?: SeenLoop }

/**
 * The rounds of a run, step by step: ask → execute → feed back, until the gate is satisfied or a limit is reached.
 * `next` never throws: what goes wrong is the end of the run.
 */
export class Rounds {
  readonly #state: RunState
  readonly #recorder: RunRecorder | undefined
  #open: OpenRound | undefined
  #phase: Phase

  /** @param resumed the round that was under way, of a run that goes on */
  constructor(state: RunState, recorder?: RunRecorder, resumed?: Restored) {
    this.#state = state
    this.#recorder = recorder
    this.#open = resumed?.open
    this.#phase = { kind: resumed === undefined ? "new" : "resumed" }
  }

  /** A promise only where the model, a call or the gate has to be waited for. */
  next(): Step | Promise<Step> {
    try {
      const step = this.#step()
      return step instanceof Promise ? step.catch((thrown: unknown) => this.#failed(thrown)) : step
    } catch (thrown) {
      return this.#failed(thrown)
    }
  }

  #step(): Step | Promise<Step> {
    const phase = this.#phase
    switch (phase.kind) {
      case "asking":
        return once(phase.asking.next(), (step) => this.#asked(phase.asking, step))
      case "executing":
        return once(phase.batch.next(), (step) => this.#executed(phase, step))
      case "answered":
        return once(afterWords(this.#state, phase.reply), (verdict) => this.#close(verdict))
      case "resumed":
        return this.#resume()
      case "new":
        return this.#start()
      case "between":
        return this.#state.work === undefined ? this.#begin() : this.#beginInPhase()
    }
  }

  async #failed(thrown: unknown): Promise<Step> {
    const state = this.#state
    await this.leave()
    if (thrown instanceof WaitsForAnswer)
      return { events: [], end: endOf(state, "waiting", TEXTS.waiting(thrown, state.runId), "WAITING_FOR_APPROVAL") }
    const cancelled = state.signal.aborted
    return { events: [], end: cancelled ? cancelledEnd(state) : failureOf(state, thrown) }
  }

  /** Ends what is under way. */
  async leave(): Promise<void> {
    const phase = this.#phase
    this.#phase = { kind: "between" }
    if (phase.kind !== "asking") return
    this.#state.modelMs += phase.asking.modelMs
    await phase.asking.leave()
  }

  /**
   * Ends a run that nobody listens to any more, as cancelled: what was under way is ended first. The run's signal is
   * aborted by then, so that running tools answer at once.
   */
  async abandon(): Promise<Step & { end: RunEnd }> {
    const phase = this.#phase
    const events: RunEvent[] = []
    if (phase.kind === "executing") {
      for (let step = await phase.batch.next(); !step.done; step = await phase.batch.next()) events.push(...step.events)
      this.#state.toolMs += performance.now() - phase.started
    }
    await this.leave()
    return { events, end: cancelledEnd(this.#state) }
  }

  #start(): Step {
    const state = this.#state
    this.#phase = { kind: "between" }
    const events = [startOf(state)]
    if (state.request.withoutTools === true) return { events }
    if (state.offered.length === 0) return { events, end: endOf(state, "failed", TEXTS.noTools, "NO_TOOLS") }
    const missing = state.dryRun === undefined ? lackingIn(state) : []
    return missing.length === 0 ? { events } : { events, end: unable(state, missing) }
  }

  /** Goes on where the log ends: with the calls of the last reply, with what it said, or with the next round. */
  #resume(): Step {
    const state = this.#state
    const { runId, given, options, rounds: round, ledger } = state
    const { task, agent = "assistant" } = given
    // Those of the round that is open come into the ledger once it is gone on with.
    const calls = ledger.calls + (this.#open?.ended.size ?? 0)
    const events: RunEvent[] = [
      { type: "run-resume", runId, task, agent, model: options.backend.modelName(), round, calls },
    ]
    this.#phase = { kind: "between" }
    const reply = this.#open?.reply
    if (reply !== undefined) this.#take(reply)
    return { events }
  }

  async #beginInPhase(): Promise<Step> {
    const state = this.#state
    if (state.signal.aborted) return { events: [], end: cancelledEnd(state) }
    return (await turnPhase(state)) ?? this.#begin()
  }

  #begin(): Step {
    const state = this.#state
    if (state.signal.aborted) return { events: [], end: cancelledEnd(state) }
    if (state.rounds === state.maxRounds) return { events: [], end: lastOf(state) }
    const spent = usedUp(state)
    if (spent !== undefined) return { events: [], end: endOf(state, "max-rounds", spent, "BUDGET_USED") }
    const events = [...noticeChangedTools(state)]
    const tools = namesOf(toldTools(state))
    events.push({ type: "round-start", round: ++state.rounds, maxRounds: state.maxRounds, tools })
    this.#phase = { kind: "asking", asking: new Asking(state.dialogue, questionOf(state)) }
    return { events }
  }

  #asked(asking: Asking, step: AskStep): Step {
    const state = this.#state
    const { rounds: round } = state
    if (!step.done)
      return { events: step.events.map((event) => (event.type === "request" ? this.#request(event) : event)) }
    const { reply } = step
    state.modelMs += asking.modelMs
    takeAnswer(state, reply)
    this.#take(reply)
    const { raw, content, said, reasoning, calls, finishReason, modelMs, selfKnowledge, usage, spans } = reply
    const told: RunEvent = {
      type: "reply",
      round,
      raw,
      content,
      reasoning,
      calls,
      finishReason,
      modelMs,
      ...selfKnowledge,
      ...(said === content ? {} : { said }),
      ...(usage === undefined ? {} : { usage }),
      ...(spans === undefined ? {} : { spans }),
    }
    const { tokens: trace, origins = [] } = reply
    return {
      events: [...(trace === undefined ? [] : [{ type: "reply-tokens", round, trace, origins } as const]), told],
    }
  }

  #request(event: Extract<AskEvent, { type: "request" }>): RunEvent {
    const { prefix: meter, rounds: round, conversation } = this.#state
    const prefix = meter.measure(event.tools, event.messages)
    const { use: context } = conversation
    return {
      ...event,
      round,
      ...(prefix === undefined ? {} : { prefix }),
      ...(context === undefined ? {} : { context }),
    }
  }

  /** Takes a reply into the run; what it asks for comes next. */
  #take(reply: Reply): void {
    const state = this.#state
    countReply(state, reply)
    state.conversation.addReply(reply)
    if (reply.calls.length === 0) this.#phase = { kind: "answered", reply }
    else {
      state.nudges = 0
      this.#phase = { kind: "executing", reply, batch: this.#batch(reply), started: performance.now() }
    }
  }

  #executed(phase: Extract<Phase, { kind: "executing" }>, step: BatchStep): Step {
    if (!step.done) return step
    const state = this.#state
    state.toolMs += performance.now() - phase.started
    if (state.signal.aborted) {
      // The round is not over, since its results have gone to nobody: whoever goes on with the run goes on inside it.
      this.#phase = { kind: "between" }
      return { events: [], end: cancelledEnd(state) }
    }
    return this.#close(afterCalls(state, phase.reply, step.executed, phase.loop))
  }

  #close({ events, end }: Verdict): Step {
    const state = this.#state
    this.#phase = { kind: "between" }
    const told: RunEvent[] = [...events, { type: "round-end", round: state.rounds }]
    if (end === undefined) return { events: told }
    const ended = endOf(state, end.outcome, end.message, end.code)
    if (state.work !== undefined && ended.summary.phase === undefined) told.push(phaseEnd(state))
    return { events: told, end: ended }
  }

  /** What puts calls on record, and asks there. */
  #onRecord(open: OpenRound | undefined): Partial<BatchOptions> {
    const recorder = this.#recorder
    if (recorder === undefined) return {}
    const { runId, indexes, options } = this.#state
    const { permissions, approvals } = options
    return {
      hear: (event) => recorder.hear(event),
      keyOf: (call) =>
        open?.begun.get(call.id)?.key ?? effectKey(runId, indexes.get(call.id)!, call.name, call.arguments),
      begin: (call, key) => recorder.begin(startingEffect(call, key, indexes.get(call.id)!)),
      permitted: (callId) => recorder.permitted(callId),
      ...(approvals !== "wait" || permissions === undefined
        ? {}
        : {
            ask: ({ tool, arguments: args, callId = "" }) => {
              const asked = { callId, index: indexes.get(callId)!, tool: tool.name, arguments: args }
              return recorder.ask({ ...asked, question: questionAbout(tool), policy: policyMark(permissions, tool) })
            },
          }),
    }
  }

  #batch(reply: Reply): Batch {
    const { options, tools, catalogue, runId, limits, ledger, gate, dryRun, loops, work } = this.#state
    const calls = reply.calls.map((call) => catalogue.meant(call))
    const open = this.#open
    this.#open = undefined
    ledger.beginRound()
    return new Batch(calls, {
      ...this.#onRecord(open),
      ...(open === undefined ? {} : { settled: (call) => settledCall(open, call, { runId, tools }) }),
      phase: work?.phase.name,
      tools,
      runId,
      limits,
      ...(work === undefined ? {} : { alone: ({ name }) => name === HAND_OVER }),
      middleware: [...(work?.middleware ?? []), ...gate.middleware, ...(options.middleware ?? [])],
      permissions: options.permissions,
      timeoutMs: options.toolTimeoutMs,
      dryRun: dryRun !== undefined,
      interrupted: () => isInterrupted(this.#state),
      onResult: (call, result) => {
        const tool = tools.get(call.name)
        countAsked(this.#state, result)
        ledger.record(tool?.name ?? call.name, call.arguments, result, tool)
        if (dryRun !== undefined) return dryRun.observe(call.name, call.arguments, result)
        work?.observe(call, result)
        const verdict = loops.observe(call.name, call.arguments, result)
        if (verdict.kind !== "fine" && this.#phase.kind === "executing")
          this.#phase.loop = { ...verdict, name: call.name }
      },
    })
  }
}

/** What comes of a value, now or once it is there. */
function once<Value, Result>(value: Value | Promise<Value>, use: (value: Value) => Result): Result | Promise<Result> {
  return value instanceof Promise ? value.then(use) : use(value)
}

function cancelledEnd(state: RunState): RunEnd {
  return endOf(state, "cancelled", TEXTS.cancelled)
}

/**
 * Where a phase begins, or is over: what is told of it. Its end and the next one's beginning are found from the log
 * too, so that it does not matter between which events a process dies.
 */
async function turnPhase(state: RunState): Promise<Step | undefined> {
  const { work, gate, signal, rounds } = state
  if (work === undefined) return undefined
  if (work.handed === undefined) return work.begins ? { events: [phaseStart(state)] } : undefined
  const told = phaseEnd(state)
  const { over } = work.turn(rounds)
  if (over) {
    const { message, outcome } = await gate.settle(state.options.completion?.successMessage ?? work.answer, signal)
    return { events: [told], end: endOf(state, outcome, message) }
  }
  enterPhase(state)
  return { events: [told, phaseStart(state)] }
}

function phaseStart(state: RunState): RunEvent {
  const { work, maxRounds } = state
  const { phase, place } = work!
  work!.begins = false
  return { type: "phase-start", phase: phase.name, ...place, maxRounds, tools: namesOf(toldTools(state)) }
}

function phaseEnd({ work, rounds }: RunState): RunEvent {
  const { phase, place, artifact } = work!
  const handed = artifact === undefined ? {} : { artifact: { name: artifact.name, value: artifact.value } }
  return { type: "phase-end", phase: phase.name, ...place, rounds: work!.rounds(rounds), ...handed }
}

/** What the agent could not do with the tools on offer, in any of its phases. */
function lackingIn({ options, work }: RunState): string[] {
  const whole = { name: undefined, completion: options.completion ?? {}, tools: options.tools }
  const parts = work?.demands ?? [whole]
  const away = (options.unavailable ?? []).flatMap(({ tool }) => tool ?? [])
  return parts.flatMap(({ name, completion, tools }) =>
    lacking(completion, tools.list(), away).map((what) => (name === undefined ? what : `${what} (phase '${name}')`)),
  )
}

/** Whether the run was stopped for somebody else to go on with it. */
function isInterrupted(state: RunState): boolean {
  return state.signal.aborted && state.request.leaves?.(cancelledEnd(state).event) === true
}

/** The end of a run that could not succeed, whatever the model did. */
function unable(state: RunState, missing: readonly string[]): RunEnd {
  const away = (state.options.unavailable ?? []).map(({ name, reason }) => `${name} (${reason})`)
  const why = away.length === 0 ? "" : ` Not available here: ${away.join("; ")}.`
  const what = missing.map((each) => `no tool ${each}`).join(", ")
  return endOf(state, "failed", `This agent cannot do its work here: it is offered ${what}.${why}`, "MISSING_TOOLS")
}

/** Where JSON was asked for, what reads like a call of a tool that nobody knows is the answer. */
function takeAnswer({ request, tools }: RunState, reply: Reply): void {
  if (request.output === undefined || reply.calls.length === 0) return
  if (reply.calls.some(({ name }) => tools.get(name) !== undefined)) return
  reply.calls = []
  reply.content = reply.said = reply.raw
}

/** The end of a run whose rounds are over. */
function lastOf(state: RunState): RunEnd {
  const dry = state.dryRun?.end()
  if (dry !== undefined) return endOf(state, dry.outcome, dry.message)
  return state.work === undefined
    ? endOf(state, "max-rounds", TEXTS.maxRounds, "MAX_ROUNDS")
    : endOf(state, "max-rounds", TEXTS.phaseRounds(state.work.rounds(state.rounds)), "PHASE_FAILED")
}

/** What of its limits a run has used up, in words. */
function usedUp({ options: { maxTokens, maxSeconds }, inputTokens, outputTokens, started }: RunState) {
  const tokens = inputTokens + outputTokens
  if (maxTokens !== undefined && tokens >= maxTokens) return TEXTS.tokensUsed(maxTokens, tokens)
  const seconds = (performance.now() - started) / 1000
  if (maxSeconds !== undefined && seconds >= maxSeconds) return TEXTS.secondsUsed(maxSeconds)
  return undefined
}

const namesOf = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name)

function startOf(state: RunState): RunEvent {
  const { runId, given: request, options, dialogue, dryRun } = state
  return {
    type: "run-start",
    runId,
    task: request.task,
    agent: request.agent ?? "assistant",
    model: options.backend.modelName(),
    format: dialogue.plan.format,
    because: dialogue.plan.because,
    tools: namesOf(toldTools(state)),
    unavailable: (options.unavailable ?? []).map(({ name }) => name),
    ...(dryRun === undefined ? {} : { dryRun: true }),
  }
}
