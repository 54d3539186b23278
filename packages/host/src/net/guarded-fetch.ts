import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { messageOf } from "@toolwright/toolbox"
import { connectTo, systemDial, systemLookup, within, type Dial, type Lookup } from "./connect.ts"
import { decodeBody } from "./decode-body.ts"
import { NetworkError } from "./network-error.ts"
import { createRateLimiter } from "./rate-limit.ts"
import { parseWebUrl } from "./url-policy.ts"

/** What the built-in tools may reach, and how long and how much. Every field has a safe default. */
export interface NetworkPolicy {
  /** Origins (`http://127.0.0.1:8080`) that may be reached though they are not on the public internet. */
  allowOrigins?: readonly string[]
  /** Certificate authorities to trust instead of the system's, in PEM. */
  ca?: string
  /** Most redirects that are followed; 5 unless given. */
  maxRedirects?: number
  /** Most bytes of a body after decompression; 5 MiB unless given. */
  maxBytes?: number
  /** Most times that a body may grow when decompressed; 200 unless given. */
  maxRatio?: number
  /** Longest time to look up a name, to connect, and to agree on TLS, each; 10 s unless given. Milliseconds. */
  connectMs?: number
  /** Longest time from the request to the response's headers; 15 s unless given. */
  headersMs?: number
  /** Longest time for everything, redirects and body included; 30 s unless given. */
  totalMs?: number
  /** Most requests to one host in a minute; 120 unless given. */
  requestsPerMinute?: number
  userAgent?: string
  lookup?: Lookup
  dial?: Dial
  now?: () => number
}

export interface GuardedRequest {
  method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE"
  headers?: Readonly<Record<string, string>>
  body?: string
  signal?: AbortSignal
  /** Limits of this request alone, in place of the policy's. */
  limits?: Pick<NetworkPolicy, "maxRedirects" | "maxBytes" | "totalMs">
}

/**
 * A response whose body has been read and decoded. `url` is where the last redirect led; header names are in lower
 * case.
 */
export interface GuardedResponse {
  url: string
  status: number
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  redirects: readonly string[]
}

/** Fetches one URL under a {@link NetworkPolicy}. Statuses of 400 and above are answers, not errors. */
export type GuardedFetch = (url: string, request?: GuardedRequest) => Promise<GuardedResponse>

/** What may follow a redirect to another origin: nothing that identifies the caller. */
const PUBLIC_HEADERS = new Set(["accept", "accept-language", "user-agent"])
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * Makes a fetch that cannot be led to where it must not go: http and https only, public addresses only (in any
 * spelling, after every redirect, and whatever the name server answers next), no credentials across origins, bounded in
 * size, growth on decompression, time, redirects and rate. Environment variables for proxies are ignored.
 *
 * @throws NetworkError (from the returned function) for everything that is no HTTP response
 */
export function createGuardedFetch(policy: NetworkPolicy = {}): GuardedFetch {
  const guard: Guard = {
    policy,
    allowed: new Set((policy.allowOrigins ?? []).map((origin) => new URL(origin).origin)),
    limitRate: createRateLimiter(policy.requestsPerMinute ?? 120, policy.now ?? Date.now),
  }
  return async (url, request = {}) => {
    const totalMs = request.limits?.totalMs ?? policy.totalMs ?? 30_000
    const deadline = AbortSignal.timeout(totalMs)
    const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline])
    try {
      return await follow(guard, parseWebUrl(url), request, signal)
    } catch (thrown) {
      if (request.signal?.aborted === true) {
        throw new NetworkError("ABORTED", "The request was cancelled.", { cause: request.signal.reason })
      }
      if (deadline.aborted) {
        throw new NetworkError("TIMEOUT", `The response took longer than ${totalMs} ms.`, { retryable: true })
      }
      throw thrown
    }
  }
}

/** What one fetch keeps between its requests. */
interface Guard {
  readonly policy: NetworkPolicy
  readonly allowed: ReadonlySet<string>
  readonly limitRate: (host: string) => void
}

/** What is sent to one address; header names are in lower case. */
interface Sent {
  method: string
  headers: Record<string, string>
  body?: string
}

async function follow(
  guard: Guard,
  first: URL,
  request: GuardedRequest,
  signal: AbortSignal,
): Promise<GuardedResponse> {
  const maxRedirects = request.limits?.maxRedirects ?? guard.policy.maxRedirects ?? 5
  const redirects: string[] = []
  let url = first
  let sent: Sent = {
    method: request.method ?? "GET",
    headers: lowerCased(request.headers ?? {}),
    ...(request.body === undefined ? {} : { body: request.body }),
  }
  for (;;) {
    guard.limitRate(url.host)
    const response = await exchange(guard, url, { sent, request, signal })
    const location = response.headers.location
    if (!REDIRECTS.has(response.status) || location === undefined) return { ...response, redirects }
    if (redirects.length >= maxRedirects) {
      throw new NetworkError("TOO_MANY_REDIRECTS", `${first.href} redirects more than ${maxRedirects} times.`)
    }
    const next = parseWebUrl(location, url)
    sent = redirected(sent, response.status, url, next)
    redirects.push(next.href)
    url = next
  }
}

