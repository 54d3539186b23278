import { messageOf, traced, type ToolwrightError } from "@toolwright/toolbox"
import {
  badReply,
  failureOfStatus,
  replyTooLong,
  timedOut,
  unreachable,
  type FailureContext,
  type ServerWords,
} from "../failures.ts"
import { quoted } from "./quoted.ts"
import { END_MS, END_PIECES, ERROR_TEXT_MS, LONGEST_ERROR } from "./limits.ts"
import { askedWait } from "./rate-limit.ts"
import { Retryable } from "./retry.ts"

/** Ends a request that takes too long. Time in which its reader does something else does not count. */
export interface Watchdog {
  /** For `fetch`: aborted by the caller, or when the time is over. */
  readonly signal: AbortSignal
  /** Waits for the server. */
  wait<Value>(server: Promise<Value>): Promise<Value>
  /** The failure for an abort: the caller's own reason, or that the time was over. */
  failure(): unknown
}

/** How long a server is waited for, in milliseconds. */
export interface Patience {
  /** Without any byte. */
  stallMs: number
  /** For all of one reply. */
  replyMs: number
}

export function createWatchdog(
  { stallMs, replyMs }: Patience,
  context: FailureContext,
  caller: AbortSignal | undefined,
): Watchdog {
  const late = new AbortController()
  let waited = 0
  return {
    signal: caller === undefined ? late.signal : AbortSignal.any([caller, late.signal]),
    async wait(server) {
      const started = performance.now()
      const timer = setTimeout(() => late.abort(), Math.max(0, Math.min(stallMs, replyMs - waited)))
      try {
        return await server
      } finally {
        clearTimeout(timer)
        waited += performance.now() - started
      }
    },
    failure() {
      if (caller?.aborted === true) return caller.reason
      if (waited >= replyMs)
        return timedOut(
          `The model server at ${context.url} did not end its reply within ${inSeconds(replyMs)} seconds.`,
        )
      return timedOut(`The model server at ${context.url} sent nothing for ${inSeconds(stallMs)} seconds.`)
    },
  }
}

function inSeconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10
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
): Promise<Response> {
  let response: Response
  try {
    response = await watchdog.wait(fetcher(endpoint, { ...traced(init), redirect: "manual", signal: watchdog.signal }))
  } catch (cause) {
    if (watchdog.signal.aborted) throw watchdog.failure()
    throw connectionFailure(cause, context)
  }
  if (response.ok) return response
  if (response.status >= 300 && response.status < 400) {
    const target = quoted(response.headers.get("location") ?? "another address", context.secrets)
    void response.body?.cancel().catch(() => {})
    throw badReply(context, `it redirects to ${target}, which must be set as the address itself`)
  }
  const said = await errorWords(response, watchdog, context)
  const failure = failureOfStatus(response.status, said, context)
  throw retryable(response, said, failure) ?? failure
}

/** What a failed response means for another try; nothing where it would meet the same failure. */
function retryable({ status, headers }: Response, said: ServerWords, failure: ToolwrightError): Retryable | undefined {
  if (failure.code === "CONSTRAINT_UNSUPPORTED" || headers.get("x-should-retry") === "false") return undefined
  const askedMs = askedWait(headers)
  // A quota that is used up does not come back by waiting.
  const busy = (status === 429 && !/quota|billing/i.test(said.code)) || (status >= 500 && headers.has("retry-after"))
  if (!busy) return status >= 500 ? new Retryable(failure, `HTTP ${status}`) : undefined
  const asks = askedMs === undefined ? "" : `; the server asks for ${inSeconds(askedMs)} seconds`
  return new Retryable(failure, `HTTP ${status}${asks}`, { askedMs })
}

/** Codes of failures that the next try would meet again. */
const PERMANENT =
  /^(ENOTFOUND|ERR_INVALID_URL|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|ERR_SSL_.*)$/

function connectionFailure(thrown: unknown, context: FailureContext): unknown {
  const { code, text } = causeOf(thrown)
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return timedOut(`The model server at ${context.url} sent nothing for too long.`)
  }
  const badPort = text === "bad port"
  const reason =
    code === "ENOTFOUND"
      ? "the host's name is not known"
      : badPort
        ? "its port is one on which no HTTP request is sent, since other services have it (as browsers hold it, too)"
        : text
  const failure = unreachable(context, reason, thrown)
  if (badPort) return failure
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

