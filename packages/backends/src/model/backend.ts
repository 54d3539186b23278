import type { JsonObject, SamplingOptions, TokenTrace } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool, ToolFormatter } from "@toolwright/toolformat"

export type { SamplingOptions }

/**
 * One inference. At most one of `tools` (native tool use), `grammar`, `structuralTag` and `jsonSchema` may be given:
 * two constraints at once break servers, so a backend refuses such a request with `CONFLICTING_CONSTRAINTS`.
 */
export interface InferRequest {
  messages: readonly ChatMessage[]
  tools?: readonly OpenAITool[]
  toolChoice?: "auto" | "none" | "required"
  /** Whether a reply may have several calls; what the server does by itself unless given. */
  parallelToolCalls?: boolean
  /** GBNF text. */
  grammar?: string
  /**
   * Marks before which the grammar holds nothing: it begins with the first of them that is written. Only for a backend
   * with the ability `lazyGrammar`.
   */
  grammarTriggers?: readonly string[]
  /**
   * Calls between marks with free text around them, as xgrammar has them. Only for a backend with the ability
   * `structuralTags`.
   */
  structuralTag?: JsonObject
  jsonSchema?: JsonObject
  sampling?: SamplingOptions
  /** Asks for how the model came to its reply, of a backend with the ability `tokens`. */
  recordTokens?: boolean
  /** Fields added to the request body as they are, for what a server has of its own. */
  extraBody?: JsonObject
}

/** Token counts as the server reports them. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  reasoningTokens?: number
}

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "error" | "unknown"

/**
 * What an inference yields, in order. `call-delta` carries native tool calls: the first delta of an `index` has the
 * name, later ones pieces of the arguments' JSON text. `end` comes exactly once, last.
 */
export type InferEvent =
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  | { type: "call-delta"; index: number; id?: string; name?: string; arguments?: string }
  /** The request is tried again after a wait; `code` is that of the failure. */
  | { type: "retry"; attempt: number; delayMs: number; reason: string; code?: string }
  /** How the model came to what it wrote: before the end, where it was asked for. */
  | { type: "tokens"; trace: TokenTrace }
  | ({ type: "end"; finishReason: FinishReason; usage?: Usage } & SelfKnowledge)

/** What a model that measures its own doubt says of a reply. */
export interface SelfKnowledge {
  /** How likely the reply's call is what was asked for. */
  certainty?: number
  /** The reply says that the request is not done, or asks what is meant by it. */
  declined?: true
}

/** The format of a model, and what led to it, as a sentence for people. */
export interface ModelFormat {
  readonly formatter: ToolFormatter
  readonly because: string
}

/** What a backend can do, as configured or as probed. */
export interface BackendAbilities {
  nativeTools: boolean
  grammar: boolean
  jsonSchema: boolean
  /** A grammar may begin to hold only where a mark is written. */
  lazyGrammar?: boolean
  /** xgrammar's structural tags hold calls, and leave the text around them free. */
  structuralTags?: boolean
  /** It can tell how the model came to its reply, token by token. */
  tokens?: boolean
  /** The model is so small that it copies names and paths wrongly; some hold its arguments to the conversation then. */
  small?: boolean
}

/**
 * Something that infers. `infer` yields events as they arrive; cancelling `signal` ends the request within a second.
 * Failures are thrown as `ToolwrightError`: `MODEL_UNREACHABLE`, `MODEL_UNAUTHORIZED`, `MODEL_NOT_FOUND`,
 * `MODEL_REQUEST_REJECTED`, `MODEL_RATE_LIMITED`, `MODEL_SERVER_ERROR`, `MODEL_BAD_REPLY`, `MODEL_TIMEOUT`,
 * `REPLY_TOO_LONG`, `CONFLICTING_CONSTRAINTS`, `CONSTRAINT_UNSUPPORTED`.
 */
export interface Backend {
  /** Kind of backend, e.g. `openai-compatible` or `scripted`. */
  readonly kind: string
  readonly abilities: BackendAbilities
  /** The model's name, from which the format is chosen. */
  modelName(): string
  /** The form of the server's own tool use, where it is not OpenAI's. */
  readonly api?: "anthropic"
  /** How the model writes calls in text, where that is known better than by its name. */
  readonly modelFormat?: ModelFormat
  /** Tokens that a request and its reply may have together, where it is known. */
  readonly contextTokens?: number
  infer(request: InferRequest, options?: { signal?: AbortSignal }): AsyncIterable<InferEvent>
  /**
   * What was said and returned as the model is shown it, for a backend that shows it something else than the messages.
   * Arguments that are grounded must come from it; U+0000 keeps its parts apart.
   */
  groundingText?(messages: readonly ChatMessage[]): string
  /**
   * What of a request does not reach the model here, by the names that OpenAI's API has for it (`top_k`), so that
   * whoever asked for it can be told. Where it is not said, that is `extraBody` and pictures.
   */
  leavesOut?(request: InferRequest): string[]
  /**
   * Sends a request that is no inference to the model's server as it is, and gives its answer: `path` stands behind the
   * address of its API, e.g. `embeddings`. Fails as `infer` does; nothing is tried again.
   */
  forward?(path: string, body: JsonObject, options?: { signal?: AbortSignal }): Promise<Response>
  /**
   * The numbers that the model's own vocabulary has for a text, asked of the server and kept: no number holds for two
   * models. Undefined where nobody tells them; fails only when cancelled.
   */
  tokenize?(text: string, options?: { signal?: AbortSignal }): Promise<readonly number[] | undefined>
  close?(): Promise<void>
}
