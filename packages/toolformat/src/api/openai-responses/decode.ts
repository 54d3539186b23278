import { createCallAssembler } from "../call-assembler.ts"
import { collectReply } from "../events.ts"
import type { ApiDecoderOptions, ApiEvent, ApiFinishReason, ApiReply, ApiStreamDecoder } from "../events.ts"
import { asArray, asNumber, asObject, asString, field } from "../json.ts"

const TEXT_EVENTS: Record<string, "text-delta" | "reasoning-delta"> = {
  "response.output_text.delta": "text-delta",
  "response.refusal.delta": "text-delta",
  "response.reasoning_text.delta": "reasoning-delta",
  "response.reasoning_summary_text.delta": "reasoning-delta",
}

/**
 * Decodes the events of OpenAI's Responses API. What the deltas already gave is not repeated from the finished items;
 * what
 * only a finished item holds is still taken.
 */
export function createResponsesStreamDecoder(options: ApiDecoderOptions = {}): ApiStreamDecoder {
  const calls = createCallAssembler(options)
  const told = new Set<number>()
  const finished = new Set<number>()
  const received = new Map<number, string>()
  let hasCalls = false

  function addArguments(index: number, text: string): ApiEvent[] {
    received.set(index, (received.get(index) ?? "") + text)
    return calls.push({ index, arguments: text })
  }

  function finishCall(index: number, whole: string): ApiEvent[] {
    if (finished.has(index)) return []
    finished.add(index)
    const known = received.get(index) ?? ""
    return [...(known === "" ? addArguments(index, whole) : []), ...calls.close(index)]
  }

  function readItem(index: number, item: unknown, isDone: boolean): ApiEvent[] {
    const type = field(item, "type")
    if (type === "function_call") {
      hasCalls = true
      const args = asString(field(item, "arguments")) ?? ""
      const events = told.has(index)
        ? []
        : calls.push({ index, id: asString(field(item, "call_id")), name: asString(field(item, "name")) })
      told.add(index)
      return isDone ? [...events, ...finishCall(index, args)] : events
    }
    if (!isDone || told.has(index)) return []
    told.add(index)
    const isReasoning = type === "reasoning"
    const kind = isReasoning ? "reasoning-delta" : "text-delta"
    const parts = [...asArray(field(item, "content")), ...(isReasoning ? asArray(field(item, "summary")) : [])]
    return parts.flatMap((part): ApiEvent[] => {
      const text = asString(field(part, "text")) ?? asString(field(part, "refusal"))
      return text ? [{ type: kind, text }] : []
    })
  }

  return {
    push(event) {
      const type = asString(field(event, "type")) ?? ""
      const index = asNumber(field(event, "output_index")) ?? 0
      const delta = asString(field(event, "delta")) ?? ""
      const kind = Object.hasOwn(TEXT_EVENTS, type) ? TEXT_EVENTS[type] : undefined
      if (kind !== undefined) {
        told.add(index)
        return delta === "" ? [] : [{ type: kind, text: delta }]
      }
      switch (type) {
        case "response.output_item.added":
          return readItem(index, field(event, "item"), false)
        case "response.output_item.done":
          return readItem(index, field(event, "item"), true)
        case "response.function_call_arguments.delta":
          return addArguments(index, delta)
        case "response.function_call_arguments.done":
          return finishCall(index, asString(field(event, "arguments")) ?? "")
        case "response.completed":
        case "response.incomplete":
        case "response.failed":
          return [...calls.end(type !== "response.completed"), ...readEnd(field(event, "response"), hasCalls)]
        case "error":
          return [readError(asObject(field(event, "error")) ?? event)]
        default:
          return []
      }
    },
    end: () => calls.end(true),
  }
}

/** Decodes a whole response: its items as if they had just been finished. */
export function decodeResponsesResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  const decoder = createResponsesStreamDecoder(options)
  const items = asArray(field(body, "output")).flatMap((item, index) =>
    decoder.push({ type: "response.output_item.done", output_index: index, item }),
  )
  return collectReply([...items, ...decoder.push({ type: "response.completed", response: body })])
}

function readEnd(response: unknown, hasCalls: boolean): ApiEvent[] {
  const events: ApiEvent[] = []
  const failed = asObject(field(response, "error"))
  if (failed !== undefined) events.push(readError(failed))
  const usage = field(response, "usage")
  const inputTokens = asNumber(field(usage, "input_tokens"))
  if (inputTokens !== undefined) {
    const reasoningTokens = asNumber(field(field(usage, "output_tokens_details"), "reasoning_tokens"))
    const outputTokens = asNumber(field(usage, "output_tokens")) ?? 0
    events.push({
      type: "usage",
      usage: { inputTokens, outputTokens, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) },
    })
  }
  return [...events, { type: "finish", finishReason: finishOf(response, hasCalls) }]
}

function finishOf(response: unknown, hasCalls: boolean): ApiFinishReason {
  const status = field(response, "status")
  if (status === "failed" || status === "cancelled") return "error"
  if (status === "incomplete") {
    const reason = field(field(response, "incomplete_details"), "reason")
    return reason === "max_output_tokens" ? "length" : reason === "content_filter" ? "content-filter" : "unknown"
  }
  return hasCalls ? "tool-calls" : "stop"
}

function readError(failed: unknown): ApiEvent {
  return {
    type: "error",
    code: asString(field(failed, "code")) ?? asString(field(failed, "type")) ?? "unknown",
    message: asString(field(failed, "message")) ?? "The server reported a failure.",
  }
}
