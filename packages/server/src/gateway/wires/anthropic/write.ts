import type { FinishReason, Usage } from "@toolwright/backends"
import type { AnswerNote } from "@toolwright/dialogue"
import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { GatewayEvent, GatewayFailure, GatewayRequest, ReplyHead, StreamWriter, WholeReply } from "../../wire.ts"
import { estimatedTokens, usageOr } from "../estimate.ts"

const STOP: Partial<Record<FinishReason, string>> = {
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
}

function endedBy({ finishReason, stoppedAt }: Pick<WholeReply, "finishReason" | "stoppedAt">): JsonObject {
  const stopped = stoppedAt !== undefined && finishReason === "stop"
  return {
    stop_reason: stopped ? "stop_sequence" : (STOP[finishReason] ?? "end_turn"),
    stop_sequence: stopped ? stoppedAt : null,
  }
}

/** What the client asked for, as far as its answer depends on it. */
export interface AnthropicReply {
  request: GatewayRequest
  /** Thoughts are shown where they were asked for. */
  thinking: boolean
}

type BlockType = "text" | "thinking"

/** The events of a streamed message. */
export function anthropicStream(head: ReplyHead, reply: AnthropicReply): StreamWriter {
  return new MessageStream(head, reply)
}

class MessageStream implements StreamWriter {
  readonly contentType = "text/event-stream"
  readonly #head: ReplyHead
  readonly #reply: AnthropicReply
  readonly #notes: AnswerNote[] = []
  readonly #blocks = new ContentBlocks()

  constructor(head: ReplyHead, reply: AnthropicReply) {
    this.#head = head
    this.#reply = reply
  }

  begin(): string {
    const usage = wireUsage({ inputTokens: estimatedTokens(this.#reply.request), outputTokens: 0 })
    const message = { ...messageOf(this.#head), content: [], stop_reason: null, stop_sequence: null, usage }
    return frame("message_start", { message })
  }

  event(event: GatewayEvent): string {
    switch (event.type) {
      case "text-delta":
        return this.#blocks.say("text", event.text)
      case "reasoning-delta":
        return this.#reply.thinking ? this.#blocks.say("thinking", event.text) : ""
      case "call":
        return this.#blocks.call(event.call)
      case "note":
        this.#notes.push(event.note)
        return ""
      case "end":
        return this.#end(event)
      default:
        return ""
    }
  }

  alive(): string {
    return frame("ping", {})
  }

  fail(failure: GatewayFailure): string {
    return `event: error\ndata: ${JSON.stringify({ ...anthropicFailure(failure), ...about(this.#notes) })}\n\n`
  }

  #end(event: Extract<GatewayEvent, { type: "end" }>): string {
    const ended = endedBy(event)
    const counted = wireUsage(usageOr(event.usage, this.#reply.request, this.#blocks.written))
    const last = frame("message_delta", { delta: ended, usage: counted, ...about(this.#notes) })
    return `${this.#blocks.close()}${last}${frame("message_stop", {})}`
  }
}

/** The numbered blocks of a message: what is open is closed before another begins. */
class ContentBlocks {
  #index = 0
  #open: BlockType | undefined
  #written = 0

  /** Characters of all blocks so far. */
  get written(): number {
    return this.#written
  }

  say(type: BlockType, text: string): string {
    this.#written += text.length
    const before = this.#open === type ? "" : this.close() + this.#begin(type)
    return (
      before + this.#delta(type === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text })
    )
  }

  call({ id, name, arguments: input }: ToolCall): string {
    const json = JSON.stringify(input)
    this.#written += json.length
    const before = this.close()
    const block = { type: "tool_use", id, name, input: {} }
    return [
      before,
      frame("content_block_start", { index: this.#index, content_block: block }),
      this.#delta({ type: "input_json_delta", partial_json: json }),
      frame("content_block_stop", { index: this.#index++ }),
    ].join("")
  }

  close(): string {
    if (this.#open === undefined) return ""
    const signature = this.#open === "thinking" ? this.#delta({ type: "signature_delta", signature: SIGNATURE }) : ""
    this.#open = undefined
    return signature + frame("content_block_stop", { index: this.#index++ })
  }

  #begin(type: BlockType): string {
    this.#open = type
    const block = type === "text" ? { type, text: "" } : { type, thinking: "", signature: "" }
    return frame("content_block_start", { index: this.#index, content_block: block })
  }

  #delta(what: JsonObject): string {
    return frame("content_block_delta", { index: this.#index, delta: what })
  }
}

/** The same as one message. */
export function anthropicMessage(
  head: ReplyHead,
  reply: WholeReply,
  { request, thinking }: AnthropicReply,
): JsonObject {
  const { text, reasoning, calls, notes, usage } = reply
  const content = [
    ...(thinking && reasoning !== "" ? [{ type: "thinking", thinking: reasoning, signature: SIGNATURE }] : []),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
  ]
  const written = text.length + reasoning.length + JSON.stringify(calls).length
  return {
    ...messageOf(head),
    content,
    ...endedBy(reply),
    usage: wireUsage(usageOr(usage, request, written)),
    ...about(notes),
  }
}

/** Clients send it back with the thoughts; nobody else looks at it. */
const SIGNATURE = "toolwright"

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
}

export function anthropicFailure({ status, message, code, param }: GatewayFailure): JsonObject {
  const type = TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error")
  const told = param === undefined || param === "" ? message : `${param}: ${message}`
  return { type: "error", error: { type, message: told, code } }
}

function frame(type: string, body: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`
}

function messageOf({ id, model }: ReplyHead): JsonObject {
  return { id: `msg_${id.replaceAll("-", "")}`, type: "message", role: "assistant", model }
}

function about(notes: readonly AnswerNote[]): JsonObject {
  return notes.length === 0 ? {} : { toolwright: { notes: [...notes] } }
}

function wireUsage({ inputTokens, outputTokens }: Usage): JsonObject {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  }
}
