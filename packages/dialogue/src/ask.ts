import type { Backend, InferEvent, InferRequest, SamplingOptions } from "@toolwright/backends"
import type { Grounding } from "@toolwright/logits"
import { ToolwrightError, type RunEvent, type ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage, RefusedSchema, ToolFormatter } from "@toolwright/toolformat"
import { planDelivery, type DeliveryPlan, type Grammars, type ToolCallingMode } from "./delivery.ts"
import { groundingOf, type GroundingSetting } from "./grounding.ts"
import { originsOf } from "./origins.ts"
import { leaningOf, type Leaning } from "./name-tokens.ts"
import { ReplyReader } from "./reply/reader.ts"
import type { Reply, ReplyEvent } from "./reply/reply.ts"

/** With whom one talks, and how; `plan` changes when the server refuses it. */
export interface Dialogue {
  readonly backend: Backend
  readonly mode: ToolCallingMode
  readonly grounding: GroundingSetting | undefined
  readonly sampling: SamplingOptions | undefined
  readonly reasoningTokens: number | undefined
  readonly recordTokens: boolean
  readonly signal: AbortSignal | undefined
  plan: DeliveryPlan
  /** The server refused its own tool use. */
  refusedTools: boolean
  /** The server refused to hold a reply to a form. */
  refusedForm?: boolean
  /** Tools of which it was told that their schemas are too much for a grammar. */
  readonly toldRefused: Set<string>
}

/** Settings of {@link openDialogue}. */
export interface DialogueOptions {
  backend: Backend
  /** How calls may be read from replies; `hybrid` unless given. */
  mode?: ToolCallingMode | undefined
  /** The format, where it is not to be chosen by the model's name. */
  formatter?: ToolFormatter | undefined
  grounding?: GroundingSetting | undefined
  sampling?: SamplingOptions | undefined
  /** How many tokens a model may reason in a reply before it says or calls anything; no bound unless given. */
  reasoningTokens?: number | undefined
  /** Asks how the model came to each reply, of a backend that can tell. */
  recordTokens?: boolean | undefined
  signal?: AbortSignal | undefined
  /** The tools that are on offer at first, and what was said by then: grammars are made of them. */
  tools: readonly ToolDefinition[]
  said: readonly string[]
  messages: readonly ChatMessage[]
  /** The server is known to refuse its own tool use. */
  refusesTools?: boolean | undefined
  /** Where grammars are kept that are made once; the dialogue's own unless given. */
  grammars?: Grammars | undefined
}

/** Chooses how tools reach the model. */
export function openDialogue(options: DialogueOptions): Dialogue {
  const { backend, mode = "hybrid", formatter, grounding, sampling, signal, tools, said, messages } = options
  const { reasoningTokens, recordTokens = false } = options
  const plan = planDelivery({
    backend,
    mode,
    explicit: formatter,
    tools,
    grounding: () => groundingOf(grounding, backend, said, messages),
    refusesTools: options.refusesTools,
    grammars: options.grammars,
  })
  return {
    backend,
    mode,
    grounding,
    sampling,
    reasoningTokens,
    recordTokens: recordTokens && backend.abilities.tokens === true,
    signal,
    plan,
    refusedTools: false,
    toldRefused: new Set(),
  }
}

/** What a model is asked. */
export interface Question {
  tools: readonly ToolDefinition[]
  /** Those of a native request, where they are others. */
  nativeTools?: readonly ToolDefinition[]
  /** Those whose calls are read, where they are more: a model may call what it was not told to call. */
  knownTools?: readonly ToolDefinition[]
  /** The messages as the plan has them written: asked for again when the plan changes. */
  messages(plan: DeliveryPlan): readonly ChatMessage[]
  /** What was said by the user and the tools, which arguments may be held to. */
  said(): readonly string[]
  callsBefore: number
  /** Gives each call the id that it has from now on. */
  nameCall(given: string): string
  /** The reply has to be a call. */
  mustCall?: boolean
  /** The reply may have one call at most. */
  oneCall?: boolean
  /** No call is wanted: nothing in the text is one, whatever it looks like. */
  wordsOnly?: boolean
  /** Holds the reply to a form, in place of what would carry the tools; left out where the server refuses it. */
  form?: Partial<InferRequest> | undefined
  /** How much likelier the names of tools are to be called than they are by themselves, in logits. */
  toolBias?: ReadonlyMap<string, number> | undefined
  /** Goes into the request as it is, where it is native. */
  native?: Partial<InferRequest>
  /** Goes into every request as it is. */
  extra?: Partial<InferRequest>
}

