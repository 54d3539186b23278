import { createCallAssembler } from "../call-assembler.ts"
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
  const calls = createCallAssembler(options)
  const open = new Set<number>()
  const begun = new Set<number>()
  /** A finished call without arguments: only what follows tells whether it has none or broke off before them. */
  let waiting: number | undefined
  let inputTokens = 0

  function settle(): ApiEvent[] {
    const events = waiting === undefined ? [] : calls.close(waiting)
    waiting = undefined
    return events
  }

  function stopBlock(index: number): ApiEvent[] {
    if (!open.delete(index)) return []
    if (begun.has(index)) return calls.close(index)
    waiting = index
    return []
  }

  function startBlock(index: number, block: unknown): ApiEvent[] {
    const type = field(block, "type")
    if (type === "text") return text("text-delta", field(block, "text"))
    if (type === "thinking") return text("reasoning-delta", field(block, "thinking"))
    if (type !== "tool_use") return []
    open.add(index)
    const events = calls.push({ index, id: asString(field(block, "id")), name: asString(field(block, "name")) })
    // A stream begins with an empty object; the arguments follow in deltas.
    const input = asObject(field(block, "input")) ?? {}
    if (Object.keys(input).length === 0) return events
    begun.add(index)
    return [...events, ...calls.push({ index, arguments: JSON.stringify(input) })]
  }

  function addDelta(index: number, delta: unknown): ApiEvent[] {
    const type = field(delta, "type")
    if (type === "text_delta") return text("text-delta", field(delta, "text"))
    if (type === "thinking_delta") return text("reasoning-delta", field(delta, "thinking"))
    if (type !== "input_json_delta" || !open.has(index)) return []
    const piece = asString(field(delta, "partial_json")) ?? ""
    if (piece !== "") begun.add(index)
    return calls.push({ index, arguments: piece })
  }

  return {
    push(event) {
      const index = asNumber(field(event, "index")) ?? 0
      switch (field(event, "type")) {
        case "message_start":
          inputTokens = inputOf(field(field(event, "message"), "usage")) ?? 0
          return []
        case "content_block_start":
          return [...settle(), ...startBlock(index, field(event, "content_block"))]
        case "content_block_delta":
          return addDelta(index, field(event, "delta"))
        case "content_block_stop":
          return stopBlock(index)
        case "message_delta": {
          const events: ApiEvent[] = []
          const reason = asString(field(field(event, "delta"), "stop_reason"))
          const usage = field(event, "usage")
          const outputTokens = asNumber(field(usage, "output_tokens"))
          if (outputTokens !== undefined)
            events.push({ type: "usage", usage: { inputTokens: inputOf(usage) ?? inputTokens, outputTokens } })
          if (reason !== undefined) {
            const finishReason = Object.hasOwn(FINISH, reason) ? FINISH[reason]! : "unknown"
            events.push(...calls.end(finishReason === "length"), { type: "finish", finishReason })
          }
          return events
        }
        case "error": {
          const failed = field(event, "error")
          return [
            {
              type: "error",
              code: asString(field(failed, "type")) ?? "unknown",
              message: asString(field(failed, "message")) ?? "The server reported a failure.",
            },
          ]
        }
        default:
          return []
      }
    },
    end: () => calls.end(true),
  }
}

/** Decodes a whole message: its blocks as a stream of one piece each. */
export function decodeAnthropicResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  const decoder = createAnthropicStreamDecoder(options)
  if (field(body, "type") === "error") return collectReply(decoder.push(body))
  const blocks = asArray(field(body, "content")).flatMap((block, index) => [
    ...decoder.push({ type: "content_block_start", index, content_block: block }),
    ...decoder.push({ type: "content_block_stop", index }),
  ])
  const usage = field(body, "usage")
  return collectReply([
    ...blocks,
    ...decoder.push({ type: "message_delta", delta: { stop_reason: field(body, "stop_reason") }, usage }),
    ...decoder.end(),
  ])
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
