import type { JsonObject } from "@toolwright/toolbox"
import type { FailureContext } from "../failures.ts"
import type { Backend, BackendAbilities, InferEvent, InferRequest, ModelFormat } from "../model/backend.ts"
import { delay } from "../time.ts"
import { addressOf, type Address } from "./address.ts"
import { LIMITS, type ReplyLimits } from "./limits.ts"
import type { Protocol } from "./protocol.ts"
import { clientFor, type Answered } from "./client.ts"
import { Inference, type Tries } from "./inference.ts"
import { ReplyReading, type Framing } from "./reply-events.ts"
import { Retryable } from "./retry.ts"
import { createTokenReader, type TokensPage } from "./tokens.ts"
import { send, TextPieces } from "./transport.ts"
import { Watchdog } from "./watchdog.ts"

/** Settings of every backend that asks a server. */
export interface ServerOptions {
  /** Where the server's API begins, e.g. `http://localhost:8080/v1`. */
  baseUrl: string
  modelName: string
  /** Never shown. */
  apiKey?: string
  headers?: Readonly<Record<string, string>>
  /** Tokens that a request and its reply may have together, where it is known. */
  contextTokens?: number
  /** How the model writes calls in text, where its chat template says so. */
  modelFormat?: ModelFormat
  /** What goes before the abilities that the server is taken to have. */
  abilities?: Partial<BackendAbilities>
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
  /** The models that the server said it has, for the message where it knows not the one that it is asked for. */
  models?: readonly string[]
  /** What messages call the settings of the address and the key. */
  settingNames?: { url?: string; key?: string }
  fetch?: typeof fetch
  /** Waits between tries. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/**
 * A backend for a server that speaks a protocol over HTTP.
 *
 * Transport failures and HTTP 5xx are tried again after 1, 2 and 4 seconds; a server that is busy (HTTP 429, or 5xx
 * with `Retry-After`) when it says that it will have time, or after ever longer waits. Each try has a `retry` event,
 * and there is none once something of the reply has been passed on; everything else fails at once.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none
 */
export function createServerBackend(protocol: Protocol, options: ServerOptions): Backend {
  const { modelName, retryDelaysMs = [1000, 2000, 4000], sleep = delay } = options
  const { stallTimeoutMs = 240_000, replyTimeoutMs = 30 * 60_000, busyTimeoutMs = 5 * 60_000 } = options
  const { address, context, headers } = whereTo(protocol, options)
  const limits = { ...LIMITS, ...options.limits }
  const client = clientFor(address.endpoint, options.fetch)
  const watchdogFor = (signal: AbortSignal | undefined): Watchdog =>
    new Watchdog({ stallMs: stallTimeoutMs, replyMs: replyTimeoutMs }, context, signal)

  async function ask(body: string, signal: AbortSignal | undefined): Promise<ReplyReading> {
    const watchdog = watchdogFor(signal)
    const answered = await send(client, address.endpoint, { headers, body }, context, watchdog)
    const pieces = new TextPieces(answered, context, watchdog, limits.stream)
    return new ReplyReading(pieces, framingOf(answered, protocol), protocol.decoder(), { context, limits })
  }

  const tries: Tries = { ask, sleep, delaysMs: retryDelaysMs, busyMs: busyTimeoutMs }

  function infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncIterableIterator<InferEvent> {
    return new Inference(() => JSON.stringify(protocol.body(request)), tries, signal)
  }

  async function forward(path: string, body: JsonObject, { signal }: { signal?: AbortSignal } = {}): Promise<Response> {
    const watchdog = watchdogFor(signal)
    const target = new URL(address.other(path)!)
    const sending = { headers, body: JSON.stringify(body) }
    const asked = typeof body.model === "string" ? { modelName: body.model } : {}
    const place = { ...context, ...asked, url: target.origin + target.pathname, page: path }
    try {
      return responseOf(await send(client, target.href, sending, place, watchdog), watchdog)
    } catch (thrown) {
      throw thrown instanceof Retryable ? thrown.failure : thrown
    }
  }

  return {
    kind: protocol.kind,
    abilities: { ...protocol.abilities, ...options.abilities },
    modelName: () => modelName,
    ...(protocol.api === undefined ? {} : { api: protocol.api }),
    ...(options.modelFormat === undefined ? {} : { modelFormat: options.modelFormat }),
    ...(options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }),
    leavesOut: (request) => protocol.leavesOut(request),
    infer,
    ...(protocol.pages.others === undefined ? {} : { forward }),
    ...tokensPart(protocol, { url: address.beside("tokenize"), headers, context, client }),
  }
}

/** What a server answers, passed on as it comes. */
function responseOf(answered: Answered, watchdog: Watchdog): Response {
  const leave = (): void => {
    watchdog.rest()
    answered.leave()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await answered.read()
          if (piece !== undefined) return controller.enqueue(piece)
          watchdog.rest()
          controller.close()
        } catch (thrown) {
          watchdog.rest()
          controller.error(thrown)
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: answered.status, headers: answered.headers })
}

/** Of a server that tells the tokens of texts. */
function tokensPart({ tokensOf }: Protocol, page: Omit<TokensPage, "body">): Pick<Backend, "tokenize"> {
  return tokensOf === undefined ? {} : { tokenize: createTokenReader({ ...page, body: tokensOf }) }
}

/** How the values of a reply follow each other, as its response says. */
function framingOf({ headers }: Pick<Answered, "headers">, { lines }: Protocol): Framing {
  if ((headers.get("content-type") ?? "").includes("event-stream")) return "events"
  return lines === true ? "lines" : "whole"
}

/** The address with its headers, and what failures call it. */
function whereTo(
  { pages, server, headers: own }: Protocol,
  options: ServerOptions,
): { address: Address; context: FailureContext; headers: Record<string, string> } {
  const { modelName, models = [], apiKey = "", settingNames = {} } = options
  const { url: urlSetting = "the model's baseUrl", key: keySetting = "the model's apiKey" } = settingNames
  const address = addressOf(options.baseUrl, urlSetting, pages)
  const { authorization } = address
  const bearer = (key: string): Record<string, string> => (key === "" ? {} : { authorization: `Bearer ${key}` })
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    ...(authorization === undefined ? {} : { authorization }),
    ...(own ?? bearer)(apiKey),
    ...options.headers,
  }
  const secrets = [apiKey, ...secretsIn(headers)]
  return {
    address,
    context: { url: address.shown, modelName, server, urlSetting, keySetting, secrets, models },
    headers,
  }
}

/** Values of headers that let somebody in. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => /authorization|key|token|secret|cookie/i.test(name))
    .flatMap(([, value]) => [value, value.replace(/^(?:Basic|Bearer)\s+/i, "")])
}
