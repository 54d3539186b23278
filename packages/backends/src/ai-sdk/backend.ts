import { messageOf, ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import {
  conflictingConstraints,
  constraintsOf,
  failureOfStatus,
  unreachable,
  type FailureContext,
} from "../failures.ts"
import type { Backend, BackendAbilities, FinishReason, InferEvent, InferRequest, Usage } from "../model/backend.ts"

/** A language model of the AI SDK, of specification v3 (ai@6) or v4 (ai@7), as far as it is used here. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>
}

/** Settings of {@link fromAiSdk}. */
export interface AiSdkOptions {
  /** What goes before native tools and JSON Schemas, which the SDK's models are taken to know. */
  abilities?: Partial<BackendAbilities>
  /** Tokens that a request and its reply may have together, where it is known. */
  contextTokens?: number
}

/**
 * A backend out of any language model of the AI SDK, so that agents, the gateway and tests can stand in front of it.
 *
 * @example
 * const backend = fromAiSdk(anthropic("claude-sonnet-4-5"))
 */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Backend {
  const v4 = model.specificationVersion === "v4"
  return {
    kind: "ai-sdk",
    abilities: { nativeTools: true, grammar: false, jsonSchema: true, ...options.abilities },
    modelName: () => model.modelId,
    ...(options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }),
    leavesOut: ({ sampling = {}, extraBody = {}, parallelToolCalls }) => [
      ...(sampling.minP === undefined ? [] : ["min_p"]),
      ...(sampling.repetitionPenalty === undefined ? [] : ["repetition_penalty"]),
      ...(sampling.logitBias === undefined ? [] : ["logit_bias"]),
      ...(parallelToolCalls === undefined ? [] : ["parallel_tool_calls"]),
      ...Object.keys(extraBody),
    ],
    async *infer(request, { signal } = {}) {
      const constraints = constraintsOf(request)
      if (constraints.length > 1) throw conflictingConstraints(constraints)
      if (request.grammar !== undefined)
        throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", "A model of the AI SDK takes no grammars.")
      try {
        const { stream } = await model.doStream(callOptions(request, v4, signal) as never)
        yield* eventsOf(stream)
      } catch (thrown) {
        signal?.throwIfAborted()
        throw failureOf(thrown, model)
      }
    },
  }
}

function callOptions(request: InferRequest, v4: boolean, signal: AbortSignal | undefined): JsonObject {
  const { messages, tools = [], toolChoice = "auto", jsonSchema, sampling = {} } = request
  const { maxTokens, temperature, topP, topK, presencePenalty, frequencyPenalty, stop, seed } = sampling
  const settings = { maxOutputTokens: maxTokens, temperature, topP, topK, presencePenalty, frequencyPenalty, seed }
  return {
    prompt: messages.map((message) => promptMessage(message, v4)),
    ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    ...(stop === undefined || stop.length === 0 ? {} : { stopSequences: [...stop] }),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ function: tool }) => functionTool(tool)) }),
    ...(tools.length === 0 ? {} : { toolChoice: { type: toolChoice } }),
    ...(jsonSchema === undefined ? {} : { responseFormat: { type: "json", schema: jsonSchema } }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  }
}

function functionTool({ name, description, parameters }: NonNullable<InferRequest["tools"]>[number]["function"]) {
  return { type: "function", name, description, inputSchema: parameters }
}

function promptMessage(message: ChatMessage, v4: boolean): JsonObject {
  if (message.role === "system") return { role: "system", content: message.content }
  if (message.role === "tool") {
    const output = { type: message.success ? "text" : "error-text", value: message.content }
    return {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: message.callId, toolName: message.name, output }],
    }
  }
  const text = message.content === "" ? [] : [{ type: "text", text: message.content }]
  if (message.role === "assistant") {
    const calls = (message.toolCalls ?? []).map(({ id, name, arguments: input }) => {
      return { type: "tool-call", toolCallId: id, toolName: name, input }
    })
    return { role: "assistant", content: [...text, ...calls] }
  }
  const files = (message.media ?? []).map((part) => {
    const mediaType = "url" in part ? "image/*" : part.mimeType
    const plain = "url" in part ? new URL(part.url) : part.base64
    const tagged = "url" in part ? { type: "url", url: new URL(part.url) } : { type: "data", data: part.base64 }
    return { type: "file", mediaType, data: v4 ? tagged : plain }
  })
  return { role: "user", content: [...text, ...files] }
}

interface StreamPart {
  type: string
  delta?: string
  toolCallId?: string
  toolName?: string
  input?: string
  finishReason?: string | { unified?: string }
  usage?: { inputTokens?: Count; outputTokens?: Count }
  error?: unknown
}

type Count = number | { total?: number } | undefined

async function* eventsOf(stream: ReadableStream<unknown>): AsyncGenerator<InferEvent> {
  let index = 0
  let end: InferEvent = { type: "end", finishReason: "unknown" }
  for await (const each of stream) {
    const part = each as StreamPart
    if (part.type === "error") throw part.error
    if (part.type === "text-delta" || part.type === "reasoning-delta") yield { type: part.type, text: part.delta ?? "" }
    else if (part.type === "tool-call") {
      const { toolCallId: id = "", toolName: name = "", input = "" } = part
      yield { type: "call-delta", index: index++, id, name, arguments: input }
    } else if (part.type === "finish") end = endOf(part)
  }
  yield end
}

const REASONS: ReadonlySet<string> = new Set(["stop", "length", "tool-calls", "content-filter", "error"])

function endOf({ finishReason, usage }: StreamPart): InferEvent {
  const reason = typeof finishReason === "string" ? finishReason : (finishReason?.unified ?? "")
  const counted = usageOf(usage)
  return {
    type: "end",
    finishReason: REASONS.has(reason) ? (reason as FinishReason) : "unknown",
    ...(counted === undefined ? {} : { usage: counted }),
  }
}

function usageOf(usage: StreamPart["usage"]): Usage | undefined {
  const number = (count: Count): number | undefined => (typeof count === "number" ? count : count?.total)
  const [inputTokens, outputTokens] = [number(usage?.inputTokens), number(usage?.outputTokens)]
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 }
}

/** The SDK's failures carry the status of the answer, where there was one. */
function failureOf(thrown: unknown, { provider, modelId }: AiSdkModel): unknown {
  if (ToolwrightError.isInstance(thrown)) return thrown
  const setting = "the AI SDK's model"
  const context: FailureContext = {
    url: provider,
    modelName: modelId,
    server: setting,
    keySetting: setting,
    urlSetting: setting,
  }
  const { statusCode, responseHeaders } = (thrown ?? {}) as {
    statusCode?: unknown
    responseHeaders?: Record<string, string>
  }
  if (typeof statusCode !== "number") return unreachable(context, messageOf(thrown), thrown)
  const failure = failureOfStatus(statusCode, { message: messageOf(thrown), code: "", param: "" }, context)
  const seconds = Number(responseHeaders?.["retry-after"] ?? Number.NaN)
  if (Number.isNaN(seconds)) return failure
  const hint = failure.hint === undefined ? {} : { hint: failure.hint }
  return new ToolwrightError(failure.code, failure.message, { cause: thrown, retryAfterMs: seconds * 1000, ...hint })
}
