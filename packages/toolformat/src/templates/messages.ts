import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import { toOpenAITools } from "../api/index.ts"
import type { ChatMessage, OpenAITool } from "../model/message.ts"

/** A tool as a definition or in OpenAI's form. */
export type TemplateTool = ToolDefinition | OpenAITool

/** How the messages are given to a template. Most take arguments as an object; a few fail on one and want JSON text. */
export interface MessageForm {
  argumentsAsText?: boolean
}

/**
 * A conversation as chat templates read it: OpenAI's fields, but arguments as objects and content never `null`, since
 * most templates fail on the other forms. Reasoning goes in as `reasoning_content`; whether it is printed is the
 * template's rule. Pictures and sounds become placeholder parts, whose data a multimodal runtime feeds in beside the
 * text.
 */
export function toTemplateMessages(messages: readonly ChatMessage[], form: MessageForm = {}): JsonObject[] {
  return messages.map((message) => {
    if (message.role === "system") return { role: "system", content: message.content }
    if (message.role === "tool") {
      return { role: "tool", tool_call_id: message.callId, name: message.name, content: message.content }
    }
    if (message.role === "user") {
      const media = (message.media ?? []).map(({ type }) => ({ type }))
      return {
        role: "user",
        content: media.length === 0 ? message.content : [...media, { type: "text", text: message.content }],
      }
    }
    return {
      role: "assistant",
      content: message.content,
      ...(message.reasoning ? { reasoning_content: message.reasoning } : {}),
      ...(message.toolCalls?.length
        ? {
            tool_calls: message.toolCalls.map(({ id, name, arguments: args }) => ({
              id,
              type: "function",
              function: { name, arguments: form.argumentsAsText ? JSON.stringify(args) : args },
            })),
          }
        : {}),
    }
  })
}

/** Tools in OpenAI's form, which is what templates loop over. */
export function toTemplateTools(tools: readonly TemplateTool[]): OpenAITool[] {
  return tools.flatMap((tool) => ("function" in tool ? [tool] : toOpenAITools([tool])))
}

/** Tools as definitions, for formatters. Those that came in OpenAI's form cannot be run. */
export function toDefinitions(tools: readonly TemplateTool[]): ToolDefinition[] {
  return tools.map((tool) => {
    if (!("function" in tool)) return tool
    const { name, description, parameters } = tool.function
    return {
      name,
      description: description ?? "",
      category: "utility",
      optionality: "optional",
      parameters: parameters ?? { type: "object" },
      handler: () => {
        throw new Error(`"${name}" was given as a description only.`)
      },
    }
  })
}
