import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { BaseMCPClient, type McpClientOptions } from "./client.ts"
import { boundedFetch } from "./bounded-fetch.ts"
import { hearChanges } from "./heard-changes.ts"
import { newClient } from "./new-client.ts"
import { endUnanswered, noticeEnd, refuseUnanswered } from "./unanswered.ts"

/** The two ways in which servers answer over HTTP. */
export type HttpTransport = "http" | "sse"

/** Where an MCP server answers over HTTP. */
export interface HttpMCPClientOptions extends McpClientOptions {
  url: string
  /** `sse` is the transport of before 2025-03-26; both are tried unless one is given. */
  transport?: HttpTransport
  /** Sent with every request, such as an authorization. */
  headers?: Readonly<Record<string, string>>
}

/** Longest message of a server, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024

/** Statuses by which a server says that nothing is posted at this address: the older transport answers to GET there. */
const NO_POST = /\b(400|404|405)\b/

/** A client of an MCP server over streamable HTTP, of either protocol era, or over the SSE of before. */
export class HttpMCPClient extends BaseMCPClient {
  private constructor(options: HttpMCPClientOptions, url: URL) {
    const timeout = options.connectTimeoutMs ?? 15_000
    super(options, (prepare) => async () => {
      const one = async (kind: HttpTransport) => {
        const client = await newClient(kind === "sse" ? "legacy" : "auto")
        const transport = await transportFor(kind, url, options.headers, (reason) => {
          if (client.transport === undefined) return
          options.log?.(`Left '${options.name}', which is reached anew when it is needed: ${reason.message}`)
          void client.close().catch(() => {})
        })
        prepare(client)
        await client.connect(transport, { timeout })
        void hearChanges(client, () => this.changed())
        return { client, transport }
      }
      const { transport: wanted } = options
      try {
        return await one(wanted ?? "http")
      } catch (cause) {
        const older = wanted === undefined && isNoPost(cause) ? await one("sse").catch(() => undefined) : undefined
        if (older !== undefined) return older
        throw new Error(`${url.href} does not answer as an MCP server (${messageOf(cause)})`, { cause })
      }
    })
  }

  /**
   * Connects to a server and converts its tools.
   *
   * @throws ToolwrightError `SOURCE_UNAVAILABLE` naming the address, `INVALID_MCP_TOOL`, `INVALID_CONFIGURATION`
   */
  static create(options: HttpMCPClientOptions): Promise<HttpMCPClient> {
    const url = URL.parse(options.url)
    if (url === null || !/^https?:$/.test(url.protocol)) {
      return Promise.reject(
        new ToolwrightError("INVALID_CONFIGURATION", `'${options.url}' is no address of an MCP server.`, {
          hint: "It looks like http://localhost:8005/mcp.",
        }),
      )
    }
    return new HttpMCPClient(options, url).start()
  }
}

async function transportFor(
  kind: HttpTransport,
  url: URL,
  headers: Readonly<Record<string, string>> = {},
  onBroken: (reason: Error) => void,
) {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const bounded = boundedFetch(MOST_BYTES, onBroken)
  const requestInit = { headers: { ...headers } }
  // The older transport's answers all come in one stream, and a session ends with it.
  if (kind === "sse") return new SSEClientTransport(url, { requestInit, fetch: noticeEnd(bounded, onBroken) })
  const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch: refuseUnanswered(bounded) })
  endUnanswered(transport)
  return transport
}

/** Whether a failure says that the address takes no posts. */
function isNoPost(thrown: unknown): boolean {
  const { status } = (thrown ?? {}) as { status?: unknown }
  return typeof status === "number" ? NO_POST.test(String(status)) : NO_POST.test(messageOf(thrown))
}
