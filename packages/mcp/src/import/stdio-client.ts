import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { BaseMCPClient, type McpClientOptions } from "./client.ts"
import { newClient } from "./new-client.ts"
import { ProcessTransport } from "./process-transport.ts"

/** How an MCP server is started. */
export interface StdioMCPClientOptions extends McpClientOptions {
  command: string
  args?: readonly string[]
  /** Variables beside the few that are passed on from this process. */
  env?: Readonly<Record<string, string>>
  cwd?: string
}

/** Longest message of a server, in bytes: a result of some megabytes is no reason to lose the connection. */
const MOST_BYTES = 64 * 1024 * 1024

/** A client of an MCP server that it starts itself and talks to over its standard input and output. */
export class StdioMCPClient extends BaseMCPClient {
  private constructor(options: StdioMCPClientOptions) {
    super(options, (prepare) => async () => {
      const [{ getDefaultEnvironment }, client] = await Promise.all([
        import("@modelcontextprotocol/client/stdio"),
        newClient("legacy"),
      ])
      const transport = new ProcessTransport({
        command: options.command,
        args: [...(options.args ?? [])],
        env: { ...getDefaultEnvironment(), ...options.env },
        maxBytes: MOST_BYTES,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      })
      prepare(client)
      try {
        await client.connect(transport, { timeout: options.connectTimeoutMs ?? 15_000 })
      } catch (cause) {
        await transport.close().catch(() => {})
        const last = transport.said.trim().split("\n").slice(-3).join(" ")
        throw new Error(
          `'${[options.command, ...(options.args ?? [])].join(" ")}' does not answer as an MCP server ` +
            `(${messageOf(cause)})${last === "" ? "" : `; it said: ${last}`}`,
          { cause },
        )
      }
      return { client, transport, direct: true }
    })
  }

  /**
   * Starts a server, connects to it, and converts its tools.
   *
   * @throws ToolwrightError `SOURCE_UNAVAILABLE` with what the server said on its error output, `INVALID_MCP_TOOL`
   */
  static create(options: StdioMCPClientOptions): Promise<StdioMCPClient> {
    if (options.command.trim() === "")
      return Promise.reject(
        new ToolwrightError("INVALID_CONFIGURATION", `The MCP server '${options.name}' has no command.`),
      )
    return new StdioMCPClient(options).start()
  }
}
