import { createStopCutter, type InferEvent, type StopCutter } from "@toolwright/backends"
import { ToolwrightError, type ToolCall, type ToolDefinition } from "@toolwright/toolbox"
import {
  createCallAssembler,
  type CallAssembler,
  type Format,
  type ParseEvent,
  type ParseProblem,
  type ToolCallParser,
  type ToolFormatter,
} from "@toolwright/toolformat"
import { takeForeignCall } from "./foreign-call.ts"
import { withMark } from "./marks.ts"
import { emptyReply, type Reply, type ReplyEvent } from "./reply.ts"
import { Twins, type CallSource } from "./twins.ts"

/** How a reply is to be read. */
export interface ReadingOptions {
  formatter: ToolFormatter
  /**
   * The tools came with the request, in the server's own form: calls come likewise, or stand in the text all the same.
   */
  native: boolean
  /** Calls in the generic JSON form do not count where calls come natively. */
  strict: boolean
  /** Text is text: nothing in it is a call. */
  wordsOnly: boolean
  /** What calls in text are told to have come by. */
  path: string
  tools: readonly ToolDefinition[]
  /** How many calls the conversation had before. */
  callsBefore: number
  /** Gives each call the id that it has from now on. */
  nameCall(given: string): string
  /** Where the text ends, whether or not the server minds it. */
  stop: readonly string[]
  /** How many tokens a model may reason before it says or calls anything; no bound unless given. */
  reasoningTokens?: number | undefined
}

/** Characters of a token, as models write reasoning: an estimate that errs on the side of patience. */
const TOKEN_CHARS = 5

/** Far more than any model means to write: characters of text, reasoning and arguments together, and calls. */
const LONGEST_REPLY = 16 * 1024 * 1024
const MOST_CALLS = 1024
/** Stretches of a reply that are told; a reply has few. */
const MOST_SPANS = 4096
/** What a piece of a call counts at least: pieces without arguments cost memory too. */
const LEAST_DELTA = 16

/**
 * Reads one reply, event by event. Text goes through the format's parser, native calls through the assembler. What a
 * model writes after a call of its own in text is made up: no result can be known by then. It is neither content nor
 * history, but a problem that says so.
 */
export class ReplyReader {
  readonly reply: Reply = emptyReply()
  /** The text has come to a stop sequence: nothing that follows counts. */
  stopped = false
  readonly #options: ReadingOptions
  readonly #twins = new Twins()
  #native: CallAssembler | undefined
  readonly #started = performance.now()
  readonly #cutter: StopCutter | undefined
  #parser: ToolCallParser | undefined
  #fromText: CallReader | undefined
  #fromServer: CallReader | undefined
  #length = 0

  constructor(options: ReadingOptions) {
    this.#options = options
    this.#cutter = options.stop.length === 0 ? undefined : createStopCutter(options.stop)
  }

  /** @throws ToolwrightError `REPLY_TOO_LONG` */
  read(event: InferEvent): ReplyEvent[] {
    const events = this.#one(event)
    this.stopped ||= this.#reasonsTooLong()
    return events
  }

