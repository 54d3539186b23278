import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import {
  createResponsesStreamDecoder,
  responsesResponseEvents,
  customNames,
  strictReplySchema,
  toResponsesInput,
  responsesFunction,
  toResponsesTool,
} from "@toolwright/toolformat"
import { createServerBackend, type ServerOptions } from "../http/backend.ts"
import { checkConstraints, effortOf, leftOutBy, samplingAs, type SamplingFields } from "../http/fields.ts"
import type { Protocol, ReplyDecoder } from "../http/protocol.ts"
import type { Backend, InferRequest } from "../model/backend.ts"
import { OPENAI_URL } from "../addresses.ts"

export { OPENAI_URL } from "../addresses.ts"

/** Settings of a backend for the Responses API; OpenAI's own address unless another is given. */
export interface ResponsesOptions extends Omit<ServerOptions, "baseUrl"> {
  baseUrl?: string
  /** Whether tools that take a text are told as custom tools. OpenAI's own servers take them; others may not. */
  customTools?: boolean
}

/**
 * A backend for OpenAI's Responses API, and for servers that speak it. Nothing of a conversation is kept at the server:
 * each request carries all of it.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none
 * @example
 * const backend = createResponsesBackend({ modelName: "gpt-5", apiKey: process.env.OPENAI_API_KEY ?? "" })
 */
export function createResponsesBackend(options: ResponsesOptions): Backend {
  return createServerBackend(responsesApi(options), { ...options, baseUrl: options.baseUrl ?? OPENAI_URL })
}

const SAMPLING: SamplingFields = {
  temperature: "temperature",
  topP: "top_p",
  maxTokens: "max_output_tokens",
}

/** Fields that are the API's own; all others of a request are of another. */
const OWN: ReadonlySet<string> = new Set([
  "include",
  "max_tool_calls",
  "metadata",
  "prompt",
  "prompt_cache_key",
  "prompt_cache_retention",
  "reasoning",
  "safety_identifier",
  "service_tier",
  "top_logprobs",
  "truncation",
  "user",
])

/** OpenAI's own addresses. */
const OPENAI = /^https:\/\/[^/]*\b(?:api\.openai\.com|openai\.azure\.com)(?:[:/]|$)/

function responsesApi({
  modelName,
  baseUrl = OPENAI_URL,
  customTools = OPENAI.test(baseUrl),
}: ResponsesOptions): Protocol {
  return {
    kind: "openai-responses",
    server: "OpenAI's Responses API",
    abilities: { nativeTools: true, grammar: false, jsonSchema: true },
    pages: { own: "responses", others: "" },
    body: (request) => ({
      model: modelName,
      input: toResponsesInput(request.messages, customTools ? customNames(request.tools ?? []) : undefined),
      stream: true,
      store: false,
      ...toolsOf(request, customTools),
      ...samplingAs(request.sampling, SAMPLING),
      ...formOf(request),
      ...ownOf(request),
    }),
    leavesOut: (request) =>
      leftOutBy(request, {
        sampling: SAMPLING,
        extra: (name) => OWN.has(name) || name === "reasoning_effort" || name === "verbosity",
      }),
    decoder: responseDecoder,
  }
}

function toolsOf(
  { tools = [], toolChoice = "auto", parallelToolCalls }: InferRequest,
  customTools: boolean,
): JsonObject {
  if (tools.length === 0) return {}
  return {
    tools: tools.map((tool) => (customTools ? toResponsesTool(tool) : responsesFunction(tool))),
    tool_choice: toolChoice,
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

/** @throws ToolwrightError `CONFLICTING_CONSTRAINTS`, `CONSTRAINT_UNSUPPORTED` for grammars */
function formOf(request: InferRequest): JsonObject {
  checkConstraints(request)
  const { grammar, jsonSchema, extraBody = {} } = request
  if (grammar !== undefined) throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", "The Responses API takes no grammars.")
  const { verbosity } = extraBody
  const text = {
    ...(typeof verbosity === "string" ? { verbosity } : {}),
    ...(jsonSchema === undefined ? {} : { format: { type: "json_schema", name: "reply", ...schemaOf(jsonSchema) } }),
  }
  return Object.keys(text).length === 0 ? {} : { text }
}

/** Strict where that changes nothing for whoever reads the reply; as it came otherwise. */
function schemaOf(jsonSchema: JsonObject): JsonObject {
  const strict = strictReplySchema(jsonSchema, "openai-strict")
  return strict === undefined ? { schema: jsonSchema, strict: false } : { schema: strict, strict: true }
}

function ownOf({ extraBody = {} }: InferRequest): JsonObject {
  const effort = effortOf(extraBody)
  return {
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...Object.fromEntries(Object.entries(extraBody).filter(([name]) => OWN.has(name))),
  }
}

const LAST: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed"])

function responseDecoder(): ReplyDecoder {
  const decoder = createResponsesStreamDecoder()
  return {
    push: (value) => decoder.push(value),
    isLast: (value) => LAST.has((value as { type?: unknown }).type),
    whole: (value) => {
      const { output, error } = value as { output?: unknown; error?: unknown }
      return Array.isArray(output) || typeof error === "object" ? responsesResponseEvents(value) : undefined
    },
    end: () => decoder.end(),
  }
}
