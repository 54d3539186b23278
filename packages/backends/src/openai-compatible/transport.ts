import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { badReply, failureOfStatus, timedOut, unreachable, type FailureContext } from "../failures.ts"

/** A failure after which the same request may be tried again: the connection failed, or the server did. */
export class Retryable {
  readonly failure: ToolwrightError
  readonly reason: string

  constructor(failure: ToolwrightError, reason: string) {
    this.failure = failure
    this.reason = reason
  }
}

/** Ends a request when nothing has come for too long. Time in which its reader does something else does not count. */
export interface Watchdog {
  /** For `fetch`: aborted by the caller, or when the time is over. */
  readonly signal: AbortSignal
  /** Waits for the server. */
  wait<Value>(server: Promise<Value>): Promise<Value>
  /** The failure for an abort: the caller's own reason, or that the time was over. */
  failure(): unknown
}

export function createWatchdog(stallMs: number, context: FailureContext, caller: AbortSignal | undefined): Watchdog {
  const stalled = new AbortController()
  return {
    signal: caller === undefined ? stalled.signal : AbortSignal.any([caller, stalled.signal]),
    async wait(server) {
      const timer = setTimeout(() => stalled.abort(), stallMs)
      try {
        return await server
      } finally {
        clearTimeout(timer)
      }
    },
    failure() {
      if (caller?.aborted === true) return caller.reason
      return timedOut(`The model server at ${context.url} sent nothing for ${Math.round(stallMs / 100) / 10} seconds.`)
    },
  }
}

/**
 * Sends one request and waits for the head of a successful response.
 *
 * @throws Retryable, or what cannot be cured by trying again
 */
export async function send(
  fetcher: typeof fetch,
  endpoint: string,
  init: RequestInit,
  context: FailureContext,
  watchdog: Watchdog,
  secrets: readonly string[],
): Promise<Response> {
  let response: Response
  try {
    response = await watchdog.wait(fetcher(endpoint, { ...init, redirect: "manual", signal: watchdog.signal }))
  } catch (cause) {
    if (watchdog.signal.aborted) throw watchdog.failure()
    throw connectionFailure(cause, context)
  }
  if (response.ok) return response
  if (response.status >= 300 && response.status < 400) {
    const target = response.headers.get("location") ?? "another address"
    void response.body?.cancel().catch(() => {})
    throw badReply(context, `it redirects to ${target}, which must be set as the address itself`)
  }
  const said = hide(await errorText(response, watchdog), secrets)
  const failure = failureOfStatus(response.status, said, context)
  throw response.status >= 500 ? new Retryable(failure, `HTTP ${response.status}`) : failure
}

/** Codes of failures that the next try would meet again. */
const PERMANENT =
  /^(ENOTFOUND|ERR_INVALID_URL|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|ERR_SSL_.*)$/

function connectionFailure(thrown: unknown, context: FailureContext): unknown {
  const { code, text } = causeOf(thrown)
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return timedOut(`The model server at ${context.url} sent nothing for too long.`)
  }
  const reason = code === "ENOTFOUND" ? "the host's name is not known" : text
  const failure = unreachable(context, reason, thrown)
  return code !== undefined && PERMANENT.test(code) ? failure : new Retryable(failure, reason)
}

/** The innermost reason that fetch gives; of several tried addresses the last. */
function causeOf(thrown: unknown): { code?: string; text: string } {
  let error = thrown as { cause?: unknown; errors?: unknown[]; code?: string }
  for (let depth = 0; depth < 5; depth++) {
    const next = error.errors?.at(-1) ?? error.cause
    if (typeof next !== "object" || next === null) break
    error = next
  }
  return { ...(typeof error.code === "string" ? { code: error.code } : {}), text: messageOf(error) }
}

/** The server's own words in a failed response: the message in its JSON, or the beginning of its text. */
async function errorText(response: Response, watchdog: Watchdog): Promise<string> {
  let text: string
  try {
    text = (await watchdog.wait(response.text())).trim()
  } catch {
    if (watchdog.signal.aborted) throw watchdog.failure()
    return ""
  }
  try {
    const body = JSON.parse(text) as { error?: unknown; message?: unknown; detail?: unknown }
    const inner =
      (typeof body.error === "object" ? (body.error as { message?: unknown } | null)?.message : body.error) ??
      body.message ??
      body.detail
    if (inner !== undefined) return shorten(typeof inner === "string" ? inner : JSON.stringify(inner))
  } catch {
    // Not JSON, such as a proxy's page: its text is what there is.
  }
  return shorten(
    text.startsWith("<")
      ? text
          .replaceAll(/<[^>]*>/g, " ")
          .replaceAll(/\s+/g, " ")
          .trim()
      : text,
  )
}

function shorten(text: string): string {
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

/** Servers quote what they were sent: keys never get into a message. */
function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => (secret === "" ? shown : shown.replaceAll(secret, "•••")), text)
}

/** A response's text, decoded strictly and piece by piece. */
export async function* readText(
  response: Response,
  context: FailureContext,
  watchdog: Watchdog,
): AsyncGenerator<string> {
  if (response.body === null) return
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch (cause) {
      throw badReply(context, "it is not UTF-8", cause)
    }
  }
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await readPiece(reader, context, watchdog)
      if (done) break
      yield decode(value)
    }
    yield decode()
  } finally {
    void reader.cancel().catch(() => {})
  }
}

async function readPiece(reader: ReadableStreamDefaultReader<Uint8Array>, context: FailureContext, watchdog: Watchdog) {
  try {
    return await watchdog.wait(reader.read())
  } catch (cause) {
    if (watchdog.signal.aborted) throw watchdog.failure()
    const failure = badReply(context, `the connection broke in the middle of it (${causeOf(cause).text})`, cause)
    throw new Retryable(failure, "the connection broke")
  }
}
