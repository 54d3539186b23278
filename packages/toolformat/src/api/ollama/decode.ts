import { createCallAssembler } from "../call-assembler.ts"
import { collectReply } from "../events.ts"
import type { ApiDecoderOptions, ApiEvent, ApiReply, ApiStreamDecoder } from "../events.ts"
import { argumentsText, asArray, asNumber, asString, field } from "../json.ts"

/** Decodes the lines of a streamed /api/chat answer; calls come whole, several in one line or one in each. */
export function createOllamaStreamDecoder(options: ApiDecoderOptions = {}): ApiStreamDecoder {
  const calls = createCallAssembler(options)
  let count = 0
  return {
    push(line) {
      const events: ApiEvent[] = []
      const failed = asString(field(line, "error"))
      if (failed !== undefined) events.push({ type: "error", code: "unknown", message: failed })
      const message = field(line, "message")
      const thinking = asString(field(message, "thinking"))
      const content = asString(field(message, "content"))
      if (thinking) events.push({ type: "reasoning-delta", text: thinking })
      if (content) events.push({ type: "text-delta", text: content })
      for (const call of asArray(field(message, "tool_calls"))) {
        const index = count
        count += 1
        const body = field(call, "function")
        events.push(
          ...calls.push({
            index,
            id: asString(field(call, "id")),
            name: asString(field(body, "name")),
            arguments: argumentsText(field(body, "arguments")),
          }),
          ...calls.close(index),
        )
      }
      if (field(line, "done") === true) {
        const inputTokens = asNumber(field(line, "prompt_eval_count"))
        const outputTokens = asNumber(field(line, "eval_count"))
        if (outputTokens !== undefined)
          events.push({ type: "usage", usage: { inputTokens: inputTokens ?? 0, outputTokens } })
        const reason = asString(field(line, "done_reason")) ?? "stop"
        events.push({
          type: "finish",
          finishReason:
            reason === "length" ? "length" : reason !== "stop" ? "unknown" : count > 0 ? "tool-calls" : "stop",
        })
      }
      return events
    },
    end: () => calls.end(true),
  }
}

/** Decodes an answer that was not streamed: one line. */
export function decodeOllamaResponse(body: unknown, options: ApiDecoderOptions = {}): ApiReply {
  const decoder = createOllamaStreamDecoder(options)
  return collectReply([...decoder.push(body), ...decoder.end()])
}
