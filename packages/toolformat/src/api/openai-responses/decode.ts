import { createCallAssembler, type CallAssembler } from "../call-assembler.ts"
import { CUSTOM_CLOSE, CUSTOM_OPEN, customPiece } from "../custom-tools.ts"
import { collectReply } from "../events.ts"
import type { ApiDecoderOptions, ApiEvent, ApiFinishReason, ApiReply, ApiStreamDecoder } from "../events.ts"
import { asArray, asNumber, asObject, asString, field } from "../json.ts"

/**
 * Decodes the events of OpenAI's Responses API. What the deltas already gave is not repeated from the finished items;
 * what only a finished item holds is still taken.
 */
export function createResponsesStreamDecoder(options: ApiDecoderOptions = {}): ApiStreamDecoder {
  const items = new Items(createCallAssembler(options))
  return {
    push(event) {
      const type = asString(field(event, "type")) ?? ""
      const index = asNumber(field(event, "output_index")) ?? 0
      return Object.hasOwn(EVENTS, type) ? (EVENTS[type]?.(items, index, event) ?? []) : []
    },
    end: () => items.end(true),
  }
}

type Read = (items: Items, index: number, event: unknown) => ApiEvent[]

function addText(type: "text-delta" | "reasoning-delta"): Read {
  return (items, index, event) => items.addText(index, type, asString(field(event, "delta")) ?? "")
}

function finishResponse(isWhole: boolean): Read {
  return (items, _index, event) => [...items.end(!isWhole), ...readEnd(field(event, "response"), items.hasCalls)]
}

/** What each event of the stream says. */
const EVENTS: Readonly<Record<string, Read>> = {
  "response.output_text.delta": addText("text-delta"),
  "response.refusal.delta": addText("text-delta"),
  "response.reasoning_text.delta": addText("reasoning-delta"),
  "response.reasoning_summary_text.delta": addText("reasoning-delta"),
  "response.output_item.added": (items, index, event) => items.read(index, field(event, "item"), false),
  "response.output_item.done": (items, index, event) => items.read(index, field(event, "item"), true),
  "response.function_call_arguments.delta": (items, index, event) =>
    items.addArguments(index, asString(field(event, "delta")) ?? ""),
  "response.function_call_arguments.done": (items, index, event) =>
    items.finishCall(index, asString(field(event, "arguments")) ?? ""),
  "response.custom_tool_call_input.delta": (items, index, event) =>
    items.addCustom(index, asString(field(event, "delta")) ?? ""),
  "response.custom_tool_call_input.done": (items, index, event) =>
    items.finishText(index, asString(field(event, "input")) ?? ""),
  "response.completed": finishResponse(true),
  "response.incomplete": finishResponse(false),
  "response.failed": finishResponse(false),
  error: (_items, _index, event) => [readError(asObject(field(event, "error")) ?? event)],
}

/** The output items of one response, and what of each was already handed on. */
class Items {
  hasCalls = false
  readonly #calls: CallAssembler
  readonly #told = new Set<number>()
  readonly #finished = new Set<number>()
  readonly #received = new Map<number, string>()

  constructor(calls: CallAssembler) {
    this.#calls = calls
  }

  addText(index: number, type: "text-delta" | "reasoning-delta", text: string): ApiEvent[] {
    this.#told.add(index)
    return text === "" ? [] : [{ type, text }]
  }

  addArguments(index: number, text: string): ApiEvent[] {
    this.#received.set(index, (this.#received.get(index) ?? "") + text)
    return this.#calls.push({ index, arguments: text })
  }

  /** A piece of a custom tool's text, as a piece of the JSON of its arguments. */
  addCustom(index: number, text: string): ApiEvent[] {
    const open = this.#received.has(index) ? "" : CUSTOM_OPEN
    return this.addArguments(index, open + customPiece(text))
  }

  finishText(index: number, whole: string): ApiEvent[] {
    if (this.#finished.has(index)) return []
    const events = this.#received.has(index) ? [] : this.addCustom(index, whole)
    return [...events, ...this.addArguments(index, CUSTOM_CLOSE), ...this.finishCall(index, "")]
  }

  finishCall(index: number, whole: string): ApiEvent[] {
    if (this.#finished.has(index)) return []
    this.#finished.add(index)
    const known = this.#received.get(index) ?? ""
    return [...(known === "" ? this.addArguments(index, whole) : []), ...this.#calls.close(index)]
  }

  read(index: number, item: unknown, isDone: boolean): ApiEvent[] {
    const isNew = !this.#told.has(index)
    const type = field(item, "type")
    if (type === "function_call" || type === "custom_tool_call") {
      this.hasCalls = true
      this.#told.add(index)
      const [id, name] = [asString(field(item, "call_id")), asString(field(item, "name"))]
      const events = isNew ? this.#calls.push({ index, id, name }) : []
      if (!isDone) return events
      if (type === "custom_tool_call")
        return [...events, ...this.finishText(index, asString(field(item, "input")) ?? "")]
      return [...events, ...this.finishCall(index, asString(field(item, "arguments")) ?? "")]
    }
    if (!isDone || !isNew) return []
    this.#told.add(index)
    return textsOf(item)
  }

  /** Ends the calls that are still open. */
  end(cutOff: boolean): ApiEvent[] {
    return this.#calls.end(cutOff)
  }
}

/** The texts of a finished item. */
function textsOf(item: unknown): ApiEvent[] {
  const isReasoning = field(item, "type") === "reasoning"
  const type = isReasoning ? "reasoning-delta" : "text-delta"
  const parts = [...asArray(field(item, "content")), ...(isReasoning ? asArray(field(item, "summary")) : [])]
  return parts.flatMap((part): ApiEvent[] => {
    const text = asString(field(part, "text")) ?? asString(field(part, "refusal"))
    return text ? [{ type, text }] : []
  })
}

/** Decodes a whole response: its items as if they had just been finished. */
export function decodeResponsesResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  return collectReply(responsesResponseEvents(body, options))
}

/** The events of a whole response. */
export function responsesResponseEvents(body: unknown, options: ApiDecoderOptions = {}): ApiEvent[] {
  const decoder = createResponsesStreamDecoder(options)
  const items = asArray(field(body, "output")).flatMap((item, index) =>
    decoder.push({ type: "response.output_item.done", output_index: index, item }),
  )
  return [...items, ...decoder.push({ type: "response.completed", response: body })]
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
