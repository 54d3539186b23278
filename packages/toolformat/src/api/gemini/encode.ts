import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import { lowerTools, type LoweredTools } from "../../lowering/index.ts"
import type { ChatMessage } from "../../model/message.ts"
import { refuseMedia } from "../media.ts"
import { asObject, parseJson } from "../json.ts"

/** The parts of a `generateContent` request that hold a conversation. */
export interface GeminiConversation {
  systemInstruction?: { parts: JsonObject[] }
  contents: { role: "user" | "model"; parts: JsonObject[] }[]
}

/** What goes back to Gemini beside the conversation. */
export interface GeminiOptions {
  /** By call id: the thought signatures of earlier replies, which newer models demand back. */
  signatures?: Readonly<Record<string, string>>
}

/**
 * A conversation for Gemini's `generateContent` (https://ai.google.dev/api/generate-content). Results go back as
 * objects: JSON objects as they are, other text under `output`, failures under `error`. The API pairs calls and results
 * by name and order.
 */
export function toGeminiContents(messages: readonly ChatMessage[], options: GeminiOptions = {}): GeminiConversation {
  const system: JsonObject[] = []
  const contents: GeminiConversation["contents"] = []
  const add = (role: "user" | "model", parts: JsonObject[]): void => {
    const last = contents.at(-1)
    if (parts.length === 0) return
    if (last?.role !== role) contents.push({ role, parts })
    else last.parts.push(...parts)
  }
  for (const message of messages) {
    if (message.role === "system") system.push({ text: message.content })
    else if (message.role === "tool")
      add("user", [{ functionResponse: { name: message.name, response: responseOf(message) } }])
    else if (message.role === "user") {
      add("user", [
        ...textParts(message.content),
        ...(message.media ?? []).map((part) =>
          "url" in part ? refuseMedia("Gemini", part) : { inlineData: { mimeType: part.mimeType, data: part.base64 } },
        ),
      ])
    } else {
      const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args }) => {
        const signature =
          options.signatures !== undefined && Object.hasOwn(options.signatures, id) ? options.signatures[id] : undefined
        return {
          functionCall: { name, args },
          ...(signature === undefined ? {} : { thoughtSignature: signature }),
        }
      })
      add("model", [...textParts(message.content), ...calls])
    }
  }
  return { ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }), contents }
}

/**
 * Tool definitions as function declarations, their schemas lowered to the subset that Gemini takes.
 *
 * @returns the value of the request's `tools`, and what lowering lost or set aside
 */
export function toGeminiTools(definitions: readonly ToolDefinition[]): { tools: JsonObject[]; lowered: LoweredTools } {
  const lowered = lowerTools(definitions, "gemini")
  const functionDeclarations = lowered.tools.map(({ tool, schema }) => ({
    name: tool.name,
    description: tool.description,
    // The API refuses an object without properties.
    ...(Object.keys(schema.properties ?? {}).length === 0 ? {} : { parameters: schema }),
  }))
  return { tools: functionDeclarations.length === 0 ? [] : [{ functionDeclarations }], lowered }
}

function textParts(text: string): JsonObject[] {
  return text === "" ? [] : [{ text }]
}

function responseOf({ content, success }: Extract<ChatMessage, { role: "tool" }>): JsonObject {
  if (!success) return { error: content }
  return asObject(parseJson(content)) ?? { output: content }
}
