import { isJson, type ToolwrightError } from "@toolwright/toolbox"
import type { ApiEvent } from "@toolwright/toolformat"
import { badReply, failureOfStatus, replyTooLong, type FailureContext } from "../failures.ts"
import type { FinishReason, InferEvent, Usage } from "../model/backend.ts"
import type { ReplyLimits } from "./limits.ts"
import { createLineReader } from "./lines.ts"
import type { ReplyDecoder } from "./protocol.ts"
import { quoted } from "./quoted.ts"
import { Retryable } from "./retry.ts"
import { createSseReader } from "./sse.ts"

/** How the values of a reply follow each other: an event stream, a value on each line, or one value. */
export type Framing = "events" | "lines" | "whole"

/** Whom a reply is from, and how much of it is read. */
export interface ReplySource {
  context: FailureContext
  limits: ReplyLimits
  /** Hears that nothing follows which counts, though the response may not have ended yet. */
  over(): void
}

/** Reads one response. `end` comes last, once. */
export async function* replyEvents(
  pieces: AsyncIterable<string>,
  framing: Framing,
  decoder: ReplyDecoder,
  source: ReplySource,
): AsyncGenerator<InferEvent> {
  const translate = createTranslator(source)
  if (framing === "whole") yield* whole(pieces, decoder, translate, source)
  else yield* streamed(pieces, framing, { decoder, translate }, source)
  yield translate.end()
}

type Translator = ReturnType<typeof createTranslator>

async function* streamed(
  pieces: AsyncIterable<string>,
  framing: "events" | "lines",
  { decoder, translate }: { decoder: ReplyDecoder; translate: Translator },
  { context, limits, over }: ReplySource,
): AsyncGenerator<InferEvent> {
  const reader = framing === "lines" ? createLineReader() : createSseReader()
  let done = false
  let count = 0
  const read = (values: string[]): InferEvent[] =>
    values.flatMap((data) => {
      if (done || data === "[DONE]") {
        done = true
        return []
      }
      const value = parse(data, context)
      const events = translate.events(decoder.push(value))
      done = decoder.isLast(value)
      return events
    })
  for await (const piece of pieces) {
    const complete = reader.push(piece)
    count += complete.length
    if (count > limits.events) throw replyTooLong(context, `more than ${limits.events} events`)
    const events = read(complete)
    if (done) over()
    if (reader.waiting > limits.event) throw replyTooLong(context, `an event of more than ${limits.event} characters`)
    for (const event of joined(events)) yield event
    // Some servers keep the connection open after the last event.
    if (done) break
  }
  const cutOff = () => new Retryable(badReply(context, "it ends in the middle"), "the reply was cut off")
  const rest = reader.end()
  if (!done && rest.some((data) => data !== "[DONE]" && !isJson(data))) throw cutOff()
  yield* read(rest)
  yield* translate.events(decoder.end())
  if (!done && !translate.finished()) throw cutOff()
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

async function* whole(
  pieces: AsyncIterable<string>,
  decoder: ReplyDecoder,
  translate: Translator,
  { context, limits }: ReplySource,
): AsyncGenerator<InferEvent> {
  const read: string[] = []
  let length = 0
  for await (const piece of pieces) {
    read.push(piece)
    length += piece.length
    if (length > limits.body) throw replyTooLong(context, `more than ${limits.body} characters`)
  }
  const text = read.join("")
  const events = decoder.whole(parse(text, context))
  if (events === undefined) throw badReply(context, `it is no reply of ${context.server}: ${beginning(text, context)}`)
  yield* translate.events([...events, ...decoder.end()])
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
function createTranslator({ context, limits }: Pick<ReplySource, "context" | "limits">) {
  let finishReason: FinishReason | undefined
  let usage: Usage | undefined
  const open = new Map<number, string>()
  // A repair is for the reader to make and to report: it gets what the model wrote.
  let asWritten: string | undefined
  let length = 0
  let calls = 0
  let nameless = 0

  function count(text: string): void {
    length += text.length
    if (length > limits.reply) throw replyTooLong(context, `more than ${limits.reply} characters`)
  }

  function one(event: ApiEvent): InferEvent[] {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        count(event.text)
        return [event]
      case "call-start":
        if (++calls > limits.calls) throw replyTooLong(context, `more than ${limits.calls} calls`)
        count(event.name)
        open.set(event.index, "")
        return [{ type: "call-delta", index: event.index, id: event.id, name: event.name }]
      case "args-delta": {
        const text = asWritten ?? event.text
        asWritten = undefined
        count(text)
        open.set(event.index, (open.get(event.index) ?? "") + text)
        return [{ type: "call-delta", index: event.index, arguments: text }]
      }
      case "call-end":
        open.delete(event.index)
        return []
      case "problem":
        if (!event.problem.repaired) return heldBack(event.problem)
        asWritten = event.problem.text
        return []
      case "usage":
        usage = event.usage
        return []
      case "finish":
        finishReason = event.finishReason
        return []
      case "signature":
        // Gemini's own API has these; this one does not.
        return []
      case "error":
        throw reported(event.code, event.message)
    }
  }

  /** The rest of a broken call's arguments, which the decoder kept back: the reader shall see what the model wrote. */
  function heldBack({ text, tool }: { text: string; tool?: string }): InferEvent[] {
    // Of a call without a name nothing was told so far.
    if (tool === undefined) return text === "" ? [] : [{ type: "call-delta", index: -++nameless, arguments: text }]
    for (const [index, sent] of open) {
      if (!text.startsWith(sent)) continue
      open.delete(index)
      return text === sent ? [] : [{ type: "call-delta", index, arguments: text.slice(sent.length) }]
    }
    return []
  }

  function reported(code: string, said: string): ToolwrightError | Retryable {
    const status = statusOf(code)
    const message = quoted(said, context.secrets)
    const failure = failureOfStatus(status, { message, code, param: "" }, context)
    if (failure.code === "CONSTRAINT_UNSUPPORTED" || (status < 500 && status !== 429)) return failure
    const reason = `the server reported: ${message}`
    return status === 429 ? new Retryable(failure, reason, { askedMs: undefined }) : new Retryable(failure, reason)
  }

  return {
    events: (events: readonly ApiEvent[]): InferEvent[] => events.flatMap(one),
    finished: () => finishReason !== undefined,
    end: (): InferEvent => ({
      type: "end",
      finishReason: finishReason ?? "unknown",
      ...(usage === undefined ? {} : { usage }),
    }),
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