/**
 * What is told while a question is put: the request as it goes out, the reply as it comes, and a change of delivery.
 */
export type AskEvent =
  | (Omit<Extract<RunEvent, { type: "request" }>, "round"> & { messages: readonly ChatMessage[] })
  | Extract<RunEvent, { type: "delivery-fallback" | "grammar-refused" }>
  | ReplyEvent

/** One step of an answer: events, in order, or the whole reply at the end. */
export type AskStep = { done: false; events: readonly AskEvent[] } | { done: true; reply: Reply }

/**
 * Puts a question to a model and reads its reply: the one way in which a model is asked. Where the server refuses the
 * delivery before it said anything, the question is put in the next form, and the dialogue keeps to that.
 *
 * Nothing is done ahead: the model goes on when `next` is called. It throws what the backend throws, and
 * `REPLY_TOO_LONG`. Who leaves before the end calls `leave`, which ends the request.
 */
export class Asking {
  readonly #dialogue: Dialogue
  readonly #question: Question
  #request: InferRequest | undefined
  /** What the grammar of the request holds arguments to. */
  #grounding: Grounding | undefined
  #stream: AsyncIterator<InferEvent> | undefined
  #reader: ReplyReader | undefined
  /** Where the reply ends, in the caller's words and in those of the format. */
  #stop: readonly string[] = []
  #started = 0
  #spent = 0
  /** Nothing of the reply has been told yet. */
  #silent = true
  #done = false

  constructor(dialogue: Dialogue, question: Question) {
    this.#dialogue = dialogue
    this.#question = question
  }

  /** Milliseconds that the model has taken so far, whether it answered, failed or was left. */
  get modelMs(): number {
    return this.#spent + (this.#stream === undefined ? 0 : performance.now() - this.#started)
  }

  /** A promise only where the model has to be waited for. */
  next(): AskStep | Promise<AskStep> {
    if (this.#done) return { done: true, reply: this.#reader!.reply }
    if (this.#request !== undefined) return this.#read()
    const leaning = this.#lean()
    return leaning === undefined ? { done: false, events: this.#write(undefined) } : this.#writeOnce(leaning)
  }

  async #writeOnce(leaning: Promise<Leaning | undefined>): Promise<AskStep> {
    return { done: false, events: this.#write(await leaning) }
  }

  async #read(): Promise<AskStep> {
    try {
      const stream = this.#stream ?? this.#open()
      for (;;) {
        const step = await stream.next()
        const reader = this.#reader!
        const events = step.done === true ? reader.end() : reader.read(step.value)
        if (step.done === true) this.#end()
        else if (reader.stopped) return await this.#stopped(events)
        else if (events.length === 0) continue
        this.#silent &&= events.every(({ type }) => type === "model-retry")
        return { done: false, events }
      }
    } catch (thrown) {
      return { done: false, events: [await this.#fallBack(thrown)] }
    }
  }

  /** Ends the request, if there is one under way. */
  async leave(): Promise<void> {
    const stream = this.#stream
    this.#close()
    await stream?.return?.()
  }

  #close(): void {
    this.#spent = this.modelMs
    this.#stream = undefined
  }

  #end(): void {
    this.#done = true
    this.#trace()
    this.#close()
  }

  /** The text has come to its end, and the server goes on. */
  async #stopped(events: readonly ReplyEvent[]): Promise<AskStep> {
    const last = this.#reader!.end()
    await this.leave()
    this.#done = true
    return { done: false, events: [...events, ...last] }
  }

  /** @throws what was thrown, where another delivery would not help */
  async #fallBack(thrown: unknown): Promise<AskEvent> {
    const { plan, signal } = this.#dialogue
    if (this.#form !== undefined && this.#silent && isUnsupported(thrown)) {
      await this.leave()
      this.#dialogue.refusedForm = true
      this.#request = undefined
      return { type: "delivery-fallback", from: "schema", to: "text", reason: thrown.message }
    }
    const next = this.#silent && signal?.aborted !== true ? plan.fallBack(thrown) : undefined
    await this.leave()
    if (next === undefined) throw thrown
    this.#dialogue.plan = next.plan
    this.#request = undefined
    this.#grounding = undefined
    const { from, error } = next.fallback
    this.#dialogue.refusedTools ||= from === "native"
    return { type: "delivery-fallback", from, to: next.plan.delivery, reason: error }
  }

