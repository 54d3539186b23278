import { TEXT_ARGUMENT, type JsonObject, type ToolCall } from "@toolwright/toolbox"
import type { ChatMessage, MediaPart } from "../../model/message.ts"
import { argumentsText, asArray, asObject, asString, field, parseJson } from "../json.ts"

/**
 * Reads a conversation in OpenAI's chat form, as applications keep it: arguments as JSON text or as objects, content as
 * text, as parts, or `null`; `developer` counts as system. A result's tool name is found through its call's id.
 *
 * Arguments that are no JSON object are kept under `_raw`, so that nothing is lost. What is no message is passed over.
 */
export function fromOpenAIMessages(messages: readonly unknown[]): ChatMessage[] {
  const names = new Map<string, string>()
  return messages.flatMap((entry): ChatMessage[] => {
    const message = asObject(entry)
    if (message === undefined) return []
    const content = textOf(message.content)
    switch (message.role) {
      case "system":
      case "developer":
        return [{ role: "system", content }]
      case "user": {
        const media = asArray(message.content).flatMap(readMedia)
        return [{ role: "user", content, ...(media.length === 0 ? {} : { media }) }]
      }
      case "assistant": {
        const toolCalls = asArray(message.tool_calls).map((call, index) => readCall(call, index))
        for (const call of toolCalls) names.set(call.id, call.name)
        const reasoning = asString(message.reasoning_content) ?? asString(message.reasoning)
        return [
          {
            role: "assistant",
            content,
            ...(reasoning ? { reasoning } : {}),
            ...(toolCalls.length === 0 ? {} : { toolCalls }),
          },
        ]
      }
      case "tool": {
        const callId = asString(message.tool_call_id) ?? ""
        const name = asString(message.name) ?? names.get(callId) ?? ""
        return [{ role: "tool", content, callId, name, success: true }]
      }
      default:
        return []
    }
  })
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content
  return asArray(content)
    .map((part) => asString(field(part, "text")) ?? "")
    .join("")
}

function readCall(call: unknown, index: number): ToolCall {
  const custom = asObject(field(call, "custom"))
  if (custom !== undefined) {
    const id = asString(field(call, "id")) ?? `call_${index}`
    return { id, name: asString(custom.name) ?? "", arguments: { [TEXT_ARGUMENT]: asString(custom.input) ?? "" } }
  }
  const body = field(call, "function")
  const text = argumentsText(field(body, "arguments"))
  const args: JsonObject = text.trim() === "" ? {} : (asObject(parseJson(text)) ?? { _raw: text })
  return {
    id: asString(field(call, "id")) ?? `call_${index}`,
    name: asString(field(body, "name")) ?? "",
    arguments: args,
  }
}

function readMedia(part: unknown): MediaPart[] {
  const url = asString(field(field(part, "image_url"), "url")) ?? ""
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  if (/^https?:/i.test(url)) return [{ type: "image", url }]
  if (data !== null) return [{ type: "image", mimeType: data[1]!, base64: data[2]! }]
  const sound = asObject(field(part, "input_audio"))
  const base64 = asString(sound?.data)
  return base64 === undefined ? [] : [{ type: "audio", mimeType: `audio/${asString(sound?.format) ?? "wav"}`, base64 }]
}
