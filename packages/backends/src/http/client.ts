import type { Agent, IncomingMessage } from "node:http"
import { createBrotliDecompress, createUnzip } from "node:zlib"
import type { Readable } from "node:stream"
import { requestsAreWatched } from "@toolwright/toolbox"
import type { Watchdog } from "./watchdog.ts"

/** A request that is sent with a body. */
export interface Sending {
  headers: Readonly<Record<string, string>>
  body: string
}

/** A response whose head has come. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  /** The next bytes, as many as have come; nothing at the end. A promise only where they have to be waited for. */
  read(): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Nothing more of it is wanted. */
  leave(): void
}

/** Sends one request and waits for the head of its response. Whoever ends the watchdog ends both. */
export type Client = (url: string, sending: Sending, watchdog: Watchdog) => Promise<Answered>

const ownFetch = globalThis.fetch

/** Not imported: as a module it brings all of `fetch` with it, a quarter of what a start of the command costs. */
const http = () => process.getBuiltinModule("node:http")

/**
 * How requests to an address are sent: by the `fetch` that is given or that somebody has put in place of Node's, since
 * they mean to see them; else by Node's client where it does, and by `fetch` for TLS, through proxies, and where
 * something watches it.
 */
export function clientFor(url: string, given: typeof fetch | undefined): Client {
  const fetcher = given ?? globalThis.fetch
  const byFetch = fetchClient(fetcher)
  if (fetcher !== ownFetch || !url.startsWith("http:") || "NODE_USE_ENV_PROXY" in process.env) return byFetch
  const plain = plainClient()
  return (...asked) => (requestsAreWatched() ? byFetch : plain)(...asked)
}

/** A client that sends by `fetch`. */
function fetchClient(fetcher: typeof fetch): Client {
  return async (url, sending, { signal }) => {
    const response = await fetcher(url, { method: "POST", ...sending, redirect: "manual", signal })
    const reader = response.body?.getReader()
    return {
      status: response.status,
      headers: response.headers,
      read: () => reader?.read().then(({ value }) => value),
      leave: () => void reader?.cancel().catch(() => {}),
    }
  }
}

/**
 * Milliseconds for which a connection is kept for the next request, as `fetch` keeps it: less than servers keep it, so
 * that no request meets one that is just being closed.
 */
const IDLE_MS = 4000

/**
 * A client for `http:` addresses, where models of one's own are: it costs a third of what `fetch` does, which counts
 * where somebody passes on the words of many models at once.
 */
function plainClient(): Client {
  const agent = new (http().Agent)({ keepAlive: true, timeout: IDLE_MS })
  return (url, sending, watchdog) => exchange(url, sending, { watchdog, agent })
}

function exchange(
  url: string,
  { headers, body }: Sending,
  { watchdog, agent }: { watchdog: Watchdog; agent: Agent },
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sized = { ...headers, "content-length": Buffer.byteLength(body) }
    const request = http().request(url, { method: "POST", agent, headers: sized }, (message) => {
      resolve(new PlainAnswer(message))
    })
    request.on("error", reject)
    watchdog.onAbort = () => void request.destroy(new Error("the request was given up"))
    request.end(body)
  })
}

/** A response as Node reads it: pulled, so that a server is not read faster than its words are taken. */
class PlainAnswer implements Answered {
  readonly status: number
  readonly #message: IncomingMessage
  readonly #bytes: Readable
  #ended = false
  #failed: unknown
  #wake: (() => void) | undefined

  constructor(message: IncomingMessage) {
    this.status = message.statusCode ?? 0
    this.#message = message
    const wake = (): void => this.#wake?.()
    const fail = (cause: unknown): void => {
      this.#failed ??= cause
      wake()
    }
    message.on("error", fail)
    this.#bytes = decoded(message, fail)
    this.#bytes.on("readable", wake)
    this.#bytes.on("end", () => {
      this.#ended = true
      wake()
    })
    this.#bytes.on("close", () => {
      if (!this.#ended) fail(new Error("the server closed the connection"))
    })
  }

  get headers(): Headers {
    const pairs = Object.entries(this.#message.headersDistinct)
    return new Headers(pairs.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])))
  }

  read(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const piece = this.#bytes.read() as Buffer | null
    if (piece !== null) return piece
    return this.#ended ? undefined : this.#waited()
  }

  #waited(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const piece = this.#bytes.read() as Buffer | null
        if (piece === null && !this.#ended && this.#failed === undefined) return
        this.#wake = undefined
        if (piece !== null) resolve(piece)
        else if (this.#ended) resolve(undefined)
        else reject(this.#failed as Error)
      }
      this.#wake = look
      if (this.#failed !== undefined) look()
    })
  }

  leave(): void {
    this.#message.destroy()
  }
}

/** The bytes of a response whose server packs them, though nobody asked for that. */
function decoded(message: IncomingMessage, fail: (cause: unknown) => void): Readable {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
  if (encoding === "br") return message.pipe(createBrotliDecompress()).on("error", fail)
  if (/^(x-)?gzip$|^deflate$/.test(encoding)) return message.pipe(createUnzip()).on("error", fail)
  return message
}
