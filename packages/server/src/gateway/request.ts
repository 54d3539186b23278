import type { InferRequest, SamplingOptions } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import { fromOpenAIMessages, type ChatMessage, type OpenAITool } from "@toolwright/toolformat"

/** A chat-completions request, read. */
export interface ChatRequest {
  messages: ChatMessage[]
  stream: boolean
  /** Whether usage is wanted at the end of the stream. */
  includeUsage: boolean
  sampling: SamplingOptions
  tools: OpenAITool[]
  toolChoice: "auto" | "none" | "required"
  /** The schema of a wanted JSON reply. */
  jsonSchema: JsonObject | undefined
}

/** What is wrong with a request, with the field that it is about. */
export interface RequestProblem {
  message: string
  param: string
}

/** Reads the body of a chat-completions request, or says what is wrong with it. */
export function readChatRequest(body: unknown): ChatRequest | { problem: RequestProblem } {
  if (typeof body !== "object" || body === null)
    return { problem: { message: "The body must be a JSON object.", param: "" } }
  const fields = body as JsonObject
  if (!Array.isArray(fields.messages) || fields.messages.length === 0)
    return { problem: { message: "'messages' must be a list that is not empty.", param: "messages" } }
  const messages = fromOpenAIMessages(fields.messages)
  if (messages.length !== fields.messages.length)
    return { problem: { message: "Every message needs a role: system, user, assistant or tool.", param: "messages" } }
  if (fields.tools !== undefined && fields.tools !== null && !Array.isArray(fields.tools))
    return { problem: { message: "'tools' must be a list.", param: "tools" } }
  const tools = Array.isArray(fields.tools) ? (fields.tools as OpenAITool[]) : []
  if (tools.some((tool) => tool?.type !== "function" || typeof tool.function?.name !== "string")) {
    return {
      problem: {
        message: "Every tool must have the form { type: 'function', function: { name, description, parameters } }.",
        param: "tools",
      },
    }
  }
  const { chosen, toolChoice } = choose(tools, fields.tool_choice)
  return {
    messages,
    stream: fields.stream === true,
    includeUsage: (fields.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true,
    sampling: samplingOf(fields),
    tools: chosen,
    toolChoice,
    jsonSchema: schemaOf(fields.response_format),
  }
}

/** The inference that a request asks for. */
export function inferRequestOf(request: ChatRequest): InferRequest {
  const { messages, tools, toolChoice, sampling, jsonSchema } = request
  return {
    messages,
    ...(tools.length === 0 ? {} : { tools, toolChoice }),
    ...(jsonSchema === undefined || tools.length > 0 ? {} : { jsonSchema }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
  }
}

/** A choice of one tool is that tool alone, required. */
function choose(tools: OpenAITool[], choice: unknown): { chosen: OpenAITool[]; toolChoice: ChatRequest["toolChoice"] } {
  if (choice === "none" || choice === "required") return { chosen: tools, toolChoice: choice }
  const name = (choice as { function?: { name?: string } } | undefined)?.function?.name
  if (name === undefined) return { chosen: tools, toolChoice: "auto" }
  return { chosen: tools.filter((tool) => tool.function.name === name), toolChoice: "required" }
}

function samplingOf(fields: JsonObject): SamplingOptions {
  const number = (name: string): number | undefined => (typeof fields[name] === "number" ? fields[name] : undefined)
  const stop =
    typeof fields.stop === "string" ? [fields.stop] : Array.isArray(fields.stop) ? fields.stop.map(String) : undefined
  const settings = {
    temperature: number("temperature"),
    topP: number("top_p"),
    maxTokens: number("max_completion_tokens") ?? number("max_tokens"),
    seed: number("seed"),
    frequencyPenalty: number("frequency_penalty"),
    presencePenalty: number("presence_penalty"),
    stop,
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function schemaOf(format: unknown): JsonObject | undefined {
  const { type, json_schema: schema } = (format ?? {}) as { type?: string; json_schema?: { schema?: JsonObject } }
  if (type === "json_schema") return schema?.schema
  return type === "json_object" ? { type: "object" } : undefined
}
