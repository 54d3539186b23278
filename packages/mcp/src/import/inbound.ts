import type { Transport } from "@modelcontextprotocol/client"

/** Messages of its own accord that a server may send in a second; what is told beyond is passed over. */
const MOST_PER_SECOND = 200

/** What becomes of what a server sends of its own accord. */
export interface InboundHandlers {
  /** The tools have changed. Called as often as the server says so. */
  onListChanged(): void
  /** The server asks more than can be answered; its connection has been closed. */
  onFlood(): void
}

/**
 * Stands between a server and the protocol: answers to what it was asked pass, what it says of its own accord only so
 * many times a second. Notices of progress beyond that are dropped; a server that asks for more than that is closed.
 */
export function guardInbound(transport: Transport, handlers: InboundHandlers): void {
  const pass = transport.onmessage
  let second = 0
  let taken = 0
  let over = false
  transport.onmessage = (message, extra) => {
    if (over) return undefined
    if (!("method" in message)) return pass?.(message, extra)
    if (message.method === "notifications/tools/list_changed") return handlers.onListChanged()
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) taken = 0
    second = now
    if (++taken <= MOST_PER_SECOND) return pass?.(message, extra)
    if ("id" in message) {
      over = true
      handlers.onFlood()
      void transport.close()
    }
    return undefined
  }
}
