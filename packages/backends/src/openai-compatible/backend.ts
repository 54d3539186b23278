import type { JsonObject } from "@toolwright/toolbox"
import type { FailureContext } from "../failures.ts"
import type { Backend, BackendAbilities, InferEvent, InferRequest, ModelFormat } from "../model/backend.ts"
import { delay } from "../time.ts"
import { chatAddress } from "./address.ts"
import { chatBody } from "./body.ts"
import { DIALECT_ABILITIES, SAMPLING_NAMES, samplingFields, type Dialect } from "./dialect.ts"
import { LIMITS, type ReplyLimits } from "./limits.ts"
import { replyEvents } from "./reply-events.ts"
import { createRetries, Retryable } from "./retry.ts"
import { createWatchdog, readText, send } from "./transport.ts"

/** Settings of an OpenAI-compatible backend. */
export interface OpenAICompatibleOptions {
  /** Where the server's API begins, e.g. `http://localhost:8080/v1`. */
  baseUrl: string
  modelName: string
  /** Sent as a bearer token; never shown. */
  apiKey?: string
  headers?: Readonly<Record<string, string>>
  /** `generic` unless given; `probeAbilities` finds it out. */
  dialect?: Dialect
  /** Tokens that a request and its reply may have together, where it is known. */
  contextTokens?: number
  /** How the model writes calls in text, where its chat template says so. */
  modelFormat?: ModelFormat
  /** What goes before the dialect's abilities. */
  abilities?: Partial<BackendAbilities>
  /** Whether to ask for a stream; true unless given. */
  stream?: boolean
  /** Sends reasoning of earlier turns back. */
  includeReasoning?: boolean
  /** Milliseconds without any byte after which a request is given up; 240 000 unless given. */
  stallTimeoutMs?: number
  /** Milliseconds that one reply may take, waiting for the server alone; 30 minutes unless given. */
  replyTimeoutMs?: number
  /** Milliseconds to wait before each retry; their number is the number of retries. */
  retryDelaysMs?: readonly number[]
  /** Milliseconds that a server which is busy (HTTP 429, or `Retry-After`) is waited for; five minutes unless given. */
  busyTimeoutMs?: number
  /** How much of a reply is read before it is given up with `REPLY_TOO_LONG`; {@link LIMITS} unless given. */
  limits?: Partial<ReplyLimits>
  /** What messages call the settings of the address and the key. */
  settingNames?: { url?: string; key?: string }
  fetch?: typeof fetch
  /** Waits between tries. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/**
 * A backend for any server that speaks OpenAI's chat completions: llama.cpp, vLLM, Ollama, LM Studio, SGLang, OpenAI, …
 *
 * Transport failures and HTTP 5xx are tried again after 1, 2 and 4 seconds; a server that is busy (HTTP 429, or 5xx with
 * `Retry-After`) when it says that it will have time, or after ever longer waits. Each try has a `retry` event, and there
 * is none once something of the reply has been passed on; everything else fails at once.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none
 */
export function createOpenAICompatibleBackend(options: OpenAICompatibleOptions): Backend {
  const { modelName, dialect = "generic", stream = true, includeReasoning = false } = options
  const { stallTimeoutMs = 240_000, replyTimeoutMs = 30 * 60_000, busyTimeoutMs = 5 * 60_000 } = options
  const { apiKey = "", retryDelaysMs = [1000, 2000, 4000], sleep = delay, fetch: fetcher = fetch } = options
  const { endpoint, context, headers } = whereTo(options, stream)
  const limits = { ...LIMITS, ...options.limits }

  async function* once(body: string, signal: AbortSignal | undefined): AsyncGenerator<InferEvent> {
    const watchdog = createWatchdog({ stallMs: stallTimeoutMs, replyMs: replyTimeoutMs }, context, signal)
    const response = await send(fetcher, endpoint, { method: "POST", headers, body }, context, watchdog, [apiKey])
    const isStream = (response.headers.get("content-type") ?? "").includes("event-stream")
    const text = readText(response, context, watchdog, limits.stream)
    yield* replyEvents(text, isStream, context, limits)
  }

  async function* infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<InferEvent> {
    signal?.throwIfAborted()
    const body = JSON.stringify(chatBody(request, { modelName, dialect, stream, includeReasoning }))
    const retries = createRetries({ delaysMs: retryDelaysMs, busyMs: busyTimeoutMs })
    for (;;) {
      let passedOn = false
      try {
        for await (const event of once(body, signal)) {
          passedOn = true
          yield event
        }
        return
      } catch (thrown) {
        if (!(thrown instanceof Retryable)) throw thrown
        if (passedOn) throw thrown.failure
        const wait = retries.after(thrown)
        yield { type: "retry", ...wait, code: thrown.failure.code }
        await sleep(wait.delayMs, signal)
      }
    }
  }

  async function forward(path: string, body: JsonObject, { signal }: { signal?: AbortSignal } = {}): Promise<Response> {
    const watchdog = createWatchdog({ stallMs: stallTimeoutMs, replyMs: replyTimeoutMs }, context, signal)
    const target = new URL(endpoint)
    target.pathname = target.pathname.replace(/chat\/completions$/, path)
    const init = { method: "POST", headers, body: JSON.stringify(body) }
    try {
      return await send(fetcher, target.href, init, { ...context, url: target.origin + target.pathname }, watchdog, [
        apiKey,
      ])
    } catch (thrown) {
      throw thrown instanceof Retryable ? thrown.failure : thrown
    }
  }

  return {
    kind: "openai-compatible",
    abilities: { ...DIALECT_ABILITIES[dialect], ...options.abilities },
    modelName: () => modelName,
    ...(options.modelFormat === undefined ? {} : { modelFormat: options.modelFormat }),
    ...(options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }),
    leavesOut: ({ sampling }) => samplingFields(sampling, dialect).unsupported.map((name) => SAMPLING_NAMES[name]),
    infer,
    forward,
  }
}

/** The address with its headers, and what failures call it. */
function whereTo(options: OpenAICompatibleOptions, stream: boolean) {
  const { modelName, apiKey = "", settingNames = {} } = options
  const { url: urlSetting = "the model's baseUrl", key: keySetting = "the model's apiKey" } = settingNames
  const { endpoint, shown, authorization } = chatAddress(options.baseUrl, urlSetting)
  const context: FailureContext = { url: shown, modelName, urlSetting, keySetting }
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: stream ? "text/event-stream, application/json" : "application/json",
    ...(authorization === undefined ? {} : { authorization }),
    ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
    ...options.headers,
  }
  return { endpoint, context, headers }
}
