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

/** What the client asked for, as far as its answer depends on it. */
export interface AnthropicReply {
  request: GatewayRequest
  /** Thoughts are shown where they were asked for. */
  thinking: boolean
}

type BlockType = "text" | "thinking"

/** The events of a streamed message. */
export function anthropicStream(head: ReplyHead, { request, thinking }: AnthropicReply): StreamWriter {
  const notes: AnswerNote[] = []
  let blocks = 0
  let open: BlockType | undefined
  let written = 0

  const close = (): string => {
    if (open === undefined) return ""
    const signature = open === "thinking" ? delta({ type: "signature_delta", signature: SIGNATURE }) : ""
    open = undefined
    return signature + frame("content_block_stop", { index: blocks++ })
  }
  const delta = (what: JsonObject): string => frame("content_block_delta", { index: blocks, delta: what })
  const say = (type: BlockType, text: string): string => {
    written += text.length
    const before = open === type ? "" : close() + begin(type)
    return before + delta(type === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text })
  }
  const begin = (type: BlockType): string => {
    open = type
    const block = type === "text" ? { type, text: "" } : { type, thinking: "", signature: "" }
    return frame("content_block_start", { index: blocks, content_block: block })
  }
  const call = ({ id, name, arguments: input }: ToolCall): string => {
    const json = JSON.stringify(input)
    written += json.length
    const before = close()
    return [
      before,
      frame("content_block_start", { index: blocks, content_block: { type: "tool_use", id, name, input: {} } }),
      delta({ type: "input_json_delta", partial_json: json }),
      frame("content_block_stop", { index: blocks++ }),
    ].join("")
  }
  const end = (finishReason: FinishReason, usage: Usage | undefined): string => {
    const ended = { stop_reason: STOP[finishReason] ?? "end_turn", stop_sequence: null }
    const counted = wireUsage(usageOr(usage, request, written))
    return `${close()}${frame("message_delta", { delta: ended, usage: counted, ...about(notes) })}${frame("message_stop", {})}`
  }

  function write(event: GatewayEvent): string {
    switch (event.type) {
      case "text-delta":
        return say("text", event.text)
      case "reasoning-delta":
        return thinking ? say("thinking", event.text) : ""
      case "call":
        return call(event.call)
      case "note":
        notes.push(event.note)
        return ""
      case "end":
        return end(event.finishReason, event.usage)
      default:
        return ""
    }
  }

  return {
    contentType: "text/event-stream",
    begin: () => {
      const usage = wireUsage({ inputTokens: estimatedTokens(request), outputTokens: 0 })
      const message = { ...messageOf(head), content: [], stop_reason: null, stop_sequence: null, usage }
      return frame("message_start", { message })
    },
    event: write,
    alive: () => frame("ping", {}),
    fail: (failure) => `event: error\ndata: ${JSON.stringify(anthropicFailure(failure))}\n\n`,
  }
}

/** The same as one message. */
export function anthropicMessage(
  head: ReplyHead,
  reply: WholeReply,
  { request, thinking }: AnthropicReply,
): JsonObject {
  const { text, reasoning, calls, notes, finishReason, usage } = reply
  const content = [
    ...(thinking && reasoning !== "" ? [{ type: "thinking", thinking: reasoning, signature: SIGNATURE }] : []),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
  ]
  const written = text.length + reasoning.length + JSON.stringify(calls).length
  return {
    ...messageOf(head),
    content,
    stop_reason: STOP[finishReason] ?? "end_turn",
    stop_sequence: null,
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
