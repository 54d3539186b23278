import type { InferRequest } from "@toolwright/backends"
import {
  Conversation,
  groundingOf,
  planDelivery,
  readReply,
  systemPrompt,
  wholeContext,
  type DeliveryPlan,
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
import { commitGuard } from "../gate/commit-guard.ts"
import { refusalText, unmet } from "../gate/criteria.ts"
import { Ledger } from "../gate/ledger.ts"
import { LoopDetector } from "../gate/loop-detector.ts"
import { executeBatch } from "./batch.ts"
import { DRY_RUN_ROUNDS, DryRun } from "./dry-run.ts"
import { DEFAULT_MAX_ROUNDS, type ExecutorOptions, type RunRequest } from "./options.ts"
import { artifactNote } from "./artifact-note.ts"
import { ResultStore } from "./result-store.ts"
import { RunState } from "./run-state.ts"
import { MAX_NUDGES, TEXTS } from "./texts.ts"
import { toolsWithResults } from "./toolset.ts"

/** How a run goes on after a round: with the next one, or not. */
type Verdict = { outcome: RunOutcome; message: string } | undefined

/** One run: what it needs to know from round to round. `events` is called once. */
export class Run {
  readonly #options: ExecutorOptions
  readonly #request: RunRequest & { runId: string }
  readonly #signal: AbortSignal
  readonly #ledger = new Ledger()
  readonly #loops: LoopDetector
  readonly #results = new ResultStore()
  readonly #state: RunState
  readonly #tools: Toolset
  #plan: DeliveryPlan
  readonly #conversation: Conversation
  readonly #dryRun: DryRun | undefined
  readonly #ids = new Set<string>()
  #calls = 0
  #nudges = 0
  readonly #mostNudges: number
  #artifacts = 0
  #offered: ToolDefinition[]
  #seenVersion: number

  constructor(options: ExecutorOptions, request: RunRequest & { runId: string }, signal: AbortSignal) {
    this.#options = options
    this.#request = request
    this.#signal = signal
    this.#state = new RunState(request.runId, this.#ledger)
    this.#dryRun = request.dryRun === true ? new DryRun() : undefined
    this.#state.dryRun = this.#dryRun !== undefined
    this.#loops = new LoopDetector(options.loops)
    this.#mostNudges = options.nudges ?? MAX_NUDGES
    this.#tools = toolsWithResults(options.tools, this.#results)
    this.#seenVersion = this.#tools.version
    this.#offered = this.#tools.list()
    this.#plan = planDelivery({
      backend: options.backend,
      mode: options.toolCalling ?? "hybrid",
      explicit: options.formatter,
      tools: this.#offered,
      grounding: () =>
        groundingOf(options.grounding, options.backend, [request.task], [{ role: "user", content: request.task }]),
    })
    this.#conversation = new Conversation(
      this.#systemPrompt(),
      request.task,
      request.history ?? [],
      this.#results,
      this.#plan,
    )
  }

  async *events(): AsyncGenerator<RunEvent, RunSummary> {
    const { backend } = this.#options
    const given = this.#options.maxRounds ?? DEFAULT_MAX_ROUNDS
    const maxRounds = this.#dryRun === undefined ? given : Math.min(given, DRY_RUN_ROUNDS)
    yield {
      type: "run-start",
      runId: this.#state.runId,
      task: this.#request.task,
      agent: this.#request.agent ?? "assistant",
      model: backend.modelName(),
      format: this.#plan.format,
      because: this.#plan.because,
      tools: this.#offered.map(({ name }) => name),
      unavailable: (this.#options.unavailable ?? []).map(({ name }) => name),
      ...(this.#dryRun === undefined ? {} : { dryRun: true }),
    }
    if (this.#offered.length === 0) return yield* this.#end("failed", TEXTS.noTools, "NO_TOOLS")
    try {
      for (let round = 1; round <= maxRounds; round++) {
        if (this.#signal.aborted) return yield* this.#end("cancelled", TEXTS.cancelled)
        this.#state.rounds = round
        const verdict = yield* this.#round(round, maxRounds)
        yield { type: "round-end", round }
        if (verdict !== undefined) return yield* this.#end(verdict.outcome, verdict.message)
      }
    } catch (thrown) {
      if (this.#signal.aborted) return yield* this.#end("cancelled", TEXTS.cancelled)
      return yield* this.#failed(thrown)
    }
    if (this.#dryRun !== undefined) return yield* this.#endDryRun(this.#dryRun)
    return yield* this.#end("max-rounds", TEXTS.maxRounds, "MAX_ROUNDS")
  }

  *#endDryRun(dryRun: DryRun): Generator<RunEvent, RunSummary> {
    const { outcome, message } = dryRun.end()
    return yield* this.#end(outcome, message)
  }

  async *#round(round: number, maxRounds: number): AsyncGenerator<RunEvent, Verdict> {
    if (this.#seenVersion !== this.#tools.version) yield* this.#noticeChangedTools()
    yield { type: "round-start", round, maxRounds, tools: this.#offered.map(({ name }) => name) }
    const reply = yield* this.#infer(round)
    this.#conversation.addReply(reply)
    yield {
      type: "reply",
      round,
      raw: reply.raw,
      content: reply.content,
      reasoning: reply.reasoning,
      calls: reply.calls,
      finishReason: reply.finishReason,
      modelMs: reply.modelMs,
    }
    return reply.calls.length > 0 ? yield* this.#execute(reply) : yield* this.#withoutCall(reply)
  }

  async *#infer(round: number): AsyncGenerator<RunEvent, Reply> {
    let silent = true
    const attempt = this.#attempt(round)
    try {
      for (let step = await attempt.next(); ; step = await attempt.next()) {
        if (step.done) return step.value
        silent &&= step.value.type === "request" || step.value.type === "model-retry"
        yield step.value
      }
    } catch (thrown) {
      const next = silent ? this.#plan.fallBack(thrown) : undefined
      if (next === undefined || this.#signal.aborted) throw thrown
      yield { type: "delivery-fallback", from: next.fallback.from, to: next.plan.delivery, reason: next.fallback.error }
      this.#plan = next.plan
      this.#conversation.useForm(next.plan)
      this.#conversation.setSystem(this.#systemPrompt())
    } finally {
      await attempt.return(undefined as never)
    }
    return yield* this.#attempt(round)
  }

  async *#attempt(round: number): AsyncGenerator<RunEvent, Reply> {
    const { backend, context = wholeContext, sampling, toolCalling = "hybrid" } = this.#options
    const { delivery, formatter } = this.#plan
    const messages = context.prepare(this.#conversation.messages)
    const stop = delivery === "native" ? [] : formatter.stop
    const request: InferRequest = {
      messages,
      ...this.#plan.requestPart(this.#offered, () =>
        groundingOf(this.#options.grounding, backend, this.#conversation.said, messages),
      ),
      ...(sampling === undefined && stop.length === 0
        ? {}
        : { sampling: { ...sampling, stop: [...(sampling?.stop ?? []), ...stop] } }),
    }
    const grammar = request.grammar === undefined ? {} : { grammar: request.grammar }
    yield { type: "request", round, messages, tools: request.tools ?? [], delivery, ...grammar }
    const textCalls = delivery !== "native" || toolCalling === "hybrid"
    const createParser = textCalls
      ? () => formatter.createParser({ tools: this.#offered, callsBefore: this.#calls })
      : undefined
    const stream = backend.infer(request, { signal: this.#signal })
    const started = performance.now()
    let reply: Reply | undefined
    try {
      reply = yield* readReply(stream, createParser, delivery, (given) => this.#nameCall(given))
    } finally {
      // The model's time, whether it answered, failed or was cancelled.
      this.#state.modelMs += reply?.modelMs ?? performance.now() - started
    }
    this.#state.inputTokens += reply.usage.inputTokens
    this.#state.outputTokens += reply.usage.outputTokens
    return reply
  }

  async *#execute(reply: Reply): AsyncGenerator<RunEvent, Verdict> {
    this.#nudges = 0
    const started = performance.now()
    let loop: { times: number; text: string; stop: boolean; name: string } | undefined
    const executed = yield* executeBatch(reply.calls, {
      tools: this.#tools,
      runId: this.#state.runId,
      signal: this.#signal,
      middleware: [commitGuard(this.#ledger), ...(this.#options.middleware ?? [])],
      permissions: this.#options.permissions,
      timeoutMs: this.#options.toolTimeoutMs,
      dryRun: this.#dryRun !== undefined,
      onResult: (call, result) => {
        const tool = this.#tools.get(call.name)
        this.#ledger.record(tool?.name ?? call.name, call.args, result, tool)
        if (this.#dryRun !== undefined) return this.#dryRun.observe(call.name, call.args, result)
        const verdict = this.#loops.observe(call.name, call.args, result)
        if (verdict.kind !== "fine") loop = { ...verdict, stop: verdict.kind === "stop", name: call.name }
      },
    })
    this.#state.toolMs += performance.now() - started
    if (this.#signal.aborted) return { outcome: "cancelled", message: TEXTS.cancelled }
    this.#conversation.addResults(executed, (name) => this.#tools.get(name))
    this.#addProblems(reply)
    if (this.#dryRun !== undefined) return this.#dryRun.repeated ? this.#dryRun.end() : undefined
    this.#addArtifactNote()
    if (loop === undefined) return undefined
    yield { type: "loop-detected", name: loop.name, times: loop.times, text: loop.text }
    this.#conversation.addNote(loop.text)
    return loop.stop ? { outcome: "stuck", message: `stopped: ${loop.text}` } : undefined
  }

  /** A reply without a call: a wish to finish, an explanation, or a call that could not be read. */
  async *#withoutCall(reply: Reply): AsyncGenerator<RunEvent, Verdict> {
    const { completion = {} } = this.#options
    if (reply.problems.some(({ repaired }) => !repaired)) {
      const text = this.#addProblems(reply)!
      return yield* this.#nudge("parse-problem", text, false)
    }
    if (reply.finishReason === "length") return yield* this.#nudge("cut-off", TEXTS.cutOff)
    if (reply.content.trim() === "" && reply.reasoning.trim() !== "")
      return yield* this.#nudge("only-reasoning", TEXTS.onlyReasoning)
    const asks =
      completion.signal === undefined ? reply.content.trim() !== "" : reply.content.includes(completion.signal)
    if (this.#dryRun !== undefined && reply.content.trim() !== "") return this.#dryRun.end()
    const missing = await unmet(completion, this.#ledger, this.#offered)
    if (missing === undefined && (asks || this.#nudges + 1 >= this.#mostNudges)) {
      return { outcome: "completed", message: completion.successMessage ?? this.#answer(reply.content) }
    }
    if (asks && missing !== undefined && this.#ledger.calls > 0) {
      const text = refusalText(missing)
      yield { type: "completion-refused", reasons: missing.reasons, text }
      if (++this.#nudges > this.#mostNudges)
        return { outcome: "stuck", message: `not completed: ${missing.reasons.join("; ")}` }
      this.#conversation.addNote(text)
      return undefined
    }
    return yield* this.#nudge("no-call", TEXTS.useTools)
  }

  async *#nudge(
    reason: "no-call" | "only-reasoning" | "parse-problem" | "cut-off",
    text: string,
    add = true,
  ): AsyncGenerator<RunEvent, Verdict> {
    if (++this.#nudges > this.#mostNudges) return { outcome: "no-tool-use", message: TEXTS.noToolUse }
    yield { type: "nudge", reason, text }
    if (add) this.#conversation.addNote(text)
    return undefined
  }

  /** Tells the model which of its calls could not be read, and why: none is dropped in silence. */
  #addProblems(reply: Reply): string | undefined {
    const lines = reply.problems.filter(({ repaired }) => !repaired).map(({ message }) => `- ${message}`)
    if (lines.length === 0) return undefined
    for (const _ of lines) this.#dryRun?.observeUnreadable()
    const text = `Part of your reply looked like a tool call but could not be read:\n${lines.join("\n")}\nPlease repeat it in the form that you were shown.`
    this.#conversation.addNote(text)
    return text
  }

  /** Says what has become possible, once for each artifact that is new. */
  #addArtifactNote(): void {
    if (this.#ledger.artifacts.size === this.#artifacts) return
    this.#artifacts = this.#ledger.artifacts.size
    const note = artifactNote(this.#offered, this.#ledger.artifacts)
    if (note !== undefined) this.#conversation.addNote(note)
  }

  *#noticeChangedTools(): Generator<RunEvent> {
    this.#seenVersion = this.#tools.version
    const before = new Set(this.#offered.map(({ name }) => name))
    this.#offered = this.#tools.list()
    const now = new Set(this.#offered.map(({ name }) => name))
    const added = [...now].filter((name) => !before.has(name))
    const removed = [...before].filter((name) => !now.has(name))
    if (added.length === 0 && removed.length === 0) return
    this.#conversation.setSystem(this.#systemPrompt())
    yield { type: "tools-changed", added, removed }
  }

  #systemPrompt(): string {
    return systemPrompt({
      systemPrompt: this.#request.systemPrompt ?? "",
      tools: this.#offered,
      formatter: this.#plan.formatter,
      delivery: this.#plan.delivery,
      unavailable: this.#options.unavailable ?? [],
      signal: this.#options.completion?.signal,
    })
  }

  /** Ids that the server or the model gave are kept while they are unique in the run; others are numbered. */
  #nameCall(given: string): string {
    const sequence = ++this.#calls
    const id = given === "" || /^call_\d+$/.test(given) || this.#ids.has(given) ? `call_${sequence}` : given
    this.#ids.add(id)
    return id
  }

  #answer(content: string): string {
    const { signal } = this.#options.completion ?? {}
    return (signal === undefined ? content : content.replaceAll(signal, "")).trim()
  }

  *#failed(thrown: unknown): Generator<RunEvent, RunSummary> {
    const summary = this.#state.summary("failed", messageOf(thrown))
    const known = ToolwrightError.isInstance(thrown)
    const hint = known && thrown.hint !== undefined ? { hint: thrown.hint } : {}
    yield {
      type: "run-end",
      summary,
      error: { code: known ? thrown.code : "RUN_FAILED", message: messageOf(thrown), ...hint },
    }
    return summary
  }

  *#end(outcome: RunOutcome, message: string, code?: string): Generator<RunEvent, RunSummary> {
    const summary = this.#state.summary(outcome, message)
    yield { type: "run-end", summary, ...(code === undefined ? {} : { error: { code, message } }) }
    return summary
  }
}
