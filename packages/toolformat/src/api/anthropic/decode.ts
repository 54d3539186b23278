import { createCallAssembler, type CallAssembler } from "../call-assembler.ts"
import { collectReply } from "../events.ts"
import type { ApiDecoderOptions, ApiEvent, ApiFinishReason, ApiReply, ApiStreamDecoder } from "../events.ts"
import { asArray, asNumber, asObject, asString, field } from "../json.ts"

const FINISH: Record<string, ApiFinishReason> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content-filter",
}

/** Decodes the events of a streamed Anthropic message. Calls of tools that the server runs itself are passed over. */
export function createAnthropicStreamDecoder(options: ApiDecoderOptions = {}): ApiStreamDecoder {
  const blocks = new Blocks(createCallAssembler(options))
  let inputTokens = 0

  return {
    push(event) {
      const index = asNumber(field(event, "index")) ?? 0
      switch (field(event, "type")) {
        case "message_start":
          inputTokens = inputOf(field(field(event, "message"), "usage")) ?? 0
          return []
        case "content_block_start":
          return blocks.start(index, field(event, "content_block"))
        case "content_block_delta":
          return blocks.add(index, field(event, "delta"))
        case "content_block_stop":
          return blocks.stop(index)
        case "message_delta": {
          const reason = asString(field(field(event, "delta"), "stop_reason"))
          const end = reason === undefined ? [] : blocks.finish(finishReasonOf(reason))
          return [...usageOf(field(event, "usage"), inputTokens), ...end]
        }
        case "error":
          return [readError(field(event, "error"))]
        default:
          return []
      }
    },
    end: () => blocks.end(),
  }
}

/** The content blocks of one message: text as it comes, calls put together. */
class Blocks {
  readonly #calls: CallAssembler
  readonly #open = new Set<number>()
  readonly #begun = new Set<number>()
  /** A finished call without arguments: only what follows tells whether it has none or broke off before them. */
  #waiting: number | undefined

  constructor(calls: CallAssembler) {
    this.#calls = calls
  }

  start(index: number, block: unknown): ApiEvent[] {
    const settled = this.#waiting === undefined ? [] : this.#calls.close(this.#waiting)
    this.#waiting = undefined
    return [...settled, ...this.#begin(index, block)]
  }

  #begin(index: number, block: unknown): ApiEvent[] {
    const type = field(block, "type")
    if (type === "text") return text("text-delta", field(block, "text"))
    if (type === "thinking") return text("reasoning-delta", field(block, "thinking"))
    if (type !== "tool_use") return []
    this.#open.add(index)
    const events = this.#calls.push({ index, id: asString(field(block, "id")), name: asString(field(block, "name")) })
    // A stream begins with an empty object; the arguments follow in deltas.
    const input = asObject(field(block, "input")) ?? {}
    if (Object.keys(input).length === 0) return events
    this.#begun.add(index)
    return [...events, ...this.#calls.push({ index, arguments: JSON.stringify(input) })]
  }

  add(index: number, delta: unknown): ApiEvent[] {
    const type = field(delta, "type")
    if (type === "text_delta") return text("text-delta", field(delta, "text"))
    if (type === "thinking_delta") return text("reasoning-delta", field(delta, "thinking"))
    if (type !== "input_json_delta" || !this.#open.has(index)) return []
    const piece = asString(field(delta, "partial_json")) ?? ""
    if (piece !== "") this.#begun.add(index)
    return this.#calls.push({ index, arguments: piece })
  }

  stop(index: number): ApiEvent[] {
    if (!this.#open.delete(index)) return []
    if (this.#begun.has(index)) return this.#calls.close(index)
    this.#waiting = index
    return []
  }

  finish(finishReason: ApiFinishReason): ApiEvent[] {
    return [...this.#calls.end(finishReason === "length"), { type: "finish", finishReason }]
  }

  /** The stream is over; calls that are still open broke off. */
  end(): ApiEvent[] {
    return this.#calls.end(true)
  }
}

/** Decodes a whole message: its blocks as a stream of one piece each. */
export function decodeAnthropicResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  return collectReply(anthropicResponseEvents(body, options))
}

/** The events of a whole message. */
export function anthropicResponseEvents(body: unknown, options: ApiDecoderOptions = {}): ApiEvent[] {
  const decoder = createAnthropicStreamDecoder(options)
  if (field(body, "type") === "error") return decoder.push(body)
  const blocks = asArray(field(body, "content")).flatMap((block, index) => [
    ...decoder.push({ type: "content_block_start", index, content_block: block }),
    ...decoder.push({ type: "content_block_stop", index }),
  ])
  const usage = field(body, "usage")
  return [
    ...blocks,
    ...decoder.push({ type: "message_delta", delta: { stop_reason: field(body, "stop_reason") }, usage }),
    ...decoder.end(),
  ]
}

function finishReasonOf(reason: string): ApiFinishReason {
  return Object.hasOwn(FINISH, reason) ? FINISH[reason]! : "unknown"
}

function usageOf(usage: unknown, inputTokens: number): ApiEvent[] {
  const outputTokens = asNumber(field(usage, "output_tokens"))
  if (outputTokens === undefined) return []
  return [{ type: "usage", usage: { inputTokens: inputOf(usage) ?? inputTokens, outputTokens } }]
}

function readError(failed: unknown): ApiEvent {
  return {
    type: "error",
    code: asString(field(failed, "type")) ?? "unknown",
    message: asString(field(failed, "message")) ?? "The server reported a failure.",
  }
}

function text(type: "text-delta" | "reasoning-delta", value: unknown): ApiEvent[] {
  return typeof value === "string" && value !== "" ? [{ type, text: value }] : []
}

/** Tokens read, those from the cache included. */
function inputOf(usage: unknown): number | undefined {
  const fresh = asNumber(field(usage, "input_tokens"))
  if (fresh === undefined) return undefined
  return (
    fresh +
    (asNumber(field(usage, "cache_read_input_tokens")) ?? 0) +
    (asNumber(field(usage, "cache_creation_input_tokens")) ?? 0)
  )
}
