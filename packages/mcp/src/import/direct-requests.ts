import type { Transport } from "@modelcontextprotocol/client"
import type { McpResult } from "./convert.ts"

/** What is sent of a call. */
export interface CallToSend {
  name: string
  arguments: Record<string, unknown>
  _meta?: Record<string, unknown>
}

/** A step of a call, as the server tells it. */
export interface ProgressTold {
  progress: number
  total?: number
  message?: string
}

/** Whom a call belongs to. */
export interface CallOwner {
  signal: AbortSignal
  onprogress(step: ProgressTold): void
}

interface Waiting {
  readonly owner: CallOwner
  settle(): void
  resolve(result: McpResult): void
  reject(reason: Error): void
}

/** The library counts its requests from 0; ours are told apart by where they begin. */
const FIRST_ID = 1_000_000_000

/**
 * Calls of tools over a connection that the protocol's library has made, without it: the library checks each message
 * against the whole protocol, which takes longer than the call, and what servers answer is read field by field
 * anyway. For servers of the handshake, where a request is nothing but its method and parameters.
 */
export class DirectRequests {
  readonly #transport: Transport
  readonly #waiting = new Map<unknown, Waiting>()
  #next = FIRST_ID
  #isClosed = false

  /** Stands between the transport and the library from now on. */
  constructor(transport: Transport) {
    this.#transport = transport
    const { onmessage, onclose } = transport
    transport.onmessage = (message, extra) => {
      if (!this.#takes(message)) onmessage?.(message, extra)
    }
    transport.onclose = () => {
      this.#close()
      onclose?.()
    }
  }

  /** @throws Error with the server's words where it answers with an error; ConnectionLost */
  call(params: CallToSend, owner: CallOwner): Promise<McpResult> {
    const { signal } = owner
    if (signal.aborted) return Promise.reject(new Error(String(signal.reason)))
    if (this.#isClosed) return Promise.reject(closed())
    const id = this.#next++
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const cancelled = { requestId: id, reason: String(signal.reason) }
        this.#transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled }).catch(() => {})
        waiting.settle()
        reject(new Error(String(signal.reason)))
      }
      const waiting: Waiting = {
        owner,
        settle: () => {
          this.#waiting.delete(id)
          signal.removeEventListener("abort", onAbort)
        },
        resolve,
        reject,
      }
      this.#waiting.set(id, waiting)
      signal.addEventListener("abort", onAbort)
      const { _meta: meta, ...rest } = params
      const sent = { ...rest, _meta: meta === undefined ? { progressToken: id } : { ...meta, progressToken: id } }
      this.#transport.send({ method: "tools/call", params: sent, jsonrpc: "2.0", id }).catch((cause: unknown) => {
        waiting.settle()
        reject(new ConnectionLost(String((cause as Error).message), { cause }))
      })
    })
  }

  /** Whether a message was for a call here; what is no answer of any kind is left to the library to complain of. */
  #takes(message: object): boolean {
    const { id, method, params, result, error } = message as Record<string, unknown>
    if (method !== undefined) return method === "notifications/progress" && this.#progress(params)
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return false
    if (isMapping(result)) {
      waiting.settle()
      waiting.resolve(result as McpResult)
      return true
    }
    if (!isMapping(error) || typeof error.message !== "string") return false
    waiting.settle()
    waiting.reject(Object.assign(new Error(error.message), { code: error.code }))
    return true
  }

  #progress(params: unknown): boolean {
    if (!isMapping(params)) return false
    const { progressToken, progress, total, message } = params
    const waiting = this.#waiting.get(progressToken)
    if (waiting === undefined || typeof progress !== "number") return waiting !== undefined
    waiting.owner.onprogress({
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    })
    return true
  }

  #close(): void {
    this.#isClosed = true
    for (const waiting of this.#waiting.values()) {
      waiting.settle()
      waiting.reject(closed())
    }
  }
}

/** Why a call came to nothing that was under way, or could not be sent. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost"
}

function closed(): ConnectionLost {
  return new ConnectionLost("Connection closed")
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
