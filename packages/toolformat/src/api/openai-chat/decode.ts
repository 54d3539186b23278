import { createCallAssembler, type CallAssembler } from "../call-assembler.ts"
import { CUSTOM_CLOSE, CUSTOM_OPEN, customPiece } from "../custom-tools.ts"
import { collectReply } from "../events.ts"
import type { ApiDecoderOptions, ApiEvent, ApiFinishReason, ApiReply, ApiStreamDecoder, ApiUsage } from "../events.ts"
import { argumentsText, asArray, asNumber, asObject, asString, field } from "../json.ts"

/**
 * Decodes a streamed chat completion, chunk object by chunk object (`data: [DONE]` is the transport's matter). Only the
 * first choice is read. Text comes from `content` (a string, or parts as Mistral sends them) and `refusal`, reasoning
 * from `reasoning_content` or `reasoning`; calls from `tool_calls`, and from the older `function_call`.
 */
export function createOpenAIStreamDecoder(options: ApiDecoderOptions = {}): ApiStreamDecoder {
  const calls = createCallAssembler(options)
  const texts = new CustomTexts(calls)
  return {
    push(chunk) {
      const events: ApiEvent[] = []
      const failed = field(chunk, "error")
      if (failed !== undefined && failed !== null) events.push(readError(failed))
      const choice = asArray(field(chunk, "choices")).find((each) => (asNumber(field(each, "index")) ?? 0) === 0)
      const delta = field(choice, "delta")
      for (const event of readText(delta)) events.push(event)
      for (const call of asArray(field(delta, "tool_calls")))
        events.push(...(texts.read(call) ?? calls.push(readCall(call))))
      const legacy = asObject(field(delta, "function_call"))
      if (legacy !== undefined) events.push(...calls.push(readCall({ index: 0, function: legacy })))
      const reason = asString(field(choice, "finish_reason"))
      if (reason !== undefined)
        events.push(...texts.close(reason !== "length"), ...calls.end(reason === "length"), {
          type: "finish",
          finishReason: finishReasonOf(reason),
        })
      const usage = readUsage(field(chunk, "usage"))
      if (usage !== undefined) events.push({ type: "usage", usage })
      return events
    },
    end: () => calls.end(true),
  }
}

/** Calls of custom tools, whose texts come in pieces: they end with the reply. */
class CustomTexts {
  readonly #calls: CallAssembler
  readonly #open = new Set<number>()

  constructor(calls: CallAssembler) {
    this.#calls = calls
  }

  /** Nothing for a call of another kind. */
  read(call: unknown): ApiEvent[] | undefined {
    const body = asObject(field(call, "custom"))
    if (body === undefined) return undefined
    const index = asNumber(field(call, "index")) ?? 0
    const begun = this.#open.has(index) ? "" : CUSTOM_OPEN
    this.#open.add(index)
    const text = begun + customPiece(asString(body.input) ?? "")
    return this.#calls.push({ index, id: asString(field(call, "id")), name: asString(body.name), arguments: text })
  }

  close(isWhole: boolean): ApiEvent[] {
    const open = isWhole ? [...this.#open] : []
    this.#open.clear()
    return open.flatMap((index) => this.#calls.push({ index, arguments: CUSTOM_CLOSE }))
  }
}

/** Decodes a whole chat completion: the same as its stream in one chunk. Never throws; see `problems` and `error`. */
export function decodeOpenAIResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  const decoder = createOpenAIStreamDecoder(options)
  const choices = asArray(field(body, "choices")).map((choice) => {
    const message = asObject(field(choice, "message")) ?? {}
    const calls = asArray(message.tool_calls).map((call, index) => ({ ...asObject(call), index }))
    return { ...asObject(choice), delta: { ...message, tool_calls: calls } }
  })
  return collectReply([...decoder.push({ ...asObject(body), choices }), ...decoder.end()])
}

function readText(delta: unknown): ApiEvent[] {
  const events: ApiEvent[] = []
  const add = (type: "text-delta" | "reasoning-delta", text: unknown): boolean => {
    if (typeof text !== "string" || text === "") return false
    events.push({ type, text })
    return true
  }
  // Some servers send the same reasoning under both names.
  if (!add("reasoning-delta", field(delta, "reasoning_content"))) add("reasoning-delta", field(delta, "reasoning"))
  const content = field(delta, "content")
  add("text-delta", content)
  for (const part of asArray(content)) {
    add("text-delta", field(part, "text"))
    for (const thought of asArray(field(part, "thinking"))) add("reasoning-delta", field(thought, "text"))
  }
  add("text-delta", field(delta, "refusal"))
  return events
}

function readCall(call: unknown) {
  const body = field(call, "function")
  return {
    index: asNumber(field(call, "index")),
    id: asString(field(call, "id")),
    name: asString(field(body, "name")),
    arguments: argumentsText(field(body, "arguments")),
  }
}

function readError(failed: unknown): ApiEvent {
  const code = field(failed, "code") ?? field(failed, "type")
  const message = asString(failed) ?? asString(field(failed, "message")) ?? JSON.stringify(failed)
  return { type: "error", code: code === undefined || code === null ? "unknown" : String(code), message }
}

function readUsage(usage: unknown): ApiUsage | undefined {
  const inputTokens = asNumber(field(usage, "prompt_tokens"))
  const outputTokens = asNumber(field(usage, "completion_tokens"))
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  const reasoningTokens = asNumber(field(field(usage, "completion_tokens_details"), "reasoning_tokens"))
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

function finishReasonOf(reason: string): ApiFinishReason {
  if (reason === "stop" || reason === "length" || reason === "error") return reason
  if (reason === "tool_calls" || reason === "function_call") return "tool-calls"
  return reason === "content_filter" ? "content-filter" : "unknown"
}
