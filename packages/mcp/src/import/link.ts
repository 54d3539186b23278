import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { Client, Transport } from "@modelcontextprotocol/client"

/** A connection to a server; over a `direct` one calls may go as they are, without the protocol's library. */
export interface Opened {
  client: Client
  transport: Transport
  direct?: boolean
}

/** A way to reach a server anew. */
export type OpenLink = () => Promise<Opened>

/** Milliseconds to wait before the next attempt, by how many have failed in a row. */
const BACK_OFF_MS = [0, 500, 2000, 5000, 15_000, 60_000]

/**
 * A connection that may break and be made again. While the server is down, users of the link are told at once; a new
 * attempt is made when somebody needs it and the waiting time since the last one is over.
 */
export class Link {
  readonly #open: OpenLink
  readonly #name: string
  readonly #now: () => number
  #current: { client: Client; transport: Transport } | undefined
  #opening: Promise<Client> | undefined
  #failures = 0
  #failedAt = 0
  #reason = ""
  #closed = false

  constructor(name: string, open: OpenLink, now: () => number = () => performance.now()) {
    this.#name = name
    this.#open = open
    this.#now = now
  }

  /** @throws ToolwrightError `SOURCE_UNAVAILABLE` */
  client(): Promise<Client> {
    if (this.#closed) return Promise.reject(this.#down("it was closed"))
    if (this.#current !== undefined) return Promise.resolve(this.#current.client)
    const wait = BACK_OFF_MS[Math.min(this.#failures, BACK_OFF_MS.length - 1)]!
    const left = this.#failedAt + wait - this.#now()
    if (this.#failures > 0 && left > 0) {
      return Promise.reject(
        this.#down(`${this.#reason}; the next attempt is made in ${Math.ceil(left / 1000)} s at the earliest`),
      )
    }
    return (this.#opening ??= this.#connect())
  }

  get isOpen(): boolean {
    return this.#current !== undefined
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.drop()
  }

  /**
   * Gives the connection up, as one that has broken; the next user makes it anew. `inUse` lets calls that still run on
   * it end.
   */
  async drop(inUse = false): Promise<void> {
    const current = this.#current
    this.#current = undefined
    if (!inUse) await current?.client.close().catch(() => {})
  }

  /** The error for a call during which the link broke: it may have taken effect, so it is not made again. */
  brokenDuring(what: string, cause?: unknown): ToolwrightError {
    const refused = (cause as { cause?: { code?: string } } | undefined)?.cause?.code === "ECONNREFUSED"
    if (refused) return this.#down("nothing listens at its address", cause)
    return new ToolwrightError(
      "SOURCE_UNAVAILABLE",
      `The MCP server '${this.#name}' went away during ${what}; it may or may not have taken effect.`,
      {
        hint: "Check whether it did before you repeat it. The next call connects anew.",
      },
    )
  }

  async #connect(): Promise<Client> {
    try {
      const opened = await this.#open()
      if (this.#closed) {
        await opened.client.close().catch(() => {})
        throw new Error("it was closed")
      }
      this.#current = opened
      this.#failures = 0
      opened.client.onclose = () => this.#broke(opened.client)
      return opened.client
    } catch (thrown) {
      this.#failures++
      this.#failedAt = this.#now()
      this.#reason = messageOf(thrown)
      throw this.#down(this.#reason, thrown)
    } finally {
      this.#opening = undefined
    }
  }

  /** The first attempt after a break is made at once, the following ones after a pause. */
  #broke(client: Client): void {
    if (this.#current?.client === client) this.#current = undefined
  }

  #down(reason: string, cause?: unknown): ToolwrightError {
    return new ToolwrightError("SOURCE_UNAVAILABLE", `The MCP server '${this.#name}' is not available: ${reason}.`, {
      cause,
    })
  }
}
