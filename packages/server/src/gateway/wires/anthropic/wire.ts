import type { Wire } from "../../wire.ts"
import { estimatedTokens } from "../estimate.ts"
import { readAnthropic, wantsThinking } from "./read.ts"
import { anthropicFailure, anthropicMessage, anthropicStream } from "./write.ts"

/** Anthropic's Messages, as Claude Code speaks them. */
export const anthropicMessages: Wire = {
  id: "anthropic",
  paths: ["/v1/messages"],
  read(body) {
    const request = readAnthropic(body)
    const about = { request, thinking: wantsThinking(body) }
    return {
      request,
      streamed: (head) => anthropicStream(head, about),
      whole: (head, reply) => anthropicMessage(head, reply, about),
    }
  },
  failure: anthropicFailure,
  /** An estimate: the model's server is not asked. */
  others: { "/v1/messages/count_tokens": (body) => ({ input_tokens: estimatedTokens(readAnthropic(body)) }) },
}
