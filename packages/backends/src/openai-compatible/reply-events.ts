import type { ToolwrightError } from "@toolwright/toolbox"
import { createOpenAIStreamDecoder, type ApiEvent } from "@toolwright/toolformat"
import { badReply, failureOfStatus, replyTooLong, type FailureContext } from "../failures.ts"
import type { FinishReason, InferEvent, Usage } from "../model/backend.ts"
import type { ReplyLimits } from "./limits.ts"
import { Retryable } from "./retry.ts"
import { createSseReader } from "./sse.ts"

/** Reads one response, whether it is a stream of events or one JSON body. `end` comes last, once. */
export async function* replyEvents(
  pieces: AsyncIterable<string>,
  isStream: boolean,
  context: FailureContext,
  limits: ReplyLimits,
): AsyncGenerator<InferEvent> {
  const translate = createTranslator(context, limits)
  if (isStream) yield* streamed(pieces, translate, context, limits)
  else yield* whole(pieces, translate, context, limits)
  yield translate.end()
}

type Translator = ReturnType<typeof createTranslator>

async function* streamed(
  pieces: AsyncIterable<string>,
  translate: Translator,
  context: FailureContext,
  limits: ReplyLimits,
): AsyncGenerator<InferEvent> {
  const sse = createSseReader()
  const decoder = createOpenAIStreamDecoder()
  let done = false
  let count = 0
  const read = (events: string[]): InferEvent[] =>
    events.flatMap((data) => {
      if (done || data === "[DONE]") {
        done = true
        return []
      }
      return translate.events(decoder.push(parse(data, context)))
    })
  for await (const piece of pieces) {
    const complete = sse.push(piece)
    count += complete.length
    if (count > limits.events) throw replyTooLong(context, `more than ${limits.events} events`)
    const events = read(complete)
    if (sse.waiting > limits.event) throw replyTooLong(context, `an event of more than ${limits.event} characters`)
    for (const event of events) yield event
    // Some servers keep the connection open after the last event.
    if (done) break
  }
  yield* read(sse.end())
  yield* translate.events(decoder.end())
  if (!done && !translate.finished())
    throw new Retryable(badReply(context, "it ends in the middle"), "the reply was cut off")
}

async function* whole(
  pieces: AsyncIterable<string>,
  translate: Translator,
  context: FailureContext,
  limits: ReplyLimits,
): AsyncGenerator<InferEvent> {
  const read: string[] = []
  let length = 0
  for await (const piece of pieces) {
    read.push(piece)
    length += piece.length
    if (length > limits.body) throw replyTooLong(context, `more than ${limits.body} characters`)
  }
  const text = read.join("")
  const body = parse(text, context)
  const { choices, error } = body as {
    choices?: { message?: { tool_calls?: object[] }; finish_reason?: unknown }[]
    error?: unknown
  }
  if (!Array.isArray(choices) && (error === undefined || error === null))
    throw badReply(context, `it is no chat completion: ${beginning(text)}`)
  // A whole message is read as a stream of one chunk.
  const asDelta = choices?.map((choice) => ({
    ...choice,
    finish_reason: choice.finish_reason ?? "stop",
    delta: {
      ...choice.message,
      tool_calls: (choice.message?.tool_calls ?? []).map((call, index) => ({ index, ...call })),
    },
  }))
  const decoder = createOpenAIStreamDecoder()
  yield* translate.events([...decoder.push({ ...body, choices: asDelta ?? [] }), ...decoder.end()])
}

function parse(text: string, context: FailureContext): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw badReply(context, `it is not JSON: ${beginning(text)}`, cause)
  }
  if (typeof value !== "object" || value === null) throw badReply(context, `it is no JSON object: ${beginning(text)}`)
  return value
}

function beginning(text: string): string {
  const plain = text.slice(0, 1000).replaceAll(/\s+/g, " ").trim()
  return plain === "" ? "it is empty" : plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
}

/** Turns decoded events into a backend's; arguments that are no JSON are passed on as they came. */
function createTranslator(context: FailureContext, limits: ReplyLimits) {
  let finishReason: FinishReason | undefined
  let usage: Usage | undefined
  const open = new Map<number, string>()
  // A repair is for the reader to make and to report: it gets what the model wrote.
  let asWritten: string | undefined
  let length = 0
  let calls = 0

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
        if (!event.problem.repaired) return heldBack(event.problem.text)
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
  function heldBack(text: string): InferEvent[] {
    for (const [index, sent] of open) {
      if (!text.startsWith(sent)) continue
      open.delete(index)
      return text === sent ? [] : [{ type: "call-delta", index, arguments: text.slice(sent.length) }]
    }
    return []
  }

  function reported(code: string, message: string): ToolwrightError | Retryable {
    const status = /^[45]\d\d$/.test(code) ? Number(code) : code.startsWith("rate_limit") ? 429 : 500
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
