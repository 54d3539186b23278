import type { JsonObject, ToolCall, ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage, MediaPart, OpenAITool } from "../../model/message.ts"
import { customToolOf, textOfCall } from "../custom-tools.ts"

/** What the OpenAI chat form of a conversation may hold beyond the official fields. */
export interface OpenAIMessageOptions {
  /** Sends reasoning back as `reasoning_content`, which llama.cpp, vLLM and DeepSeek read. Off unless set. */
  includeReasoning?: boolean
  /** Names of the tools that are told as custom ones, whose calls are a text. */
  custom?: ReadonlySet<string>
}

/**
 * A conversation in OpenAI's chat-completions form (https://platform.openai.com/docs/api-reference/chat).
 *
 * Arguments become JSON text. Empty content stays `""` rather than `null`: the API takes both, and the chat templates
 * of local servers fail on `null`. Results carry the tool's `name` too, which many templates print.
 */
export function toOpenAIMessages(messages: readonly ChatMessage[], options: OpenAIMessageOptions = {}): JsonObject[] {
  return messages.map((message) => {
    if (message.role === "system") return { role: "system", content: message.content }
    if (message.role === "tool") {
      return { role: "tool", tool_call_id: message.callId, name: message.name, content: message.content }
    }
    if (message.role === "user") return { role: "user", content: userContent(message.content, message.media) }
    return {
      role: "assistant",
      content: message.content,
      ...(options.includeReasoning && message.reasoning ? { reasoning_content: message.reasoning } : {}),
      ...(message.toolCalls?.length
        ? { tool_calls: message.toolCalls.map((call) => wireCall(call, options.custom?.has(call.name) === true)) }
        : {}),
    }
  })
}

/** A call as OpenAI's chat API has it; one of a custom tool is a text. */
export function wireCall(call: ToolCall, isCustom: boolean): JsonObject {
  const { id, name, arguments: args } = call
  if (isCustom) return { id, type: "custom", custom: { name, input: textOfCall(call) } }
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } }
}

/** A tool as OpenAI's own chat API takes it, where one of a text is a custom tool. */
export function withCustomTools(tool: OpenAITool): JsonObject | OpenAITool {
  const custom = customToolOf(tool)
  if (custom === undefined) return tool
  const { format, ...rest } = custom
  if (format === undefined) return { type: "custom", custom: rest }
  const { type, ...grammar } = format as JsonObject
  return { type: "custom", custom: { ...rest, format: { type, grammar } } }
}

/** Tool definitions in OpenAI's form: `[{ type: "function", function: { name, description, parameters } }]`. */
export function toOpenAITools(definitions: readonly ToolDefinition[]): OpenAITool[] {
  return definitions.map(({ name, description, parameters: schema }) => ({
    type: "function",
    function: { name, description, parameters: schema },
  }))
}

function userContent(text: string, media: readonly MediaPart[] = []): string | JsonObject[] {
  if (media.length === 0) return text
  const parts: JsonObject[] = text === "" ? [] : [{ type: "text", text }]
  for (const part of media) {
    if ("url" in part) parts.push({ type: "image_url", image_url: { url: part.url } })
    else if (part.type === "image") {
      parts.push({ type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.base64}` } })
    } else {
      parts.push({ type: "input_audio", input_audio: { data: part.base64, format: audioFormat(part.mimeType) } })
    }
  }
  return parts
}

/** The API's name of a sound format: `mp3` for `audio/mpeg`, else the MIME subtype without `x-`. */
function audioFormat(mimeType: string): string {
  const subtype = mimeType.split("/")[1]?.replace(/^x-/, "") ?? mimeType
  return subtype === "mpeg" ? "mp3" : subtype
}
