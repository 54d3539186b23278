import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from "@modelcontextprotocol/server"
import { messageOf } from "@toolwright/toolbox"
import { INTERNAL_ERROR, isPlainCall, onlyHas, type PlainCall } from "./plain-call.ts"
import { isObject } from "./result.ts"
import { SERVER_INFO, type AnswerCall } from "./server.ts"

/** The version whose calls are answered here. */
const VERSION = "2026-07-28"

/** The headers of a call of that version, but for the one that names its tool. */
const HEADERS = [
  ["content-type", "application/json"],
  ["mcp-protocol-version", VERSION],
  ["mcp-method", "tools/call"],
] as const

/** What a host says of itself with each request: its version, its name, and what it can do. */
const SAID: Readonly<Record<string, (value: unknown) => boolean>> = {
  [PROTOCOL_VERSION_META_KEY]: (value) => value === VERSION,
  [CLIENT_INFO_META_KEY]: isName,
  [CLIENT_CAPABILITIES_META_KEY]: isPlainCapabilities,
}
/** The status of a request whose sender has gone, as the library has it. */
const CLIENT_GONE = 499
const NAME_KEYS = new Set(["name", "version"])
const CAPABILITY_KEYS = new Set(["elicitation", "sampling", "roots"])

/**
 * Answers plain calls of tools in the newer version of the protocol, as the protocol's library would: that makes a
 * server for each request and checks every message against the whole protocol, which takes longer than the call does.
 */
export class DirectHttp {
  readonly #running = new Set<DirectCall>()
  #isClosed = false

  /** @returns nothing where the request is anything but a plain call, and so the library's */
  answer(request: Request, body: unknown, answer: () => AnswerCall): Promise<Response> | undefined {
    if (this.#isClosed || request.method !== "POST") return undefined
    if (!isObject(body) || !isModernCall(body, request.headers)) return undefined
    const call = new DirectCall(answer(), () => this.#running.delete(call))
    this.#running.add(call)
    return call.serve(request, body)
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#running, (call) => call.close()))
  }
}

function isModernCall(body: Record<string, unknown>, headers: Headers): body is Record<string, unknown> & PlainCall {
  if (!isPlainCall(body, (name) => Object.hasOwn(SAID, name))) return false
  const { name, _meta: meta } = body.params
  return (
    meta !== undefined &&
    Object.entries(SAID).every(([key, isPlain]) => isPlain(meta[key])) &&
    HEADERS.every(([key, value]) => headers.get(key) === value) &&
    headers.get("mcp-name") === name
  )
}

function isName(value: unknown): boolean {
  return (
    isObject(value) && onlyHas(value, NAME_KEYS) && typeof value.name === "string" && typeof value.version === "string"
  )
}

function isPlainCapabilities(value: unknown): boolean {
  return (
    isObject(value) &&
    onlyHas(value, CAPABILITY_KEYS) &&
    Object.values(value).every((one) => isObject(one) && Object.keys(one).length === 0)
  )
}

/** One call, and the answer to its request: JSON, or a stream once there is something to tell before the result. */
class DirectCall {
  readonly #answer: AnswerCall
  readonly #onOver: () => void
  readonly #transport = new PerRequestHTTPServerTransport({ classification: { era: "modern", revision: VERSION } })
  readonly #gone = new AbortController()

  constructor(answer: AnswerCall, onOver: () => void) {
    this.#answer = answer
    this.#onOver = onOver
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  async serve(request: Request, call: PlainCall): Promise<Response> {
    const transport = this.#transport
    transport.onmessage = () => void this.#carryOut(call)
    transport.onclose = () => {
      this.#gone.abort()
      this.#onOver()
    }
    await transport.start()
    // What fails here is that nobody waits for the answer any more.
    return transport
      .handleMessage({ ...call } as unknown as JSONRPCRequest, { request })
      .catch(() => new Response(null, { status: CLIENT_GONE }))
  }

  async #carryOut({ id, params }: PlainCall): Promise<void> {
    const send = (message: object): Promise<void> =>
      this.#transport.send({ ...message, jsonrpc: "2.0" } as JSONRPCMessage, { relatedRequestId: id })
    try {
      const connection = { signal: this.#gone.signal, notify: send, log: async () => {} }
      const result = await this.#answer(params, connection)
      await send({ result: { ...result, resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: SERVER_INFO } }, id })
    } catch (thrown) {
      await send({ error: { code: INTERNAL_ERROR, message: messageOf(thrown) }, id })
    } finally {
      await this.close()
    }
  }
}
