import type { Wire } from "../../wire.ts"
import { readChat } from "./read.ts"
import { chatCompletion, chatFailure, chatStream } from "./write.ts"

/** OpenAI's chat completions: what most clients of local models speak. */
export const openAIChat: Wire = {
  id: "openai-chat",
  paths: ["/v1/chat/completions"],
  read(body) {
    const options = body.stream_options as { include_usage?: unknown } | null | undefined
    return {
      request: readChat(body),
      streamed: (head) => chatStream(head, options?.include_usage === true),
      whole: chatCompletion,
    }
  },
  failure: chatFailure,
}
