import type { FinishReason, SamplingOptions, Usage } from "@toolwright/backends"
import type { AnswerEvent, AnswerNote } from "@toolwright/dialogue"
import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import type { ReasoningEvent } from "./agent-run.ts"

/** A client's request, whatever its wire: what a model or an agent can be asked. */
export interface GatewayRequest {
  /** The model as the client names it; `toolwright/<agent>` asks for an agent. */
  model: string
  messages: ChatMessage[]
  tools: OpenAITool[]
  /** Names of those that the client wants to be found by a search of ours. */
  deferred?: string[]
  /** Texts at which the answer ends, where the wire tells which it was. */
  stopAt?: string[]
  toolChoice: "auto" | "none" | "required"
  parallelToolCalls?: boolean
  /** The schema of a wanted JSON reply. */
  jsonSchema?: JsonObject
  sampling: SamplingOptions
  /** What the gateway does not read itself and the model's server may: it is sent on as it is. */
  extraBody: JsonObject
  /** What the client asked for and cannot have here, by the names of its wire: the answer's header names it. */
  leftOut: string[]
  stream: boolean
}

/** One step of an answer on its way to a client: the model's, or that of an agent at work. */
export type GatewayEvent = AnswerEvent | { type: "step"; event: ReasoningEvent }

/** What an answer is called. */
export interface ReplyHead {
  /** Unique, without what a wire puts before it. */
  id: string
  model: string
  /** Seconds since 1970. */
  created: number
}

/** A whole answer. */
export interface WholeReply {
  text: string
  reasoning: string
  calls: ToolCall[]
  notes: AnswerNote[]
  finishReason: FinishReason
  usage: Usage | undefined
  /** The one of `stopAt` that ended it. */
  stoppedAt?: string
}

/** What went wrong, as every wire can say it. */
export interface GatewayFailure {
  status: number
  /** Of our own, e.g. `MODEL_RATE_LIMITED`. */
  code: string
  message: string
  /** The field of the request that it is about. */
  param?: string
  /** When the client may come again. */
  retryAfterMs?: number
}

/**
 * Writes an answer while it comes. Each method gives the text to send, frames and all, and nothing where there is
 * nothing to say. `fail` ends the answer in place of the `end` event; neither comes twice.
 */
export interface StreamWriter {
  readonly contentType: string
  begin(): string
  event(event: GatewayEvent): string
  /** Tells a client that waits that the answer still comes. */
  alive(): string
  fail(failure: GatewayFailure): string
}

/** A request that was read, and how it is answered in its wire. */
export interface WireRequest {
  request: GatewayRequest
  streamed(head: ReplyHead): StreamWriter
  whole(head: ReplyHead, reply: WholeReply): JsonObject
}

/** A request that asks the model nothing. */
export interface ReadyAnswer {
  ready(model: string): JsonObject
}

/**
 * A form in which clients ask and are answered. It knows nothing of models: it reads a request into the one form of the
 * gateway, and writes the one stream of events into its own.
 */
export interface Wire {
  readonly id: string
  /** Where its clients post. */
  readonly paths: readonly string[]
  /** Its clients do not say that what they send is JSON. */
  readonly untyped?: true
  /** @throws RequestProblem where the request cannot be answered as it was meant */
  read(body: JsonObject, context: WireContext): WireRequest | ReadyAnswer
  /** The body of an answer that failed. */
  failure(failure: GatewayFailure): JsonObject
  /** Questions that need no model, by their path. They throw what `read` throws. */
  others?: Readonly<Record<string, (body: JsonObject, served: ServedModels, caller: string) => JsonObject>>
  /**
   * What is asked about answers that are kept, by method and path: `GET /v1/responses/:id`. They throw what `read`
   * throws.
   */
  kept?: Readonly<Record<string, (asked: KeptQuestion) => JsonObject>>
  /** Questions that the model's server answers in OpenAI's form, by their path. */
  translated?: Readonly<Record<string, Translated>>
  /** What is got without a body, by its path. */
  pages?: Readonly<Record<string, (served: ServedModels) => JsonObject>>
}

/** A question about an answer that is kept. */
export interface KeptQuestion {
  id: string
  /** Who asks, as an opaque name. */
  caller: string
  query(name: string): string | undefined
}

/** A question of a wire that is one of OpenAI's in other words. */
export interface Translated {
  /** The page of OpenAI's API, e.g. `embeddings`. */
  to: string
  /** The question, and the names of what of it is left out. @throws RequestProblem where it is none */
  ask(body: JsonObject): { body: JsonObject; leftOut: string[] } | { ready: JsonObject }
  /** The answer, `ms` after the question. */
  tell(answer: JsonObject, asked: JsonObject, ms: number): JsonObject
}

/** What clients may ask for. */
export interface ServedModels {
  /** The model first, then the agents. */
  names: readonly string[]
  /** Tokens of the model's window, where it is known. */
  contextTokens?: number
}

/** What a wire is told of a request beside its body. */
export interface WireContext {
  path: string
  /** Who asks, as an opaque name; empty where nobody is told apart. */
  caller: string
  header(name: string): string | undefined
}

/** A request that cannot be answered as it was meant: what is wrong, and in which field. */
export class RequestProblem extends Error {
  readonly param: string
  readonly status: number

  constructor(message: string, param: string, status = 400) {
    super(message)
    this.param = param
    this.status = status
  }
}
