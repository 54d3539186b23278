import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { createOllamaStreamDecoder, toOllamaMessages } from "@toolwright/toolformat"
import { createServerBackend, type ServerOptions } from "../http/backend.ts"
import {
  checkConstraints,
  effortOf,
  leftOutBy,
  SAMPLING_NAMES,
  samplingAs,
  type SamplingFields,
} from "../http/fields.ts"
import type { Protocol, ReplyDecoder } from "../http/protocol.ts"
import type { Backend, InferRequest } from "../model/backend.ts"
import { OLLAMA_URL } from "../addresses.ts"

export { OLLAMA_URL } from "../addresses.ts"

/** Settings of a backend for Ollama's own API; the usual address on this machine unless another is given. */
export interface OllamaOptions extends Omit<ServerOptions, "baseUrl"> {
  /** Where Ollama is; `/v1` or `/api` behind it makes no difference. */
  baseUrl?: string
  /** Whether the model can think; where it cannot, the server refuses to be asked for it. True unless given. */
  thinks?: boolean
}

/**
 * A backend for Ollama's `/api/chat`. The window is set with each request (`contextTokens`), since the one that the
 * server takes by itself is often far smaller than the model's; and what does not fit is an error, where the server
 * would cut the oldest messages off without a word.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none
 * @example
 * const backend = createOllamaBackend({ modelName: "qwen3:8b", contextTokens: 32_768 })
 */
export function createOllamaBackend(options: OllamaOptions): Backend {
  return createServerBackend(chatApi(options), { ...options, baseUrl: options.baseUrl ?? OLLAMA_URL })
}

const { logitBias: _none, ...NAMES } = SAMPLING_NAMES
const SAMPLING: SamplingFields = { ...NAMES, repetitionPenalty: "repeat_penalty", maxTokens: "num_predict" }

/** Fields of a request that are Ollama's own. */
const OWN: ReadonlySet<string> = new Set(["keep_alive", "logprobs", "top_logprobs"])

function chatApi({ modelName, contextTokens, thinks = true }: OllamaOptions): Protocol {
  const window = contextTokens === undefined ? {} : { num_ctx: contextTokens }
  const wish = ({ extraBody }: InferRequest): JsonObject => (thinks ? thinkOf(extraBody) : {})
  return {
    kind: "ollama",
    server: "Ollama",
    abilities: { nativeTools: true, grammar: false, jsonSchema: true },
    pages: { own: "api/chat", without: /\/(v1|api)$/, others: "v1/" },
    lines: true,
    body: (request) => ({
      model: modelName,
      messages: toOllamaMessages(request.messages),
      stream: true,
      truncate: false,
      shift: false,
      ...toolsOf(request),
      ...formOf(request),
      ...wish(request),
      ...ownOf(request),
      options: { ...window, ...samplingAs(request.sampling, SAMPLING) },
    }),
    leavesOut: (request) =>
      leftOutBy(request, {
        sampling: SAMPLING,
        extra: (name, value) => OWN.has(name) || (thinks && thinkOf({ [name]: value }).think !== undefined),
      }),
    decoder: chatDecoder,
  }
}

/** What is wanted of calls is seen to on our side: the API has no words for it. */
function toolsOf({ tools = [], toolChoice }: InferRequest): JsonObject {
  return tools.length === 0 || toolChoice === "none" ? {} : { tools }
}

/** @throws ToolwrightError `CONFLICTING_CONSTRAINTS`, `CONSTRAINT_UNSUPPORTED` for grammars */
function formOf(request: InferRequest): JsonObject {
  checkConstraints(request)
  const { grammar, jsonSchema } = request
  if (grammar !== undefined) throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", "Ollama takes no grammars.")
  return jsonSchema === undefined ? {} : { format: jsonSchema }
}

const EFFORTS: Readonly<Record<string, string | false>> = {
  none: false,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
  max: "max",
}

/** Whether the model is to think, and how hard: by OpenAI's word for it, or by the one of chat templates. */
function thinkOf(extraBody: JsonObject = {}): JsonObject {
  const effort = EFFORTS[effortOf(extraBody) ?? ""]
  if (effort !== undefined) return { think: effort }
  const variables = extraBody.chat_template_kwargs as JsonObject | null | undefined
  const wanted = variables?.enable_thinking
  return typeof wanted === "boolean" ? { think: wanted } : {}
}

function ownOf({ extraBody = {} }: InferRequest): JsonObject {
  return Object.fromEntries(Object.entries(extraBody).filter(([name]) => OWN.has(name)))
}

function chatDecoder(): ReplyDecoder {
  const decoder = createOllamaStreamDecoder()
  return {
    push: (value) => decoder.push(value),
    isLast: (value) => (value as { done?: unknown }).done === true,
    whole: (value) => decoder.push(value),
    end: () => decoder.end(),
  }
}