  #reasonsTooLong(): boolean {
    const { reasoningTokens } = this.#options
    const { reasoning, content, calls } = this.reply
    if (reasoningTokens === undefined || reasoning.length <= reasoningTokens * TOKEN_CHARS) return false
    return content === "" && calls.length === 0 && this.#native === undefined
  }

  #one(event: InferEvent): ReplyEvent[] {
    switch (event.type) {
      case "text-delta":
        this.#count(event.text.length)
        return this.#text(event.text)
      case "reasoning-delta":
        this.#count(event.text.length)
        this.reply.reasoning += event.text
        return [event]
      case "call-delta":
        this.#count(Math.max(event.arguments?.length ?? 0, LEAST_DELTA))
        return this.#serverCalls.read((this.#native ??= createCallAssembler()).push(event))
      case "retry":
        return [{ ...event, type: "model-retry" }]
      case "tokens":
        this.reply.tokens = event.trace
        return []
      case "end":
        this.reply.finishReason = event.finishReason
        if (event.usage !== undefined) this.reply.usage = event.usage
        if (event.certainty !== undefined) this.reply.selfKnowledge.certainty = event.certainty
        if (event.declined === true) this.reply.selfKnowledge.declined = true
        return []
    }
  }

  /** After the last event, or where the text was stopped. */
  end(): ReplyEvent[] {
    const events: ReplyEvent[] = []
    const rest = this.#cutter?.end() ?? ""
    if (rest !== "") events.push(...this.#parsed(rest))
    if (this.stopped) this.reply.finishReason = "stop"
    if (this.#parser !== undefined) {
      const last = this.#parser.end()
      const cutOff = this.reply.finishReason === "length"
      events.push(...this.#textCalls.read(cutOff ? this.#textCalls.withoutGuess(last) : last))
      const spans = this.#parser.spans?.() ?? []
      if (spans.some(({ kind }) => kind !== "content"))
        this.reply.spans = spans.slice(0, MOST_SPANS).map(({ kind, end }) => [kind, end])
    }
    if (this.#native !== undefined)
      events.push(...this.#serverCalls.read(this.#native.end(this.reply.finishReason === "length")))
    if (this.#fromText !== undefined) events.push(...this.#fromText.end())
    takeReasoning(this.reply)
    const foreign = takeForeignCall(this.reply, this.#options.tools)
    if (foreign !== undefined) events.push(this.#textCalls.report(foreign))
    this.reply.modelMs = performance.now() - this.#started
    return events
  }

  get #textCalls(): CallReader {
    return (this.#fromText ??= new CallReader(this.reply, this.#options, { source: "text", twins: this.#twins }))
  }

  get #serverCalls(): CallReader {
    return (this.#fromServer ??= new CallReader(this.reply, this.#options, { source: "server", twins: this.#twins }))
  }

  #text(text: string): ReplyEvent[] {
    if (this.#cutter === undefined) return this.#parsed(text)
    const kept = this.#cutter.push(text)
    this.stopped = this.#cutter.stopped
    return kept === "" ? [] : this.#parsed(kept)
  }

  #parsed(text: string): ReplyEvent[] {
    this.reply.raw += text
    const { formatter, tools, callsBefore, wordsOnly } = this.#options
    if (wordsOnly) {
      this.reply.content += text
      this.reply.said += text
      return [{ type: "text-delta", text }]
    }
    this.#parser ??= formatter.createParser({ tools, callsBefore })
    return this.#textCalls.read(this.#parser.push(text))
  }

  #count(length: number): void {
    this.#length += length
    if (this.#length > LONGEST_REPLY) throw tooLong(`${LONGEST_REPLY} characters`)
  }
}

/** Turns parse events into those of a run, and keeps what they amount to in the reply. */
class CallReader {
  readonly #reply: Reply
  readonly #nameCall: (given: string) => string
  readonly #path: string
  readonly #ids = new Map<number, string>()
  readonly #twins: Twins
  readonly #source: CallSource
  readonly #inText: boolean
  /** Calls of this source do not count: they are told as problems. */
  readonly #refused: boolean
  readonly #format: Format | undefined
  #called = false
  #begun = 0
  /** Calls that have begun and not ended, with their arguments so far. */
  readonly #open = new Map<number, { name: string; text: string }>()
  /** What stands after a call in text. */
  readonly #after: string[] = []

  constructor(reply: Reply, options: ReadingOptions, { source, twins }: { source: CallSource; twins: Twins }) {
    this.#reply = reply
    this.#nameCall = options.nameCall
    this.#twins = twins
    this.#source = source
    this.#inText = source === "text"
    this.#path = this.#inText ? options.path : "native"
    this.#format = this.#inText ? options.formatter.declaration : undefined
    this.#refused = this.#inText && options.native && options.strict && options.formatter.id === "generic"
  }

  read(events: readonly ParseEvent[]): ReplyEvent[] {
    const told: ReplyEvent[] = []
    for (const event of events) {
      const one = this.#one(event)
      if (one !== undefined) told.push(one)
    }
    return told
  }

  /**
   * The last events of a reply that was cut off: a call that had begun and that only the end of the text ends is no
   * whole one, since what it has of its last argument may be the half.
   */
  withoutGuess(events: readonly ParseEvent[]): ParseEvent[] {
    const open = new Map(this.#open)
    if (open.size === 0) return [...events]
    return events.flatMap((event): ParseEvent[] => {
      if (event.type === "args-delta" && open.has(event.index)) return []
      if (event.type === "problem" && event.problem.repaired && event.problem.text !== "") return []
      const begun = event.type === "call-end" ? open.get(event.index) : undefined
      if (begun === undefined) return [event]
      const { name, text } = begun
      const message = `The reply was cut off inside the call of '${name}'.`
      const at = this.#reply.raw.length
      return [
        { type: "problem", problem: { kind: "unterminated-call", at, text, tool: name, message, repaired: false } },
      ]
    })
  }

  end(): ReplyEvent[] {
    const text = this.#after.join("").trim()
    return text === "" ? [] : [this.#problem({ ...MADE_UP, at: this.#reply.raw.lastIndexOf(text), text })]
  }

  #one(event: ParseEvent): ReplyEvent | undefined {
    switch (event.type) {
      case "text-delta":
        if (this.#called) {
          this.#after.push(event.text)
          return undefined
        }
        this.#reply.content += event.text
        this.#reply.said += event.text
        return event
      case "reasoning-delta":
        this.#reply.reasoning += event.text
        return event
      case "text-was-reasoning":
        this.#reply.reasoning = this.#reply.content + this.#reply.reasoning
        this.#reply.content = this.#reply.said = ""
        return undefined
      case "call-start":
        if (++this.#begun > MOST_CALLS) throw tooLong(`${MOST_CALLS} calls`)
        this.#open.set(event.index, { name: event.name, text: "" })
        if (this.#refused) return undefined
        return { type: "call-start", callId: this.#id(event.index, event.id), name: event.name }
      case "args-delta":
        this.#grow(event.index, event.text)
        if (this.#refused) return undefined
        return { type: "args-delta", callId: this.#ids.get(event.index) ?? "", text: event.text }
      case "call-end":
        return this.#call(event)
      case "problem":
        return this.#problem(this.#named(this.#whole(event.problem)))
    }
  }

  #grow(index: number, text: string): void {
    const open = this.#open.get(index)
    if (open !== undefined) open.text += text
  }

  #call({ index, call }: Extract<ParseEvent, { type: "call-end" }>): ReplyEvent {
    this.#open.delete(index)
    if (this.#refused)
      return this.#problem(notNative(call.name, JSON.stringify({ name: call.name, arguments: call.arguments })))
    this.#called = this.#inText
    if (this.#twins.has(this.#source, call)) return this.#problem(twice(call))
    const id = this.#id(index, call.id)
    this.#reply.calls.push({ ...call, id })
    return { type: "call-end", callId: id, name: call.name, arguments: call.arguments, path: this.#path }
  }

  #whole(problem: ParseProblem): ParseProblem {
    return this.#format === undefined ? problem : withMark(problem, this.#reply.raw, this.#format)
  }

  /** A call that could not be read has its id as one that could: its failure is told as its result. */
  #named(problem: ParseProblem): ParseProblem {
    const { call } = problem
    return call === undefined ? problem : { ...problem, call: { ...call, id: this.#id(call.index, call.id) } }
  }

  #problem(problem: ParseProblem): ReplyEvent {
    if (this.#inText && !problem.repaired && problem.shown !== true) this.#reply.said += problem.text
    return this.report(problem)
  }

  /** Keeps and tells a problem whose text is said already, or is not to go back. */
  report(problem: ParseProblem): ReplyEvent {
    this.#reply.problems.push(problem)
    const { at: _at, ...told } = problem
    return { type: "parse-problem", ...told }
  }

  #id(index: number, given: string): string {
    let id = this.#ids.get(index)
    if (id === undefined) this.#ids.set(index, (id = this.#nameCall(given)))
    return id
  }
}

/** Marks of reasoning that models write whatever their format's own are, at the beginning of a reply. */
const REASONING = /^\s*<(think|thinking|thought|reasoning)>([^]*?)(?:<\/\1>\s*|$)/

/** Reasoning is no answer, and does not go back to the model. */
function takeReasoning(reply: Reply): void {
  const found = REASONING.exec(reply.content)
  if (found === null) return
  reply.reasoning += found[2]!.trim()
  reply.content = reply.content.slice(found[0].length)
  reply.said = reply.said.replace(REASONING, "")
}

const MADE_UP = {
  kind: "extra-text",
  message: "What the reply says after its call was left out: a result comes from the tool alone.",
  repaired: true,
} as const

/** A call that the server read, and whose text it left where it was. */
function twice({ name, arguments: args }: Pick<ToolCall, "name" | "arguments">): ParseProblem {
  const message = `The call of '${name}' came twice, as text and in the server's own form: it counts once.`
  return { kind: "extra-text", at: 0, text: JSON.stringify({ name, arguments: args }), message, repaired: true }
}

function notNative(name: string, text: string): ParseProblem {
  const where = `The call of '${name}' stands in the text of the reply`
  const message = `${where}: make it with the tool use that you were given.`
  return { kind: "foreign-syntax", at: 0, text, message, repaired: false }
}

function tooLong(most: string): ToolwrightError {
  return new ToolwrightError("REPLY_TOO_LONG", `The model's reply is longer than ${most} and was given up.`, {
    hint: "Limit it with the setting model.maxTokens.",
  })
}
