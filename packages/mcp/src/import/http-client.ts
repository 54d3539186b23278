import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { BaseMCPClient, type McpClientOptions } from "./client.ts"
import { boundedFetch } from "./bounded-fetch.ts"
import { newClient } from "./new-client.ts"

/** Where an MCP server answers over HTTP. */
export interface HttpMCPClientOptions extends McpClientOptions {
  url: string
  /** Sent with every request, such as an authorization. */
  headers?: Readonly<Record<string, string>>
}

/** Longest message of a server, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024

/** A client of an MCP server over streamable HTTP, of either protocol era. */
export class HttpMCPClient extends BaseMCPClient {
  private constructor(options: HttpMCPClientOptions, url: URL) {
    super(options, (prepare) => async () => {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
      const transport = new StreamableHTTPClientTransport(url, {
        requestInit: { headers: { ...options.headers } },
        fetch: boundedFetch(MOST_BYTES),
      })
      const client = await newClient("auto")
      prepare(client)
      await client.connect(transport, { timeout: options.connectTimeoutMs ?? 15_000 }).catch((cause: unknown) => {
        throw new Error(`${url.href} does not answer as an MCP server (${messageOf(cause)})`, { cause })
      })
      return { client, transport }
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
