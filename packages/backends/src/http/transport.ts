import { messageOf, ToolwrightError, traced } from "@toolwright/toolbox"
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
import type { Answered, Client, Sending } from "./client.ts"
import { END_MS, END_PIECES, ERROR_TEXT_MS, LONGEST_ERROR } from "./limits.ts"
import { askedWait } from "./rate-limit.ts"
import { Retryable } from "./retry.ts"
import { inSeconds, type Watchdog } from "./watchdog.ts"

/**
 * Sends one request and waits for the head of a successful response.
 *
 * @throws Retryable, or what cannot be cured by trying again
 */
export async function send(
  client: Client,
  endpoint: string,
  sending: Sending,
  context: FailureContext,
  watchdog: Watchdog,
): Promise<Answered> {
  try {
    const answered = await headOf(client, endpoint, sending, context, watchdog)
    const { status } = answered
    if (status >= 200 && status < 300) return answered
    if (status >= 300 && status < 400) {
      const target = quoted(answered.headers.get("location") ?? "another address", context.secrets)
      answered.leave()
      throw badReply(context, `it redirects to ${target}, which must be set as the address itself`)
    }
    const said = await errorWords(answered, watchdog, context)
    const failure = failureOfStatus(status, said, context)
    throw retryable(answered, said, failure) ?? failure
  } catch (thrown) {
    watchdog.rest()
    throw thrown
  }
}

async function headOf(
  client: Client,
  endpoint: string,
  sending: Sending,
  context: FailureContext,
  watchdog: Watchdog,
): Promise<Answered> {
  if (watchdog.aborted) throw watchdog.failure()
  const { headers } = traced({ headers: sending.headers })
  const sent = headers instanceof Headers ? { ...sending, headers: Object.fromEntries(headers) } : sending
  try {
    return await watchdog.wait(client(endpoint, sent, watchdog))
  } catch (cause) {
    if (watchdog.aborted) throw watchdog.failure()
    throw connectionFailure(cause, context)
  }
}

/** What a failed response means for another try; nothing where it would meet the same failure. */
function retryable({ status, headers }: Answered, said: ServerWords, failure: ToolwrightError): Retryable | undefined {
  if (failure.code === "CONSTRAINT_UNSUPPORTED" || headers.get("x-should-retry") === "false") return undefined
  const askedMs = askedWait(headers)
  // A quota that is used up does not come back by waiting.
  const busy = (status === 429 && !/quota|billing/i.test(said.code)) || (status >= 500 && headers.has("retry-after"))
  if (!busy) return status >= 500 ? new Retryable(failure, `HTTP ${status}`) : undefined
  const asks = askedMs === undefined ? "" : `; the server asks for ${inSeconds(askedMs)} seconds`
  return new Retryable(failure, `HTTP ${status}${asks}`, { askedMs })
}

/** Codes of failures that the next try would meet again. */
const PERMANENT = new RegExp(
  `^(${[
    "ENOTFOUND|ERR_INVALID_URL|ERR_TLS_.*|ERR_SSL_.*|CERT_.*",
    "DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ].join("|")})$`,
)

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
async function errorWords(answered: Answered, watchdog: Watchdog, { secrets }: FailureContext): Promise<ServerWords> {
  let text: string
  try {
    text = (await watchdog.wait(beginningOf(answered))).trim()
  } catch {
    if (watchdog.aborted) throw watchdog.failure()
    text = ""
  }
  const { message, code, param } = wordsIn(text)
  return { message: quoted(message, secrets), code, param }
}

/** As much of a body as a message can use: a server may write for ever. */
async function beginningOf(answered: Answered): Promise<string> {
  const decoder = new TextDecoder()
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), ERROR_TEXT_MS)
  const pieces: string[] = []
  let length = 0
  try {
    while (length < LONGEST_ERROR) {
      const piece = await Promise.race([answered.read(), late.promise])
      if (piece === undefined) break
      pieces.push(decoder.decode(piece, { stream: true }))
      length += piece.length
    }
    return pieces.join("").slice(0, LONGEST_ERROR)
  } finally {
    clearTimeout(timer)
    answered.leave()
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

/** A response's text, decoded strictly and piece by piece. */
export class TextPieces {
  readonly #answered: Answered
  readonly #context: FailureContext
  readonly #watchdog: Watchdog
  readonly #longest: number
  readonly #decoder = new TextDecoder("utf-8", { fatal: true })
  #length = 0

  /** @param longest bytes after which it is given up */
  constructor(answered: Answered, context: FailureContext, watchdog: Watchdog, longest: number) {
    this.#answered = answered
    this.#context = context
    this.#watchdog = watchdog
    this.#longest = longest
  }

  /** The next piece; nothing at the end. A promise only where it has to be waited for. */
  next(): string | undefined | Promise<string | undefined> {
    const read = this.#answered.read()
    return read instanceof Promise ? this.#waitFor(read) : this.#decode(read)
  }

  async #waitFor(read: Promise<Uint8Array | undefined>): Promise<string | undefined> {
    try {
      return this.#decode(await this.#watchdog.wait(read))
    } catch (cause) {
      if (this.#watchdog.aborted) throw this.#watchdog.failure()
      if (ToolwrightError.isInstance(cause)) throw cause
      const broken = `the connection broke in the middle of it (${causeOf(cause).text})`
      throw new Retryable(badReply(this.#context, broken, cause), "the connection broke")
    }
  }

  #decode(bytes: Uint8Array | undefined): string | undefined {
    this.#length += bytes?.length ?? 0
    if (this.#length > this.#longest) throw replyTooLong(this.#context, `more than ${this.#longest} bytes`)
    try {
      // The end tells of a character that was cut off.
      if (bytes === undefined) return void this.#decoder.decode()
      return this.#decoder.decode(bytes, { stream: true })
    } catch (cause) {
      throw badReply(this.#context, "it is not UTF-8", cause)
    }
  }

  /** @param over all that counts has been read: the rest is the end of the response, if the server sends one */
  leave(over: boolean): void {
    this.#watchdog.rest()
    if (over && !this.#watchdog.aborted) void readEnd(this.#answered)
    else this.#answered.leave()
  }
}

/** Reads a response to its end, so that its connection serves the next request; one that does not end is left. */
async function readEnd(answered: Answered): Promise<void> {
  const timer = setTimeout(() => answered.leave(), END_MS).unref()
  try {
    for (let pieces = 0; pieces < END_PIECES; pieces++) if ((await answered.read()) === undefined) return
    answered.leave()
  } catch {
    // The connection is gone, and nobody waits for it.
  } finally {
    clearTimeout(timer)
  }
}
