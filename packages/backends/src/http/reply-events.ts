import { isJson, type ToolwrightError } from "@toolwright/toolbox"
import type { ApiEvent } from "@toolwright/toolformat"
import { badReply, failureOfStatus, replyTooLong, type FailureContext } from "../failures.ts"
import type { FinishReason, InferEvent, Usage } from "../model/backend.ts"
import type { ReplyLimits } from "./limits.ts"
import { createLineReader } from "./lines.ts"
import type { ReplyDecoder } from "./protocol.ts"
import { quoted } from "./quoted.ts"
import { Retryable } from "./retry.ts"
import { createSseReader, type SseReader } from "./sse.ts"
import type { TextPieces } from "./transport.ts"

/** How the values of a reply follow each other: an event stream, a value on each line, or one value. */
export type Framing = "events" | "lines" | "whole"

/** Whom a reply is from, and how much of it is read. */
export interface ReplySource {
  context: FailureContext
  limits: ReplyLimits
}

/** Reads one response, piece by piece of the network. */
export class ReplyReading {
  readonly #pieces: TextPieces
  readonly #source: ReplySource
  readonly #decoder: ReplyDecoder
  readonly #translate: Translator
  readonly #reader: SseReader | undefined
  #count = 0
  /** Nothing follows that counts, though the response may not have ended yet. */
  #done = false
  #over = false

  constructor(pieces: TextPieces, framing: Framing, decoder: ReplyDecoder, source: ReplySource) {
    this.#pieces = pieces
    this.#source = source
    this.#decoder = decoder
    this.#translate = new Translator(source)
    this.#reader = framing === "whole" ? undefined : framing === "lines" ? createLineReader() : createSseReader()
  }