  /** What holds this reply to a form; nothing where none is wanted, or the server refused it. */
  get #form(): Partial<InferRequest> | undefined {
    return this.#dialogue.refusedForm === true ? undefined : this.#question.form
  }

  /** What the wanted tools come to in this model's tokens; nothing where no call is wanted. */
  #lean(): Promise<Leaning | undefined> | undefined {
    const { toolBias, wordsOnly = false } = this.#question
    if (toolBias === undefined || wordsOnly) return undefined
    const { backend, plan, signal } = this.#dialogue
    return leaningOf(toolBias, { backend, formatter: plan.formatter, signal })
  }

  #write(leaning: Leaning | undefined): AskEvent[] {
    const { plan, sampling, recordTokens } = this.#dialogue
    const { mustCall = false, oneCall = false, native, extra } = this.#question
    const tools = this.#tools()
    const messages = this.#question.messages(plan)
    const stop = (this.#stop = [...(sampling?.stop ?? []), ...plan.stop])
    const form = this.#form
    const { request: part, refused } =
      form !== undefined
        ? { request: form, refused: [] }
        : plan.requestPart(tools, () => this.#ground(messages), {
            mode: mustCall ? "call" : "text-or-call",
            parallel: !oneCall,
          })
    this.#request = {
      ...extra,
      messages,
      ...part,
      ...(plan.delivery === "native" ? native : {}),
      ...(recordTokens ? { recordTokens } : {}),
      ...samplingPart(sampling, stop, leaning),
    }
    const {
      tools: offered = [],
      structuralTag,
      grammar = structuralTag && JSON.stringify(structuralTag),
    } = this.#request
    const held = grammar === undefined ? {} : { grammar }
    return [
      ...this.#newlyRefused(refused),
      {
        type: "request",
        messages,
        tools: offered,
        delivery: plan.delivery,
        ...held,
        ...(leaning && { toolBias: leaning.tools }),
      },
    ]
  }

  #ground(messages: readonly ChatMessage[]): Grounding | undefined {
    const { grounding, backend } = this.#dialogue
    return (this.#grounding = groundingOf(grounding, backend, this.#question.said(), messages))
  }

  /** Where the arguments of the reply's calls come from, where it is to be known how the model came to it. */
  #trace(): void {
    const { reply } = this.#reader!
    if (reply.tokens === undefined) return
    const { messages, grammar } = this.#request!
    reply.origins = originsOf(reply.calls, messages, {
      tools: this.#tools(),
      grounding: grammar === undefined ? undefined : this.#grounding,
    })
  }

  /** Each tool that the grammar leaves free is told of once in a dialogue. */
  #newlyRefused(refused: readonly RefusedSchema[]): AskEvent[] {
    const { toldRefused } = this.#dialogue
    const fresh = refused.filter(({ tool }) => !toldRefused.has(tool))
    for (const { tool } of fresh) toldRefused.add(tool)
    return fresh.map(({ tool, reason }) => ({ type: "grammar-refused", tool, reason }))
  }

  #tools(): readonly ToolDefinition[] {
    const { tools, nativeTools = tools } = this.#question
    return this.#dialogue.plan.delivery === "native" ? nativeTools : tools
  }

  #open(): AsyncIterator<InferEvent> {
    const { backend, plan, mode, signal, reasoningTokens } = this.#dialogue
    const { callsBefore, nameCall, wordsOnly = false, knownTools } = this.#question
    const tools = knownTools ?? this.#tools()
    const native = plan.delivery === "native"
    this.#reader = new ReplyReader({
      formatter: plan.formatter,
      native,
      strict: mode === "structured",
      wordsOnly,
      path: native ? "text" : plan.delivery,
      tools,
      callsBefore,
      nameCall,
      stop: this.#stop,
      reasoningTokens,
    })
    this.#started = performance.now()
    const stream = backend.infer(this.#request!, signal === undefined ? {} : { signal })
    return (this.#stream = stream[Symbol.asyncIterator]())
  }
}

/** What was set for single tokens goes before what follows from tools. */
function samplingPart(
  sampling: SamplingOptions | undefined,
  stop: readonly string[],
  leaning: Leaning | undefined,
): Pick<InferRequest, "sampling"> {
  if (sampling === undefined && stop.length === 0 && leaning === undefined) return {}
  const logitBias = leaning === undefined ? {} : { logitBias: { ...leaning.tokens, ...sampling?.logitBias } }
  return { sampling: { ...sampling, stop, ...logitBias } }
}

function isUnsupported(thrown: unknown): thrown is ToolwrightError {
  return ToolwrightError.isInstance(thrown) && thrown.code === "CONSTRAINT_UNSUPPORTED"
}
