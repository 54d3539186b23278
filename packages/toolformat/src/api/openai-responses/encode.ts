import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "../../model/message.ts"
import { customToolOf, textOfCall } from "../custom-tools.ts"
import { refuseMedia } from "../media.ts"

/**
 * A conversation as the `input` items of OpenAI's Responses API
 * (https://platform.openai.com/docs/api-reference/responses):
 * calls and results are items of their own. Reasoning is left out; the API wants its own, encrypted form of it back.
 *
 * @param custom names of the tools that are told as custom ones, whose calls are a text
 * @throws ToolwrightError `UNSUPPORTED_MEDIA` for sounds
 */
export function toResponsesInput(messages: readonly ChatMessage[], custom?: ReadonlySet<string>): JsonObject[] {
  const texts = new Set<string>()
  return messages.flatMap((message): JsonObject[] => {
    if (message.role === "system") return [{ role: "system", content: message.content }]
    if (message.role === "tool") {
      const type = texts.has(message.callId) ? "custom_tool_call_output" : "function_call_output"
      return [{ type, call_id: message.callId, output: message.content }]
    }
    if (message.role === "user") {
      const images = (message.media ?? []).map((part) => {
        if (part.type !== "image") refuseMedia("OpenAI Responses", part)
        const url = "url" in part ? part.url : `data:${part.mimeType};base64,${part.base64}`
        return { type: "input_image", image_url: url }
      })
      return [{ role: "user", content: [{ type: "input_text", text: message.content }, ...images] }]
    }
    const calls = (message.toolCalls ?? []).map((call) => {
      const { id, name, arguments: args } = call
      if (custom?.has(name) !== true)
        return { type: "function_call", call_id: id, name, arguments: JSON.stringify(args) }
      texts.add(id)
      return { type: "custom_tool_call", call_id: id, name, input: textOfCall(call) }
    })
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
  return definitions.map(({ name, description, parameters }) =>
    toResponsesTool({ type: "function", function: { name, description, parameters } }),
  )
}

/** One tool in the Responses form; one that takes a text is a custom tool. */
export function toResponsesTool(tool: OpenAITool): JsonObject {
  const custom = customToolOf(tool)
  return custom === undefined ? responsesFunction(tool) : { type: "custom", ...custom }
}

/** Not strict: that would want every property required, and arguments are checked afterwards in any case. */
export function responsesFunction({ function: { name, description, parameters } }: OpenAITool): JsonObject {
  return { type: "function", name, description, parameters, strict: false }
}