  /** The events of the next piece, at least one; `end` comes last, once, and nothing after it. */
  async next(): Promise<readonly InferEvent[] | undefined> {
    if (this.#over) return undefined
    if (this.#reader === undefined) return this.#last(await this.#whole())
    for (;;) {
      const piece = this.#pieces.next()
      const text = piece instanceof Promise ? await piece : piece
      if (text === undefined) return this.#last(this.#rest(this.#reader))
      const events = this.#piece(text, this.#reader)
      // Some servers keep the connection open after the last event.
      if (this.#done) return this.#last([...events, ...this.#rest(this.#reader)])
      if (events.length > 0) return events
    }
  }

  leave(): void {
    this.#pieces.leave(this.#done)
  }

  #last(events: readonly InferEvent[]): readonly InferEvent[] {
    this.#over = true
    return joined([...events, this.#translate.end()])
  }

  #piece(text: string, reader: SseReader): readonly InferEvent[] {
    const { context, limits } = this.#source
    const values = reader.push(text)
    this.#count += values.length
    if (this.#count > limits.events) throw replyTooLong(context, `more than ${limits.events} events`)
    const events = this.#read(values)
    if (reader.waiting > limits.event) throw replyTooLong(context, `an event of more than ${limits.event} characters`)
    return joined(events)
  }

  #read(values: readonly string[]): InferEvent[] {
    const events: InferEvent[] = []
    for (const data of values) {
      this.#done ||= data === "[DONE]"
      if (this.#done) break
      const value = parse(data, this.#source.context)
      for (const event of this.#decoder.push(value)) this.#translate.read(event, events)
      this.#done = this.#decoder.isLast(value)
    }
    return events
  }

  /** What stands at the end. @throws Retryable where the reply breaks off */
  #rest(reader: SseReader): InferEvent[] {
    const { context } = this.#source
    const cutOff = () => new Retryable(badReply(context, "it ends in the middle"), "the reply was cut off")
    const rest = reader.end()
    if (!this.#done && rest.some((data) => data !== "[DONE]" && !isJson(data))) throw cutOff()
    const events = this.#read(rest)
    for (const event of this.#decoder.end()) this.#translate.read(event, events)
    if (!this.#done && !this.#translate.finished()) throw cutOff()
    return events
  }

  async #whole(): Promise<InferEvent[]> {
    const { context, limits } = this.#source
    const read: string[] = []
    let length = 0
    for (let piece = await this.#pieces.next(); piece !== undefined; piece = await this.#pieces.next()) {
      read.push(piece)
      length += piece.length
      if (length > limits.body) throw replyTooLong(context, `more than ${limits.body} characters`)
    }
    const text = read.join("")
    const decoded = this.#decoder.whole(parse(text, context))
    if (decoded === undefined)
      throw badReply(context, `it is no reply of ${context.server}: ${beginning(text, context)}`)
    const events: InferEvent[] = []
    for (const event of [...decoded, ...this.#decoder.end()]) this.#translate.read(event, events)
    return events
  }
}

/**
 * What came in one piece of the network, with neighbouring texts as one: whoever reads them is woken once for it, and
 * not once for each token of a server that is faster than its reader.
 */
function joined(events: readonly InferEvent[]): readonly InferEvent[] {
  if (events.length < 2) return events
  const told: InferEvent[] = []
  let texts: string[] = []
  let type: "text-delta" | "reasoning-delta" = "text-delta"
  const flush = (): void => {
    if (texts.length > 0) told.push({ type, text: texts.join("") })
    texts = []
  }
  for (const event of events) {
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
      flush()
      told.push(event)
      continue
    }
    if (event.type !== type) flush()
    type = event.type
    texts.push(event.text)
  }
  flush()
  return told
}

function parse(text: string, context: FailureContext): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own words would quote the text as it came.
    throw badReply(context, `it is not JSON: ${beginning(text, context)}`)
  }
  if (typeof value !== "object" || value === null)
    throw badReply(context, `it is no JSON object: ${beginning(text, context)}`)
  return value
}

function beginning(text: string, { secrets }: FailureContext): string {
  const plain = quoted(text.slice(0, 10_000), secrets).replaceAll(/\s+/g, " ").trim()
  return plain === "" ? "it is empty" : plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
}

/** Turns decoded events into a backend's; arguments that are no JSON are passed on as they came. */
class Translator {
  readonly #context: ReplySource["context"]
  readonly #limits: ReplySource["limits"]
  #finishReason: FinishReason | undefined
  #usage: Usage | undefined
  readonly #open = new Map<number, string>()
  // A repair is for the reader to make and to report: it gets what the model wrote.
  #asWritten: string | undefined
  #length = 0
  #calls = 0
  #nameless = 0

  constructor({ context, limits }: ReplySource) {
    this.#context = context
    this.#limits = limits
  }

  #count(text: string): void {
    this.#length += text.length
    if (this.#length > this.#limits.reply)
      throw replyTooLong(this.#context, `more than ${this.#limits.reply} characters`)
  }

  read(event: ApiEvent, told: InferEvent[]): void {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        this.#count(event.text)
        told.push(event)
        break
      case "call-start":
        if (++this.#calls > this.#limits.calls)
          throw replyTooLong(this.#context, `more than ${this.#limits.calls} calls`)
        this.#count(event.name)
        this.#open.set(event.index, "")
        told.push({ type: "call-delta", index: event.index, id: event.id, name: event.name })
        break
      case "args-delta": {
        const text = this.#asWritten ?? event.text
        this.#asWritten = undefined
        this.#count(text)
        this.#open.set(event.index, (this.#open.get(event.index) ?? "") + text)
        told.push({ type: "call-delta", index: event.index, arguments: text })
        break
      }
      case "call-end":
        this.#open.delete(event.index)
        break
      case "problem":
        if (event.problem.repaired) this.#asWritten = event.problem.text
        else told.push(...this.#heldBack(event.problem))
        break
      case "usage":
        this.#usage = event.usage
        break
      case "finish":
        this.#finishReason = event.finishReason
        break
      case "signature":
        // Gemini's own API has these; this one does not.
        break
      case "error":
        throw this.#reported(event.code, event.message)
    }
  }

  /** The rest of a broken call's arguments, which the decoder kept back: the reader shall see what the model wrote. */
  #heldBack({ text, tool }: { text: string; tool?: string }): InferEvent[] {
    // Of a call without a name nothing was told so far.
    if (tool === undefined)
      return text === "" ? [] : [{ type: "call-delta", index: -++this.#nameless, arguments: text }]
    for (const [index, sent] of this.#open) {
      if (!text.startsWith(sent)) continue
      this.#open.delete(index)
      return text === sent ? [] : [{ type: "call-delta", index, arguments: text.slice(sent.length) }]
    }
    return []
  }

  #reported(code: string, said: string): ToolwrightError | Retryable {
    const status = statusOf(code)
    const message = quoted(said, this.#context.secrets)
    const failure = failureOfStatus(status, { message, code, param: "" }, this.#context)
    if (failure.code === "CONSTRAINT_UNSUPPORTED" || (status < 500 && status !== 429)) return failure
    const reason = `the server reported: ${message}`
    return status === 429 ? new Retryable(failure, reason, { askedMs: undefined }) : new Retryable(failure, reason)
  }

  finished(): boolean {
    return this.#finishReason !== undefined
  }

  end(): InferEvent {
    return {
      type: "end",
      finishReason: this.#finishReason ?? "unknown",
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    }
  }
}

/** Statuses by the words that Anthropic and OpenAI have for them inside a stream. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
}

function statusOf(code: string): number {
  if (/^[45]\d\d$/.test(code)) return Number(code)
  if (code.startsWith("rate_limit")) return 429
  return Object.hasOwn(STATUSES, code) ? STATUSES[code]! : 500
}