/** What is sent to where a redirect leads. @throws NetworkError where a body would go to another origin */
function redirected({ method, headers, body }: Sent, status: number, from: URL, to: URL): Sent {
  const becomesGet = status === 303 || (method === "POST" && status < 303)
  const kept = becomesGet ? undefined : body
  if (to.origin !== from.origin && kept !== undefined) {
    const why = `${from.host} redirects a request with a body to ${to.host}; it is not sent there.`
    throw new NetworkError("REDIRECT_REFUSED", why)
  }
  const mayGo = (name: string): boolean =>
    !(becomesGet && name === "content-type") && (to.origin === from.origin || PUBLIC_HEADERS.has(name))
  return {
    method: becomesGet && method !== "HEAD" ? "GET" : method,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => mayGo(name))),
    ...(kept === undefined ? {} : { body: kept }),
  }
}

interface Exchange {
  sent: Sent
  request: GuardedRequest
  signal: AbortSignal
}

async function exchange(guard: Guard, url: URL, { sent, request, signal }: Exchange): Promise<GuardedResponse> {
  const { policy, allowed } = guard
  const socket = await connectTo(url, {
    anyAddress: allowed.has(url.origin),
    lookup: policy.lookup ?? systemLookup,
    dial: policy.dial ?? systemDial,
    ca: policy.ca,
    connectMs: policy.connectMs ?? 10_000,
    signal,
  })
  const stop = () => socket.destroy()
  signal.addEventListener("abort", stop, { once: true })
  try {
    const sending = send(socket, url, { ...sent, headers: headersFor(url, sent.headers, policy.userAgent) })
    const response = await within(sending, policy.headersMs ?? 15_000, signal, `The answer of ${url.host}`)
    const status = response.statusCode ?? 0
    const headers = flatten(response)
    const isBodiless = sent.method === "HEAD" || status === 204 || status === 304
    const leadsOn = REDIRECTS.has(status) && headers.location !== undefined
    const limits = {
      maxBytes: request.limits?.maxBytes ?? policy.maxBytes ?? 5 * 1024 * 1024,
      maxRatio: policy.maxRatio ?? 200,
    }
    const body = isBodiless || leadsOn ? new Uint8Array() : await bodyOf(response, headers, limits)
    return { url: url.href, status, headers, redirects: [], body }
  } finally {
    signal.removeEventListener("abort", stop)
    socket.destroy()
  }
}

function headersFor(url: URL, own: Record<string, string>, userAgent = "toolwright/0.1 (+tool runtime)") {
  return {
    "user-agent": userAgent,
    accept: "*/*",
    ...own,
    host: url.host,
    "accept-encoding": "gzip, br, deflate",
    connection: "close",
  }
}

async function bodyOf(
  response: IncomingMessage,
  headers: Readonly<Record<string, string>>,
  limits: { maxBytes: number; maxRatio: number },
): Promise<Uint8Array> {
  const { maxBytes } = limits
  if (Number(headers["content-length"]) > maxBytes) {
    const why = `The response announces ${headers["content-length"]} bytes; ${maxBytes} are allowed.`
    throw new NetworkError("RESPONSE_TOO_LARGE", why, { details: { maxBytes } })
  }
  return decodeBody(wireBytes(response), headers["content-encoding"], limits)
}

function send(socket: Socket, url: URL, { method, headers, body }: Sent): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    // Not imported: as a module it brings all of `fetch` with it, a quarter of what a start of the command costs.
    const request = process.getBuiltinModule("node:http").request({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: body === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(body)) },
      setHost: false,
    })
    const broken = (cause?: unknown) =>
      fail(
        new NetworkError(
          "CONNECTION_FAILED",
          `${url.host} gave no valid HTTP answer${cause === undefined ? "" : ` (${messageOf(cause)})`}.`,
          {
            cause,
            retryable: true,
          },
        ),
      )
    request.once("response", done)
    request.once("error", broken)
    request.once("close", () => broken())
    request.end(body)
  })
}

/** The body's bytes; a body that ends before it is whole is an error, never a short success. */
async function* wireBytes(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) yield chunk as Buffer
  } catch (thrown) {
    throw new NetworkError("RESPONSE_CUT_OFF", "The server closed the connection in the middle of its answer.", {
      cause: thrown,
      retryable: true,
    })
  }
}

function flatten(response: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value
  }
  return flat
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
