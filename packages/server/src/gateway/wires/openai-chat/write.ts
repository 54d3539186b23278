import type { FinishReason, Usage } from "@toolwright/backends"
import type { AnswerNote } from "@toolwright/dialogue"
import type { JsonObject } from "@toolwright/toolbox"
import { wireCall } from "@toolwright/toolformat"
import type { GatewayEvent, GatewayFailure, ReplyHead, StreamWriter, WholeReply } from "../../wire.ts"

const FINISH: Partial<Record<FinishReason, string>> = {
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  length: "length",
}

/** What of a request an answer in pieces depends on. */
interface ChatAnswer {
  includeUsage: boolean
  /** The names of custom tools, whose calls are a text. */
  custom: ReadonlySet<string>
}

/**
 * Chunks of a streamed chat completion. Notes and steps travel in fields of their own, which other clients pass over.
 */
export function chatStream(head: ReplyHead, { includeUsage, custom }: ChatAnswer): StreamWriter {
  const notes: AnswerNote[] = []
  let calls = 0
  const frame = (body: object): string => `data: ${JSON.stringify(body)}\n\n`
  // Who asks for the counts is told in every piece before them that they are not known yet.
  const named = { ...nameOf(head), object: "chat.completion.chunk", ...(includeUsage ? { usage: null } : {}) }
  const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
    frame({ ...named, choices: [{ index: 0, delta, finish_reason: finish }], ...more })

  function write(event: GatewayEvent): string {
    switch (event.type) {
      case "text-delta":
        return chunk({ content: event.text })
      case "reasoning-delta":
        return chunk({ reasoning_content: event.text })
      case "call":
        return chunk({ tool_calls: [{ index: calls++, ...wireCall(event.call, custom.has(event.call.name)) }] })
      case "step":
        return chunk({ reasoning_event: event.event })
      case "note":
        notes.push(event.note)
        return ""
      case "end": {
        const end = chunk({}, FINISH[event.finishReason] ?? "stop", about(notes))
        const usage = includeUsage ? frame({ ...named, choices: [], usage: wireUsage(event.usage) }) : ""
        return `${end}${usage}data: [DONE]\n\n`
      }
      default:
        return ""
    }
  }

  return {
    contentType: "text/event-stream",
    begin: () => chunk({ role: "assistant", content: "" }),
    event: write,
    alive: () => ": the model is at work\n\n",
    fail: (failure) => `${frame({ ...chatFailure(failure), ...about(notes) })}data: [DONE]\n\n`,
  }
}

/** The same as one body. */
export function chatCompletion(head: ReplyHead, reply: WholeReply, custom: ReadonlySet<string>): JsonObject {
  const { text, reasoning, calls, notes, finishReason, usage } = reply
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => wireCall(call, custom.has(call.name))) }),
  }
  return {
    ...nameOf(head),
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[finishReason] ?? "stop" }],
    ...(usage === undefined ? {} : { usage: wireUsage(usage) }),
    ...about(notes),
  }
}

export function chatFailure({ status, code, message, param }: GatewayFailure): JsonObject {
  return {
    error: {
      message,
      type: TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error"),
      param: param ?? null,
      code,
    },
  }
}

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
}

function nameOf({ id, model, created }: ReplyHead): JsonObject {
  return { id: `chatcmpl-${id}`, model, created }
}

function about(notes: readonly AnswerNote[]): JsonObject {
  return notes.length === 0 ? {} : { toolwright: { notes: [...notes] } }
}

function wireUsage(usage: Usage | undefined): JsonObject | null {
  if (usage === undefined) return null
  const { inputTokens, outputTokens, reasoningTokens } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}
