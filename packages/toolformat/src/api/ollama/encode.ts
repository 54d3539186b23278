import type { JsonObject } from "@toolwright/toolbox"
import type { ChatMessage } from "../../model/message.ts"
import { refuseMedia } from "../media.ts"

/**
 * A conversation for Ollama's /api/chat (https://docs.ollama.com/api/chat): arguments are objects, results name their
 * tool, pictures are bare base64. Tools go in OpenAI's form (`toOpenAITools`).
 *
 * @throws ToolwrightError `UNSUPPORTED_MEDIA` for sounds
 */
export function toOllamaMessages(
  messages: readonly ChatMessage[],
  options: { includeReasoning?: boolean } = {},
): JsonObject[] {
  return messages.map((message) => {
    if (message.role === "system") return { role: "system", content: message.content }
    if (message.role === "tool") return { role: "tool", tool_name: message.name, content: message.content }
    if (message.role === "user") {
      const images = (message.media ?? []).map((part) =>
        part.type === "image" && !("url" in part) ? part.base64 : refuseMedia("Ollama", part),
      )
      return { role: "user", content: message.content, ...(images.length === 0 ? {} : { images }) }
    }
    const calls = (message.toolCalls ?? []).map(({ name, arguments: args }) => ({
      function: { name, arguments: args },
    }))
    return {
      role: "assistant",
      content: message.content,
      ...(options.includeReasoning && message.reasoning ? { thinking: message.reasoning } : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
  })
}
