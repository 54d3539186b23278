import type { FinishReason, InferEvent, Usage } from "@toolwright/backends"
import { ToolwrightError, type RunEvent, type ToolCall } from "@toolwright/toolbox"
import { createCallAssembler, type ParseEvent, type ParseProblem, type ToolCallParser } from "@toolwright/toolformat"
import type { Delivery } from "./delivery.ts"

/** A reply as the executor goes on with it. `raw` is the model's text as it came, for history and for the record. */
export interface Reply {
  raw: string
  content: string
  reasoning: string
  calls: ToolCall[]
  problems: ParseProblem[]
  finishReason: FinishReason
  usage: Usage
  modelMs: number
}

/** Characters of one reply, text, reasoning and arguments together: far more than any model means to write. */
const LONGEST_REPLY = 16 * 1024 * 1024

function tooLong(): ToolwrightError {
  return new ToolwrightError(
    "REPLY_TOO_LONG",
    `The model's reply is longer than ${LONGEST_REPLY} characters and was given up.`,
    {
      hint: "Limit it with the setting model.maxTokens.",
    },
  )
}

/**
 * Reads one inference to its end: text goes through the format's parser, native calls through the assembler; what
 * happens is
 * yielded as it happens.
 *
 * @param createParser makes the format's parser, at the first text; without it (native tool use alone) text is content
 * @param nameCall gives each call the id that it has in this run
 */
export async function* readReply(
  stream: AsyncIterable<InferEvent>,
  createParser: (() => ToolCallParser) | undefined,
  delivery: Delivery,
  nameCall: (given: string) => string,
): AsyncGenerator<RunEvent, Reply> {
  const reply: Reply = {
    raw: "",
    content: "",
    reasoning: "",
    calls: [],
    problems: [],
    finishReason: "unknown",
    usage: { inputTokens: 0, outputTokens: 0 },
    modelMs: 0,
  }
  const native = createCallAssembler()
  const textCalls = new CallEvents(reply, nameCall, delivery === "native" ? "text" : delivery)
  const nativeCalls = new CallEvents(reply, nameCall, "native")
  let parser: ToolCallParser | undefined
  const started = performance.now()
  let length = 0
  for await (const event of stream) {
    if ("text" in event) length += event.text.length
    else if (event.type === "call-delta") length += event.arguments?.length ?? 0
    if (length > LONGEST_REPLY) throw tooLong()
    switch (event.type) {
      case "text-delta":
        reply.raw += event.text
        parser ??= createParser?.()
        for (const parsed of textCalls.read(parser === undefined ? [event] : parser.push(event.text))) yield parsed
        break
      case "reasoning-delta":
        for (const parsed of textCalls.read([event])) yield parsed
        break
      case "call-delta":
        for (const parsed of nativeCalls.read(native.push(event))) yield parsed
        break
      case "retry":
        yield { type: "model-retry", attempt: event.attempt, delayMs: event.delayMs, reason: event.reason }
        break
      case "end":
        reply.finishReason = event.finishReason
        if (event.usage !== undefined) reply.usage = event.usage
    }
  }
  for (const parsed of textCalls.read(parser?.end() ?? [])) yield parsed
  for (const parsed of nativeCalls.read(native.end(reply.finishReason === "length"))) yield parsed
  reply.modelMs = performance.now() - started
  return reply
}

/** Turns parse events into run events, and keeps what they amount to in the reply. */
class CallEvents {
  readonly #reply: Reply
  readonly #nameCall: (given: string) => string
  readonly #path: string
  readonly #ids = new Map<number, string>()

  constructor(reply: Reply, nameCall: (given: string) => string, path: string) {
    this.#reply = reply
    this.#nameCall = nameCall
    this.#path = path
  }

  *read(events: Iterable<ParseEvent>): Generator<RunEvent> {
    for (const event of events) {
      switch (event.type) {
        case "text-delta":
          this.#reply.content += event.text
          yield event
          break
        case "reasoning-delta":
          this.#reply.reasoning += event.text
          yield event
          break
        case "call-start":
          this.#ids.set(event.index, this.#nameCall(event.id))
          yield { type: "call-start", callId: this.#ids.get(event.index)!, name: event.name }
          break
        case "args-delta":
          yield { type: "args-delta", callId: this.#ids.get(event.index) ?? "", text: event.text }
          break
        case "call-end": {
          const id = this.#ids.get(event.index) ?? this.#nameCall(event.call.id)
          const call = { ...event.call, id }
          this.#reply.calls.push(call)
          yield { type: "call-end", callId: id, name: call.name, arguments: call.args, path: this.#path }
          break
        }
        case "problem": {
          const { kind, message, text, repaired } = event.problem
          this.#reply.problems.push(event.problem)
          yield { type: "parse-problem", kind, message, text, repaired }
        }
      }
    }
  }
}
