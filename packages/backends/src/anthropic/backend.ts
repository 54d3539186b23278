import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import {
  anthropicResponseEvents,
  createAnthropicStreamDecoder,
  lowerSchema,
  strictReplySchema,
  toAnthropicMessages,
  type OpenAITool,
} from "@toolwright/toolformat"
import { createServerBackend, type ServerOptions } from "../http/backend.ts"
import { checkConstraints, effortOf, leftOutBy, samplingAs, type SamplingFields } from "../http/fields.ts"
import type { Protocol, ReplyDecoder } from "../http/protocol.ts"
import type { Backend, InferRequest } from "../model/backend.ts"
import { ANTHROPIC_URL } from "../addresses.ts"

export { ANTHROPIC_URL } from "../addresses.ts"

/** Settings of a backend for the Messages API; Anthropic's own address unless another is given. */
export interface AnthropicOptions extends Omit<ServerOptions, "baseUrl"> {
  baseUrl?: string
  /** Tokens of a reply where the request names none: the API wants a number. 16,384 unless given. */
  maxTokens?: number
  /** Whether the server keeps the beginning of a conversation for the next request; true unless given. */
  cache?: boolean
}

/**
 * A backend for Anthropic's Messages API, and for servers that speak it.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none
 * @example
 * const apiKey = process.env.ANTHROPIC_API_KEY ?? ""
 * const backend = createAnthropicBackend({ modelName: "claude-sonnet-4-5", apiKey })
 */
export function createAnthropicBackend(options: AnthropicOptions): Backend {
  const { baseUrl = ANTHROPIC_URL } = options
  return createServerBackend(messagesApi(options), { ...options, baseUrl })
}

const SAMPLING: SamplingFields = {
  temperature: "temperature",
  topK: "top_k",
  topP: "top_p",
  maxTokens: "max_tokens",
  stop: "stop_sequences",
}

/** Fields that are the API's own, and mean nothing else in another. */
const OWN: ReadonlySet<string> = new Set([
  "thinking",
  "container",
  "context_management",
  "mcp_servers",
  "speed",
  "inference_geo",
])

const EFFORTS: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
}

function messagesApi({ modelName, maxTokens = 16_384, cache = true }: AnthropicOptions): Protocol {
  return {
    kind: "anthropic",
    server: "Anthropic's Messages API",
    api: "anthropic",
    abilities: { nativeTools: true, grammar: false, jsonSchema: true },
    pages: { own: "v1/messages", without: /\/v1$/ },
    headers: (apiKey) => ({ "anthropic-version": "2023-06-01", ...(apiKey === "" ? {} : { "x-api-key": apiKey }) }),
    body: (request) => ({
      model: modelName,
      max_tokens: maxTokens,
      stream: true,
      ...(cache ? { cache_control: { type: "ephemeral" } } : {}),
      ...conversationOf(request),
      ...toolsOf(request),
      ...samplingAs(request.sampling, SAMPLING),
      ...outputOf(request),
      ...ownOf(request),
    }),
    leavesOut: (request) =>
      leftOutBy(request, {
        sampling: SAMPLING,
        extra: (name, value) => OWN.has(name) || (name === "reasoning_effort" && EFFORTS[String(value)] !== undefined),
      }),
    decoder: messageDecoder,
  }
}

function conversationOf({ messages }: InferRequest): JsonObject {
  return { ...toAnthropicMessages(messages) }
}

function toolsOf({ tools = [], toolChoice = "auto", parallelToolCalls }: InferRequest): JsonObject {
  if (tools.length === 0) return {}
  const one = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  const choice = toolChoice === "none" ? { type: "none" } : { type: toolChoice === "required" ? "any" : "auto", ...one }
  return { tools: tools.map(toolOf), tool_choice: choice }
}

/** The API refuses unions at the root of a schema; arguments are checked against the tool's own schema afterwards. */
function toolOf({ function: { name, description, parameters } }: OpenAITool): JsonObject {
  return { name, description, input_schema: loweredOr(parameters) }
}

function loweredOr(parameters: JsonObject): JsonObject {
  try {
    return lowerSchema(parameters, "anthropic").schema as JsonObject
  } catch {
    // What cannot be lowered is for the server to judge.
    return parameters
  }
}

/** @throws ToolwrightError `CONSTRAINT_UNSUPPORTED` for grammars, and schemas that the API cannot hold a reply to */
function outputOf(request: InferRequest): JsonObject {
  checkConstraints(request)
  const { grammar, jsonSchema, extraBody } = request
  if (grammar !== undefined) throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", "The Messages API takes no grammars.")
  const effort = EFFORTS[effortOf(extraBody) ?? ""]
  const schema = jsonSchema === undefined ? undefined : strictReplySchema(jsonSchema, "anthropic-output")
  if (jsonSchema !== undefined && schema === undefined)
    throw new ToolwrightError(
      "CONSTRAINT_UNSUPPORTED",
      "The Messages API holds replies only to schemas whose objects are closed and have no optional properties.",
    )
  const config = {
    ...(effort === undefined ? {} : { effort }),
    ...(schema === undefined ? {} : { format: { type: "json_schema", schema } }),
  }
  return Object.keys(config).length === 0 ? {} : { output_config: config }
}

function ownOf({ extraBody = {} }: InferRequest): JsonObject {
  return Object.fromEntries(Object.entries(extraBody).filter(([name]) => OWN.has(name)))
}

function messageDecoder(): ReplyDecoder {
  const decoder = createAnthropicStreamDecoder()
  return {
    push: (value) => decoder.push(value),
    isLast: (value) => (value as { type?: unknown }).type === "message_stop",
    whole: (value) => {
      const { type } = value as { type?: unknown }
      return type === "message" || type === "error" ? anthropicResponseEvents(value) : undefined
    },
    end: () => decoder.end(),
  }
}