/** The server's own words in a failed response: what stands in its JSON, or the beginning of its text. */
async function errorWords(response: Response, watchdog: Watchdog, { secrets }: FailureContext): Promise<ServerWords> {
  let text: string
  try {
    text = (await watchdog.wait(beginningOf(response))).trim()
  } catch {
    if (watchdog.signal.aborted) throw watchdog.failure()
    text = ""
  }
  const { message, code, param } = wordsIn(text)
  return { message: quoted(message, secrets), code, param }
}

/** As much of a body as a message can use: a server may write for ever. */
async function beginningOf(response: Response): Promise<string> {
  if (response.body === null) return ""
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), ERROR_TEXT_MS)
  const pieces: string[] = []
  let length = 0
  try {
    while (length < LONGEST_ERROR) {
      const { done, value } = await reader.read()
      if (done) break
      pieces.push(decoder.decode(value, { stream: true }))
      length += value.length
    }
    return pieces.join("").slice(0, LONGEST_ERROR)
  } finally {
    clearTimeout(timer)
    void reader.cancel().catch(() => {})
  }
}

type Body = Record<string, unknown>

/**
 * OpenAI's `error: { message, code, param }`, the shorter forms of others, and FastAPI's `detail: [{ loc, msg, type
 * }]`.
 */
function wordsIn(text: string): ServerWords {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // Not JSON, such as a proxy's page: its text is what there is.
  }
  if (typeof body !== "object" || body === null) return { message: withoutTags(text), code: "", param: "" }
  const { error, message, detail } = body as Body
  if (Array.isArray(detail)) return wordsOf(detail[0] as FieldProblem | null, detail)
  if (typeof error !== "object" || error === null)
    return { ...codesIn(body as Body), message: plain(error ?? message ?? detail ?? text) }
  const inner = error as Body
  return { ...codesIn(inner), message: plain(inner.message ?? text) }
}

interface FieldProblem {
  loc?: unknown
  type?: unknown
}

/** FastAPI's way: the first of several problems, by the field that it is about. */
function wordsOf(first: FieldProblem | null, all: unknown): ServerWords {
  const place = Array.isArray(first?.loc) ? first.loc.filter((part) => part !== "body").join(".") : ""
  return { message: plain(all), code: String(first?.type ?? ""), param: place }
}

function codesIn({ code, type, param }: Body): Omit<ServerWords, "message"> {
  return { code: String(code ?? type ?? ""), param: String(param ?? "") }
}

function plain(said: unknown): string {
  return typeof said === "string" ? said : JSON.stringify(said)
}

function withoutTags(text: string): string {
  if (!text.startsWith("<")) return text
  return text
    .replaceAll(/<[^<>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
}

/** How much of a response is read. */
export interface Extent {
  /** Bytes after which it is given up. */
  longest: number
  /** All that counts has been read: what follows is the end of the response, if the server sends one. */
  over: boolean
}

/** A response's text, decoded strictly and piece by piece. */
export async function* readText(
  response: Response,
  context: FailureContext,
  watchdog: Watchdog,
  extent: Extent,
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
  let length = 0
  try {
    for (;;) {
      const { done, value } = await readPiece(reader, context, watchdog)
      if (done) break
      length += value.length
      if (length > extent.longest) throw replyTooLong(context, `more than ${extent.longest} bytes`)
      yield decode(value)
    }
    yield decode()
  } finally {
    if (extent.over && !watchdog.signal.aborted) void readEnd(reader)
    else void reader.cancel().catch(() => {})
  }
}

/** Reads a response to its end, so that its connection serves the next request; one that does not end is left. */
async function readEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const leave = (): void => void reader.cancel().catch(() => {})
  const timer = setTimeout(leave, END_MS).unref()
  try {
    for (let pieces = 0; pieces < END_PIECES; pieces++) if ((await reader.read()).done) return
    leave()
  } catch {
    // The connection is gone, and nobody waits for it.
  } finally {
    clearTimeout(timer)
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
