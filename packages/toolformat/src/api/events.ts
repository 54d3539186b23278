import type { ParsedReply, ServerEvent } from "../model/formatter.ts"

/** Why generation ended, over all APIs. */
export type ApiFinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "error" | "unknown"

/** Token counts as the server reports them. */
export interface ApiUsage {
  inputTokens: number
  outputTokens: number
  reasoningTokens?: number
}

/**
 * One step of decoding an API's stream: the events of a text parser, and what only an API tells. `error` is a failure
 * that the server reports inside a successful response; `signature` is what Gemini wants back with the call.
 */
export type ApiEvent =
  | ServerEvent
  | { type: "usage"; usage: ApiUsage }
  | { type: "finish"; finishReason: ApiFinishReason }
  | { type: "error"; code: string; message: string }
  | { type: "signature"; callId: string; signature: string }

/** A whole response, decoded. `error` is set when the body holds a failure instead of a reply. */
export interface ApiReply extends ParsedReply {
  finishReason: ApiFinishReason
  usage?: ApiUsage
  error?: { code: string; message: string }
  /** By call id: Gemini's thought signatures, which must be sent back with the calls. */
  signatures?: Record<string, string>
}

/**
 * Decodes one streamed response. `push` takes a parsed event of the wire (the object, not its text) and never throws;
 * unknown events and fields are passed over. `end` closes calls that the server left open; after it the decoder is
 * spent.
 */
export interface ApiStreamDecoder {
  push(event: unknown): ApiEvent[]
  end(): ApiEvent[]
}

/** Settings of a decoder. */
export interface ApiDecoderOptions {
  /** Names a call whose server gave it no id; `index` counts the reply's calls from 0. `call_{index}` unless given. */
  newId?: (index: number) => string
}

/** Folds the events of one response into a whole reply. */
export function collectReply(events: Iterable<ApiEvent>): ApiReply {
  const reply: ApiReply = { calls: [], content: "", reasoning: "", problems: [], finishReason: "unknown" }
  for (const event of events) {
    if (event.type === "text-delta") reply.content += event.text
    else if (event.type === "reasoning-delta") reply.reasoning += event.text
    else if (event.type === "call-end") reply.calls[event.index] = event.call
    else if (event.type === "problem") reply.problems.push(event.problem)
    else if (event.type === "usage") reply.usage = event.usage
    else if (event.type === "finish") reply.finishReason = event.finishReason
    else if (event.type === "signature") reply.signatures = { ...reply.signatures, [event.callId]: event.signature }
    else if (event.type === "error") reply.error = { code: event.code, message: event.message }
  }
  // A call that was refused leaves a hole at its index.
  reply.calls = reply.calls.filter((call) => call !== undefined)
  return reply
}
