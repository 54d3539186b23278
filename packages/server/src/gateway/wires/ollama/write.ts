import type { FinishReason, Usage } from "@toolwright/backends"
import type { AnswerNote } from "@toolwright/dialogue"
import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { GatewayEvent, GatewayFailure, GatewayRequest, ReplyHead, StreamWriter, WholeReply } from "../../wire.ts"
import { usageOr } from "../estimate.ts"

/** What an answer is written from. */
export interface OllamaReply {
  request: GatewayRequest
  /** `/api/generate` has its text at the top, and no calls. */
  generate: boolean
  /** Thoughts are shown unless they were declined. */
  thinking: boolean
  /** When the request came, by `performance.now()`. */
  started: number
}

/** Lines of JSON, the last of which says how it ended. */
export function ollamaStream(head: ReplyHead, about: OllamaReply): StreamWriter {
  const notes: AnswerNote[] = []
  let calls = 0
  let written = 0

  function write(event: GatewayEvent): string {
    switch (event.type) {
      case "text-delta":
        written += event.text.length
        return line({ ...nameOf(head), ...said(about, { text: event.text }), done: false })
      case "reasoning-delta":
        written += event.text.length
        return about.thinking ? line({ ...nameOf(head), ...said(about, { reasoning: event.text }), done: false }) : ""
      case "call":
        written += JSON.stringify(event.call.arguments).length
        return line({ ...nameOf(head), ...said(about, { calls: [wireCall(event.call, calls++)] }), done: false })
      case "note":
        notes.push(event.note)
        return ""
      case "end":
        return line({
          ...nameOf(head),
          ...said(about, {}),
          ...ending(event.finishReason, usageOr(event.usage, about.request, written), about.started),
          ...noted(notes),
        })
      default:
        return ""
    }
  }

  return {
    contentType: "application/x-ndjson",
    begin: () => "",
    event: write,
    // Clients read an empty piece as nothing; an empty line some of them cannot read.
    alive: () => line({ ...nameOf(head), ...said(about, {}), done: false }),
    fail: (failure) => line({ ...ollamaFailure(failure), ...noted(notes) }),
  }
}

/** The same as one body. */
export function ollamaWhole(head: ReplyHead, reply: WholeReply, about: OllamaReply): JsonObject {
  const { text, reasoning, calls, notes, finishReason, usage } = reply
  const written = text.length + reasoning.length + JSON.stringify(calls).length
  return {
    ...nameOf(head),
    ...said(about, { text, ...(about.thinking ? { reasoning } : {}), calls: calls.map(wireCall) }),
    ...ending(finishReason, usageOr(usage, about.request, written), about.started),
    ...noted(notes),
  }
}

export function ollamaFailure({ message }: GatewayFailure): JsonObject {
  return { error: message }
}

interface Said {
  text?: string
  reasoning?: string
  calls?: JsonObject[]
}

function said({ generate }: OllamaReply, { text = "", reasoning = "", calls = [] }: Said): JsonObject {
  const thinking = reasoning === "" ? {} : { thinking: reasoning }
  if (generate) return { response: text, ...thinking }
  const called = calls.length === 0 ? {} : { tool_calls: calls }
  return { message: { role: "assistant", content: text, ...thinking, ...called } }
}

function wireCall({ id, name, arguments: args }: ToolCall, index: number): JsonObject {
  return { id, function: { index, name, arguments: args } }
}

/** Times are in nanoseconds; only the whole of it is known here. */
function ending(reason: FinishReason, { inputTokens, outputTokens }: Usage, started: number): JsonObject {
  const total = Math.round((performance.now() - started) * 1e6)
  return {
    done: true,
    done_reason: reason === "length" ? "length" : "stop",
    total_duration: total,
    load_duration: 0,
    prompt_eval_count: inputTokens,
    prompt_eval_duration: 0,
    eval_count: outputTokens,
    eval_duration: total,
  }
}

function nameOf({ model, created }: ReplyHead): JsonObject {
  return { model, created_at: new Date(created * 1000).toISOString() }
}

function noted(notes: readonly AnswerNote[]): JsonObject {
  return notes.length === 0 ? {} : { toolwright: { notes: [...notes] } }
}

function line(body: JsonObject): string {
  return `${JSON.stringify(body)}\n`
}
