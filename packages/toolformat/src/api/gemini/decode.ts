import { createCallAssembler } from "../call-assembler.ts"
import { collectReply } from "../events.ts"
import type { ApiDecoderOptions, ApiEvent, ApiFinishReason, ApiReply, ApiStreamDecoder } from "../events.ts"
import { asArray, asNumber, asObject, asString, field } from "../json.ts"

const FILTERED = new Set([
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "LANGUAGE",
  "IMAGE_SAFETY",
])

/** Decodes the responses of `streamGenerateContent`, each of which holds whole parts; calls come in one piece. */
export function createGeminiStreamDecoder(options: ApiDecoderOptions = {}): ApiStreamDecoder {
  const calls = createCallAssembler(options)
  let count = 0

  function readPart(part: unknown): ApiEvent[] {
    const call = asObject(field(part, "functionCall"))
    if (call !== undefined) {
      const index = count
      count += 1
      const args = asObject(call.args) ?? {}
      const events: ApiEvent[] = [
        ...calls.push({ index, id: asString(call.id), name: asString(call.name), arguments: JSON.stringify(args) }),
        ...calls.close(index),
      ]
      const signature = asString(field(part, "thoughtSignature"))
      const end = events.find((event) => event.type === "call-end")
      if (signature !== undefined && end !== undefined)
        events.push({ type: "signature", callId: end.call.id, signature })
      return events
    }
    const text = asString(field(part, "text"))
    if (!text) return []
    return [{ type: field(part, "thought") === true ? "reasoning-delta" : "text-delta", text }]
  }

  return {
    push(response) {
      const events: ApiEvent[] = []
      const failed = asObject(field(response, "error"))
      if (failed !== undefined) {
        events.push({
          type: "error",
          code: String(failed.status ?? failed.code ?? "unknown"),
          message: asString(failed.message) ?? "The server reported a failure.",
        })
      }
      const candidate = asArray(field(response, "candidates"))[0]
      for (const part of asArray(field(field(candidate, "content"), "parts"))) events.push(...readPart(part))
      const usage = readUsage(field(response, "usageMetadata"))
      if (usage !== undefined) events.push(usage)
      const reason = asString(field(candidate, "finishReason"))
      const blocked = asString(field(field(response, "promptFeedback"), "blockReason"))
      if (reason === "MALFORMED_FUNCTION_CALL") {
        const text = asString(field(candidate, "finishMessage")) ?? ""
        events.push({
          type: "problem",
          problem: {
            kind: "invalid-arguments",
            at: 0,
            text,
            message: "Gemini could not read the call that its model wrote.",
            repaired: false,
          },
        })
      }
      if (reason !== undefined) events.push({ type: "finish", finishReason: finishOf(reason, count > 0) })
      else if (blocked !== undefined) events.push({ type: "finish", finishReason: "content-filter" })
      return events
    },
    end: () => calls.end(true),
  }
}

/** Decodes a whole response: a stream of one. */
export function decodeGeminiResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  const decoder = createGeminiStreamDecoder(options)
  return collectReply([...decoder.push(body), ...decoder.end()])
}

function readUsage(usage: unknown): ApiEvent | undefined {
  const inputTokens = asNumber(field(usage, "promptTokenCount"))
  if (inputTokens === undefined) return undefined
  const reasoningTokens = asNumber(field(usage, "thoughtsTokenCount"))
  const outputTokens = (asNumber(field(usage, "candidatesTokenCount")) ?? 0) + (reasoningTokens ?? 0)
  return {
    type: "usage",
    usage: { inputTokens, outputTokens, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) },
  }
}

function finishOf(reason: string, hasCalls: boolean): ApiFinishReason {
  if (reason === "STOP") return hasCalls ? "tool-calls" : "stop"
  if (reason === "MAX_TOKENS") return "length"
  if (FILTERED.has(reason)) return "content-filter"
  return reason === "MALFORMED_FUNCTION_CALL" ? "error" : "unknown"
}
