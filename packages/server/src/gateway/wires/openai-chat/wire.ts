import { customNames } from "@toolwright/toolformat"
import type { Wire } from "../../wire.ts"
import { readChat } from "./read.ts"
import { chatCompletion, chatFailure, chatStream } from "./write.ts"

/** OpenAI's chat completions: what most clients of local models speak. */
export const openAIChat: Wire = {
  id: "openai-chat",
  paths: ["/v1/chat/completions"],
  read(body) {
    const options = body.stream_options as { include_usage?: unknown } | null | undefined
    const request = readChat(body)
    const custom = customNames(request.tools)
    return {
      request,
      streamed: (head) => chatStream(head, { includeUsage: options?.include_usage === true, custom }),
      whole: (head, reply) => chatCompletion(head, reply, custom),
    }
  },
  failure: chatFailure,
}
