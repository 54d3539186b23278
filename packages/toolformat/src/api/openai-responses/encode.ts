import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage } from "../../model/message.ts"
import { refuseMedia } from "../media.ts"

/**
 * A conversation as the `input` items of OpenAI's Responses API
 * (https://platform.openai.com/docs/api-reference/responses):
 * calls and results are items of their own. Reasoning is left out; the API wants its own, encrypted form of it back.
 *
 * @throws ToolwrightError `UNSUPPORTED_MEDIA` for sounds
 */
export function toResponsesInput(messages: readonly ChatMessage[]): JsonObject[] {
  return messages.flatMap((message): JsonObject[] => {
    if (message.role === "system") return [{ role: "system", content: message.content }]
    if (message.role === "tool")
      return [{ type: "function_call_output", call_id: message.callId, output: message.content }]
    if (message.role === "user") {
      const images = (message.media ?? []).map((part) => {
        if (part.type !== "image") refuseMedia("OpenAI Responses", part)
        const url = "url" in part ? part.url : `data:${part.mimeType};base64,${part.base64}`
        return { type: "input_image", image_url: url }
      })
      return [{ role: "user", content: [{ type: "input_text", text: message.content }, ...images] }]
    }
    const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    }))
    return [
      ...(message.content === ""
        ? []
        : [{ role: "assistant", content: [{ type: "output_text", text: message.content }] }]),
      ...calls,
    ]
  })
}

/** Tool definitions in the Responses form, which is flat. `strict` is off: lower the schemas first to turn it on. */
export function toResponsesTools(definitions: readonly ToolDefinition[]): JsonObject[] {
  return definitions.map(({ name, description, parameters: schema }) => ({
    type: "function",
    name,
    description,
    parameters: schema,
    strict: false,
  }))
}
