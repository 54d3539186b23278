import { PassThrough, type Readable, type Writable } from "node:stream"
import { messageOf } from "@toolwright/toolbox"
import { isObject } from "./result.ts"
import type { AnswerCall, CallParams } from "./server.ts"

/** A longer request is left to the protocol's library, which has bounds of its own. */
const LONGEST_LINE = 256 * 1024

/** What a request must hold and may hold to be answered here; one with anything else is the library's. */
const REQUEST_KEYS = new Set(["jsonrpc", "id", "method", "params"])
const PARAM_KEYS = new Set(["name", "arguments", "_meta"])
const NEWLINE = 10

type RequestId = string | number

interface CallRequest {
  id: RequestId
  params: CallParams
}

/** What answers calls of a host, once it has been greeted. */
export interface Greeted {
  answer: AnswerCall
  log: (level: "info", data: unknown, logger: string) => Promise<void>
}

/**
 * Stands between a host and the protocol's library, and answers plain calls of tools by itself, as the library would:
 * it checks every message against the whole protocol, which takes longer than the call does. Everything else passes
 * through, byte for byte and in its order, as do calls before the host was greeted.
 */
export class DirectCalls {
  /** What the library reads. */
  readonly rest = new PassThrough()
  readonly #input: Readable
  readonly #output: Writable
  readonly #running = new Map<RequestId, AbortController>()
  #greeted: Greeted | undefined
  #pieces: Buffer[] = []
  #size = 0
  /** The line that is being read is the library's. */
  #passing = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
    input.on("data", this.#take)
    for (const end of ["error", "end", "close"]) input.once(end, () => this.#over())
  }

  /** From now on plain calls are answered here. */
  greet(greeted: Greeted): void {
    this.#greeted = greeted
  }

  /** Reads no more: the connection is closed. */
  close(): void {
    this.#input.off("data", this.#take)
    if (this.#input.listenerCount("data") === 0) this.#input.pause()
    this.#over()
  }

  readonly #take = (piece: Buffer): void => {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      this.#line(piece.subarray(start, end + 1))
      start = end + 1
    }
    if (start < piece.length) this.#part(piece.subarray(start))
  }

  /** The end of a line. */
  #line(last: Buffer): void {
    const line = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    this.#size = 0
    if (this.#passing || !this.#isAnswered(line)) this.rest.write(line)
    this.#passing = false
  }

  /** What came of a line whose end did not: kept, until it is too long to be answered here. */
  #part(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#size += piece.length
    if (!this.#passing && this.#size <= LONGEST_LINE) return
    for (const each of this.#pieces) this.rest.write(each)
    this.#pieces = []
    this.#passing = true
  }

  #isAnswered(line: Buffer): boolean {
    const greeted = this.#greeted
    if (greeted === undefined || line.length > LONGEST_LINE) return false
    let message: unknown
    try {
      message = JSON.parse(line.toString("utf8"))
    } catch {
      return false
    }
    if (!isObject(message)) return false
    if (message.method === "notifications/cancelled") return this.#cancelled(message.params)
    if (!isPlainCall(message) || this.#running.has(message.id)) return false
    void this.#carryOut(message, greeted)
    return true
  }

  #cancelled(params: unknown): boolean {
    const running = isObject(params) ? this.#running.get(params.requestId as RequestId) : undefined
    running?.abort((params as { reason?: unknown }).reason)
    return running !== undefined
  }

  async #carryOut({ id, params }: CallRequest, { answer, log }: Greeted): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    this.#running.set(id, controller)
    let told: { result: unknown } | { error: { code: number; message: string } }
    try {
      const notify = async (notification: object): Promise<void> => {
        if (!signal.aborted) this.#send({ ...notification, jsonrpc: "2.0" })
      }
      const result = await answer(params, { signal, notify, log })
      told = { result }
    } catch (thrown) {
      told = { error: { code: INTERNAL_ERROR, message: messageOf(thrown) } }
    }
    this.#running.delete(id)
    // Whoever broke a call off is told nothing more of it.
    if (!signal.aborted) this.#answer(told, id)
  }

  #answer(told: object, id: RequestId): void {
    try {
      this.#send({ ...told, jsonrpc: "2.0", id })
    } catch {
      this.#send({ error: { code: INTERNAL_ERROR, message: "Internal error" }, jsonrpc: "2.0", id })
    }
  }

  #send(message: object): void {
    const text = JSON.stringify(message)
    if (this.#output.writable) this.#output.write(`${text}\n`)
  }

  /** Calls of a host that has gone are broken off. */
  #over(): void {
    this.#greeted = undefined
    for (const controller of this.#running.values()) controller.abort()
    this.rest.end()
  }
}

const INTERNAL_ERROR = -32603

/** Whether it is a call of a tool, and nothing but that. */
function isPlainCall(message: Record<string, unknown>): message is Record<string, unknown> & CallRequest {
  const { jsonrpc, id, method, params } = message
  return (
    method === "tools/call" &&
    jsonrpc === "2.0" &&
    (typeof id === "string" || Number.isSafeInteger(id)) &&
    onlyHas(message, REQUEST_KEYS) &&
    isObject(params) &&
    onlyHas(params, PARAM_KEYS) &&
    typeof params.name === "string" &&
    (params.arguments === undefined || isObject(params.arguments)) &&
    (params._meta === undefined || isPlainMeta(params._meta))
  )
}

/** A token of progress, and keys of ours or of other parties that are no part of the protocol. */
function isPlainMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false
  const { progressToken: token } = meta
  const hasToken = token === undefined || typeof token === "string" || Number.isSafeInteger(token)
  return hasToken && Object.keys(meta).every((key) => key === "progressToken" || !RESERVED.test(key))
}

/** Names that the protocol keeps for itself. */
const RESERVED = /^[^/]*\b(?:modelcontextprotocol|mcp)\b[^/]*\//

function onlyHas(value: Record<string, unknown>, keys: ReadonlySet<string>): boolean {
  for (const key in value) if (!keys.has(key)) return false
  return true
}
