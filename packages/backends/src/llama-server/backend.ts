import { grammarToGbnf, schemaToGrammar } from "@toolwright/logits"
import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { getFormatter, marksOf, type ApiEvent } from "@toolwright/toolformat"
import { createServerBackend, type ServerOptions } from "../http/backend.ts"
import { checkConstraints, leftOutBy, SAMPLING_NAMES, samplingAs, type SamplingFields } from "../http/fields.ts"
import type { Protocol, ReplyDecoder } from "../http/protocol.ts"
import type { Backend, FinishReason, InferRequest } from "../model/backend.ts"
import { llamaTokenQuestion } from "../openai-compatible/dialect.ts"
import { createPromptWriter, type PromptTemplate } from "./prompt.ts"
import { LLAMA_SERVER_URL } from "../addresses.ts"

export { LLAMA_SERVER_URL } from "../addresses.ts"

/** Settings of a backend for llama.cpp's own completion; the usual address on this machine unless another is given. */
export interface LlamaServerOptions extends Omit<ServerOptions, "baseUrl"> {
  /** Where the server is; `/v1` behind it makes no difference. */
  baseUrl?: string
  /** The model's chat template, which writes the prompt; ChatML unless given. `probeAbilities` finds it out. */
  template?: PromptTemplate
}

/**
 * A backend for `/completion` of llama.cpp's server. The prompt is written here by the model's own template, and calls
 * are held by our grammar from where they begin, so that nothing of the server's own reading of calls is in the way.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none; `TemplateError` for a template that
 *   cannot be read
 * @example
 * const backend = createLlamaServerBackend({ modelName: "qwen3-8b", template: { source: chatTemplate } })
 */
export function createLlamaServerBackend(options: LlamaServerOptions): Backend {
  return createServerBackend(completion(options), { ...options, baseUrl: options.baseUrl ?? LLAMA_SERVER_URL })
}

const SAMPLING: SamplingFields = { ...SAMPLING_NAMES, repetitionPenalty: "repeat_penalty", maxTokens: "n_predict" }

/** Fields of a request that are llama.cpp's own. */
const OWN = new RegExp(
  `^(${[
    "cache_prompt|id_slot|lora|samplers|n_keep|typical_p|top_n_sigma|n_probs|ignore_eos",
    String.raw`(dry|xtc|dynatemp|mirostat)(_\w+)?`,
  ].join("|")})$`,
)
/** Variables of the chat template. */
const VARIABLES: ReadonlySet<string> = new Set(["chat_template_kwargs", "reasoning_effort"])
/** llama.cpp's number for a trigger that is a piece of text. */
const WORD = 1

function completion({ modelName, template, modelFormat }: LlamaServerOptions): Protocol {
  const prompts = createPromptWriter(template)
  const formatter = modelFormat?.formatter ?? getFormatter(modelName)
  const marks = formatter.declaration === undefined ? [] : marksOf(formatter.declaration)
  return {
    kind: "llama-server",
    server: "llama.cpp's server",
    abilities: { nativeTools: false, grammar: true, jsonSchema: true, lazyGrammar: true },
    pages: { own: "completion", without: /\/v1$/, others: "v1/" },
    body: (request) => ({
      prompt: prompts.write(request),
      stream: true,
      cache_prompt: true,
      ...constraintOf(request),
      preserved_tokens: [...new Set([...marks, ...(request.grammarTriggers ?? [])])],
      ...samplingAs(request.sampling, SAMPLING),
      ...ownOf(request),
    }),
    leavesOut: (request) =>
      leftOutBy(request, {
        sampling: SAMPLING,
        // Without a template there is nothing that would read its variables.
        extra: (name) => OWN.test(name) || (template?.source !== undefined && VARIABLES.has(name)),
      }),
    tokensOf: llamaTokenQuestion,
    decoder: completionDecoder,
  }
}

/** @throws ToolwrightError `CONFLICTING_CONSTRAINTS`, `CONSTRAINT_UNSUPPORTED` for native tools */
function constraintOf(request: InferRequest): JsonObject {
  checkConstraints(request)
  const { tools = [], grammar, grammarTriggers = [], jsonSchema } = request
  if (tools.length > 0)
    throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", "llama.cpp's completion does not support tools of its own.", {
      hint: "Write them into the prompt; the executor and the gateway do so.",
    })
  if (grammar !== undefined && grammarTriggers.length > 0)
    return {
      grammar,
      grammar_lazy: true,
      grammar_triggers: grammarTriggers.map((value) => ({ type: WORD, value })),
    }
  if (grammar !== undefined) return { grammar }
  return jsonSchema === undefined ? {} : { grammar: grammarToGbnf(schemaToGrammar(jsonSchema)) }
}

function ownOf({ extraBody = {} }: InferRequest): JsonObject {
  return Object.fromEntries(Object.entries(extraBody).filter(([name]) => OWN.test(name)))
}

/** One value of a completion; the last one tells how it ended. */
interface Piece {
  content?: unknown
  stop?: unknown
  stop_type?: unknown
  tokens_evaluated?: unknown
  tokens_predicted?: unknown
  error?: { code?: unknown; message?: unknown } | null
}

function completionDecoder(): ReplyDecoder {
  return {
    push: (value) => eventsOf(value),
    isLast: (value) => (value as Piece).stop === true,
    whole: (value) => {
      const { content, error } = value as Piece
      return typeof content === "string" || error ? eventsOf({ ...value, stop: true }) : undefined
    },
    end: () => [],
  }
}

function eventsOf(value: object): ApiEvent[] {
  const { content, stop, error, ...end } = value as Piece
  if (error !== undefined && error !== null)
    return [{ type: "error", code: String(error.code ?? "unknown"), message: String(error.message ?? "unknown") }]
  return [
    ...(typeof content === "string" && content !== "" ? [{ type: "text-delta" as const, text: content }] : []),
    ...(stop === true ? endOf(end) : []),
  ]
}

function endOf({ stop_type: why, tokens_evaluated: read, tokens_predicted: written }: Piece): ApiEvent[] {
  const counted = typeof read === "number" && typeof written === "number"
  const finishReason: FinishReason = why === "limit" ? "length" : "stop"
  return [
    ...(counted ? [{ type: "usage" as const, usage: { inputTokens: read, outputTokens: written } }] : []),
    { type: "finish", finishReason },
  ]
}
